import { Budget } from './budget.ts'
import { crc32c, maskedCrc } from './crc32c.ts'
import { SnappyStream } from './snappy.ts'
import { findContentsEnd, keyTrailerBytes, TableEntries, uint32At } from './table-entries.ts'
import { readVarint } from './varint.ts'

/*
 * A table of LevelDB is a row of blocks: first those with its rows, at last one that says where they begin, and a footer
 * that says where that one is. Each block says itself where it ends, and has a checksum: so the blocks can be found
 * without those two, whatever else is damaged. After a block that is damaged, the next sound one is looked for byte by
 * byte. What a hostile file can cost is bounded by a budget, which grows with each byte that is left behind.
 */

/** A row that was read out of a file of LevelDB. */
export interface FileRow {
  readonly key: Uint8Array
  /** A view of the file, or of a part of it. */
  readonly value: Uint8Array
  /** Whether the checksums of its part of the file fit: else key and value may be anything. */
  readonly sound: boolean
}

// the largest block of hstore has 4 MiB; others that are small may stand before it
const maxBlockBytes = 5 * 1024 * 1024
const tailBytes = 5
const plain = 0
const snappy = 1
const valueType = 1
const firstUnits = 256 * 1024 * 1024
const unitsPerByte = 24
const unitsPerRow = 128

/**
 * Yields the rows that can be read out of a LevelDB table, whatever is damaged in it: those of all blocks whose checksum
 * fits, and of others what comes before the damage. Deletions are left out, though not what they deleted; a key may come
 * more than once, as in a sound table, the latest row first. Never throws.
 *
 * @param bytes - Of the file; not to be changed while the rows are in use.
 * @see https://github.com/google/leveldb/blob/main/doc/table_format.md
 */
export function* readTableRows(bytes: Uint8Array): Generator<FileRow> {
  const reader = new TableReader(bytes)
  // where a block has to begin, sound or not
  let expected = 0
  for (let at = 0; at < bytes.length;) {
    const end = reader.findEnd(at)
    const sound = end !== undefined && reader.isSound(at, end)
    let next = at + 1
    if (sound || at === expected) {
      const contents = reader.contentsOf(at, end)
      if (end !== undefined && (sound || reader.isWhole(contents))) next = end + tailBytes
      yield* reader.rowsOf(contents, sound)
      if (next > at + 1) expected = next
    }
    reader.leave(next - at)
    at = next
  }
}

class TableReader {
  readonly #bytes: Uint8Array
  readonly #budget = new Budget(firstUnits)
  readonly #entries: TableEntries
  readonly #stream: SnappyStream

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#entries = new TableEntries(bytes, this.#budget)
    this.#stream = new SnappyStream(bytes, maxBlockBytes, this.#budget)
  }

  leave(count: number): void {
    this.#budget.add(count * unitsPerByte)
  }

  /** Returns where the contents of a block at `at` end, by themselves and the type that has to follow. */
  findEnd(at: number): number | undefined {
    const isPlain = this.#isPlain(at)
    const end = isPlain ? this.#findPlainEnd(at) : this.#stream.findEnd(at)
    if (end === undefined || end + tailBytes > this.#bytes.length) return undefined
    return this.#bytes[end] === (isPlain ? plain : snappy) ? end : undefined
  }

  isSound(at: number, end: number): boolean {
    if (!this.#budget.spend(2 * (end - at))) return false
    return maskedCrc(crc32c(this.#bytes, at, end + 1)) === uint32At(this.#bytes, end + 1)
  }

  /** Returns the contents of a block; up to the damage, or with more behind them, where its end is not known. */
  contentsOf(at: number, end: number | undefined): Uint8Array {
    if (!this.#isPlain(at)) return this.#stream.read(at)
    return this.#bytes.subarray(at, end ?? at + maxBlockBytes)
  }

  /** Returns whether contents are what they should be from their first byte to their last, as far as it shows. */
  isWhole(contents: Uint8Array): boolean {
    const entries = this.#entriesOf(contents)
    while (entries.next());
    return findContentsEnd(contents, 0, entries) === contents.length
  }

  *rowsOf(contents: Uint8Array, sound: boolean): Generator<FileRow> {
    if (this.#isIndex(contents)) return
    const entries = this.#entriesOf(contents)
    let whole = new Uint8Array(256)
    while (entries.next()) {
      const { shared, keyLength, keyAt, valueAt } = entries
      if (!this.#budget.spend(unitsPerRow + keyLength)) return
      if (keyLength > whole.length) whole = enlarged(whole, keyLength)
      whole.set(contents.subarray(keyAt, valueAt), shared)
      const length = keyLength - keyTrailerBytes
      if (whole[length] !== valueType) continue
      const value = contents.subarray(valueAt, entries.at)
      yield { key: whole.slice(0, length), value, sound }
    }
  }

  #entriesOf(contents: Uint8Array): TableEntries {
    return new TableEntries(contents, this.#budget).open(0, contents.length)
  }

  /** The first byte of a plain block says that its first key shares nothing; a snappy stream that gives nothing is none. */
  #isPlain(at: number): boolean {
    return this.#bytes[at] === 0
  }

  #findPlainEnd(at: number): number | undefined {
    const limit = Math.min(this.#bytes.length, at + maxBlockBytes)
    const entries = this.#entries.open(at, limit)
    while (entries.next());
    return findContentsEnd(this.#bytes, at, entries)
  }

  /** Whether a block is a table's index, with keys as in the rows: its values say where one block after the other stands. */
  #isIndex(contents: Uint8Array): boolean {
    const entries = this.#entriesOf(contents)
    let expected = 0
    while (entries.next()) {
      const offset = readVarint(contents, entries.valueAt)
      if (typeof offset === 'string' || offset.value !== expected) return false
      const size = readVarint(contents, entries.valueAt + offset.size)
      if (typeof size === 'string') return false
      if (entries.valueAt + offset.size + size.size !== entries.at) return false
      expected = offset.value + size.value + tailBytes
    }
    return expected > 0
  }
}

function enlarged(bytes: Uint8Array, wanted: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(2 * wanted)
  larger.set(bytes)
  return larger
}
