import type { AbstractLevel } from 'abstract-level'
import { hash } from 'node:crypto'
import { asBuffer, asBytes } from '../src/kernel/bytes.ts'
import type { BlockRead, BlockReader, ScannedBlock } from './block-store.ts'
import type { CidText } from './cid-text.ts'
import { digestOf, isCidText } from './cid-text.ts'
import { StoreError } from './errors.ts'
import { blockKey, blockRange, withoutSublevel } from './keyspace.ts'
import { codeOf, storeErrorOf } from './level-errors.ts'
import { unpackBlock } from './packed-block.ts'
import { readAhead } from './read-ahead.ts'

/** A database of abstract-level that takes and gives texts unless told otherwise. */
export type TextLevel = AbstractLevel<string | Buffer | Uint8Array>

const asView = { valueEncoding: 'view' } as const
const batchSize = 256
// LevelDB fills a batch up to this many bytes; its default of 16 KiB would make batches of three blocks.
const batchBytes = 2 * 1024 * 1024

// So few are read at once: the way to another thread and back takes longer, all the more when others wait there.
const fewBlocks = 4

/** Returns whether bytes hash to a CID. A row may hold one in a second spelling: nothing hashes to that. */
export function isSound(cid: CidText, bytes: Uint8Array): boolean {
  if (!isCidText(cid)) return false
  return hash('sha256', bytes, 'hex') === asBuffer(digestOf(cid)).toString('hex')
}

/** Blocks in LevelDB or whatever speaks abstract-level, hashed on each read. */
export class LevelBlockStore implements BlockReader {
  readonly #level: TextLevel
  readonly #place: string
  readonly #findPending: (cid: CidText) => Uint8Array | undefined

  /**
   * @param place - Where the store is, for messages.
   * @param findPending - Gives the bytes of a block that is on its way to disk.
   */
  constructor(
    level: TextLevel,
    place: string,
    findPending: (cid: CidText) => Uint8Array | undefined,
  ) {
    this.#level = level
    this.#place = place
    this.#findPending = findPending
  }

  async find(cid: CidText): Promise<Uint8Array | undefined> {
    return this.findNow(cid)
  }

  // getSync takes a third of the time of get
  findNow(cid: CidText): Uint8Array | undefined {
    const bytes = this.#findPending(cid) ?? this.#read(cid)
    if (bytes === undefined || isSound(cid, bytes)) return bytes
    throw corrupt(cid, this.#place)
  }

  async get(cid: CidText): Promise<Uint8Array> {
    const bytes = await this.find(cid)
    if (bytes !== undefined) return bytes
    throw new StoreError('HSTORE_BLOCK_NOT_FOUND', `${this.#place} holds no block ${cid}`, {
      details: { cid },
    })
  }

  async getMany(cids: readonly CidText[]): Promise<readonly BlockRead[]> {
    const reads: BlockRead[] = []
    for (let at = 0; at < cids.length; at += batchSize) {
      reads.push(...(await this.#readBatch(cids.slice(at, at + batchSize))))
    }
    return reads
  }

  async has(cid: CidText): Promise<boolean> {
    if (this.#findPending(cid) !== undefined) return true
    try {
      return await this.#level.has(blockKey(cid))
    } catch (error) {
      throw storeErrorOf(error, this.#place)
    }
  }

  async *scan(): AsyncGenerator<ScannedBlock> {
    for await (const batch of this.scanBatches()) yield* batch
  }

  async *scanBatches(): AsyncGenerator<readonly ScannedBlock[]> {
    const bounds = { keyEncoding: 'view', highWaterMarkBytes: batchBytes, ...blockRange() } as const
    const iterator = this.#level.iterator<Uint8Array, Uint8Array>({ ...asView, ...bounds })
    try {
      for await (const rows of readAhead(iterator, batchSize)) yield* scannedIn(rows)
    } catch (error) {
      throw storeErrorOf(error, this.#place)
    }
  }

  async #readBatch(cids: readonly CidText[]): Promise<readonly BlockRead[]> {
    const pending = cids.map((cid) => this.#findPending(cid))
    const stored = await this.#readStored(cids)
    return cids.map((cid, i) => readOf(cid, pending[i], stored[i]))
  }

  /** What lies on disk; null where LevelDB itself fails. */
  async #readStored(cids: readonly CidText[]): Promise<readonly (Uint8Array | null | undefined)[]> {
    if (cids.length <= fewBlocks) return cids.map((cid) => this.#readOne(cid))
    try {
      return await this.#level.getMany<string, Uint8Array>(cids.map(blockKey), asView)
    } catch {
      // One bad row fails the whole call, so each is asked for by itself.
      return cids.map((cid) => this.#readOne(cid))
    }
  }

  #readOne(cid: CidText): Uint8Array | null | undefined {
    try {
      return this.#level.getSync<string, Uint8Array>(blockKey(cid), asView)
    } catch {
      return null
    }
  }

  #read(cid: CidText): Uint8Array | undefined {
    let value: Uint8Array | undefined
    try {
      value = this.#level.getSync<string, Uint8Array>(blockKey(cid), asView)
    } catch (error) {
      if (codeOf(error) === 'LEVEL_CORRUPTION') throw corrupt(cid, this.#place, error)
      throw storeErrorOf(error, this.#place)
    }
    if (value === undefined) return undefined
    const bytes = unpackBlock(cid, value)
    if (bytes === undefined) throw corrupt(cid, this.#place)
    return bytes
  }
}

function readOf(
  cid: CidText,
  pending: Uint8Array | undefined,
  stored: Uint8Array | null | undefined,
): BlockRead {
  if (pending === undefined && stored === undefined) return { state: 'missing' }
  const bytes = pending ?? (stored ? unpackBlock(cid, stored) : undefined)
  return bytes !== undefined && isSound(cid, bytes) ? { state: 'ok', bytes } : { state: 'corrupt' }
}

/** In pieces: rows that are packed may hold far more than they take. */
function* scannedIn(
  rows: readonly (readonly [Uint8Array, Uint8Array])[],
): Generator<readonly ScannedBlock[]> {
  let batch: ScannedBlock[] = []
  let sizeBytes = 0
  for (const row of rows) {
    const block = scanned(row)
    batch.push(block)
    sizeBytes += block.bytes.length
    if (sizeBytes < batchBytes) continue
    yield batch
    batch = []
    sizeBytes = 0
  }
  if (batch.length > 0) yield batch
}

function scanned([rawKey, value]: readonly [Uint8Array, Uint8Array]): ScannedBlock {
  const key = withoutSublevel(asBuffer(rawKey).toString())
  const cid = isCidText(key) ? key : undefined
  const bytes = cid === undefined ? undefined : unpackBlock(cid, value)
  const sound = cid !== undefined && bytes !== undefined && isSound(cid, bytes)
  return { key, cid, bytes: bytes ?? asBytes(value), sound }
}

function corrupt(cid: CidText, place: string, cause?: unknown): StoreError {
  const message = `${place}: the bytes of block ${cid} do not hash to it: put its document again; hstore fsck names all that is damaged`
  return new StoreError('HSTORE_BLOCK_CORRUPT', message, { details: { cid }, cause })
}
