import { asBytes } from '../src/kernel/bytes.ts'
import { ByteSource } from './byte-source.ts'
import type { ByteChunks } from './byte-source.ts'
import { CanonicalBlock, HashedBlock } from './block.ts'
import { MAX_BLOCK_BYTES } from './canonical-write.ts'
import { decodeCarHeader } from './car-header.ts'
import { readCid } from './cid-bytes.ts'
import type { CidText } from './cid-text.ts'
import { StoreError } from './errors.ts'
import { MAX_VARINT_BYTES, readVarint } from './varint.ts'

/** Bounds for a CAR. */
export interface CarLimits {
  /** Sections, 100,000 unless said. The reader keeps about 100 bytes for each. */
  readonly maxBlocks?: number
  /** Whether the first section has to be a dag-json block: no other is read. */
  readonly isFirstDagJson?: boolean
}

/** A block of a CAR, its bytes hashed and, where they are dag-json, canonical. */
export interface CarTextBlock {
  readonly cid: CidText
  readonly bytes: Uint8Array
}

/** A CAR that is being read: the roots of its header, then its blocks in the order of the file, each once. */
export interface OpenCar {
  readonly roots: readonly CidText[]
  /**
   * To be read once and to the end: only there it is known that the file is whole and has its roots. Ending early lets
   * the source go.
   *
   * @throws {StoreError} `HSTORE_CAR_INVALID`
   */
  readonly blocks: AsyncIterable<CarTextBlock>
}

/** Bytes that a raw block may have in a CAR. */
export const MAX_RAW_BLOCK_BYTES: number = 4 * 1024 * 1024

const MAX_HEADER_BYTES = 1024 * 1024
const MAX_CID_BYTES = 37
const MAX_BLOCKS = 100_000

/**
 * Opens a CAR of version 1 and reads its header.
 *
 * Memory is bounded by the largest block and the number of blocks. Nothing in it is trusted: lengths are checked before
 * memory is taken, each block is hashed, and there is one way to write a CAR of given roots and blocks.
 *
 * @throws {StoreError} `HSTORE_CAR_INVALID` when the header is refused; `details.offset` in bytes.
 * @see docs/format.md, «Limits»
 */
export async function openCar(source: ByteChunks, limits: CarLimits = {}): Promise<OpenCar> {
  const reader = new CarReader(new ByteSource(source), limits)
  const roots = await reader.header()
  return { roots, blocks: reader.blocks(roots) }
}

class CarReader {
  private readonly source: ByteSource
  private readonly maxBlocks: number
  private readonly isFirstDagJson: boolean
  private readonly seen = new Set<CidText>()
  /** Where the section begins that is being read. */
  private start = 0
  private last: CidText | undefined

  constructor(source: ByteSource, limits: CarLimits) {
    this.source = source
    this.maxBlocks = limits.maxBlocks ?? MAX_BLOCKS
    this.isFirstDagJson = limits.isFirstDagJson ?? false
  }

  async header(): Promise<readonly CidText[]> {
    try {
      const size = await this.length(MAX_HEADER_BYTES)
      if (size === undefined) throw this.fault('the file is empty')
      const roots = decodeCarHeader(await this.whole(size))
      if (typeof roots === 'string') throw this.fault(roots)
      return roots
    } catch (error) {
      await this.source.close()
      throw error
    }
  }

  async *blocks(roots: readonly CidText[]): AsyncGenerator<CarTextBlock, void, undefined> {
    try {
      for (let count = 0; ; count++) {
        this.start = this.source.offset
        const isDagJson = count === 0 && this.isFirstDagJson
        const most = isDagJson ? MAX_BLOCK_BYTES : MAX_RAW_BLOCK_BYTES
        const size = await this.length(most + MAX_CID_BYTES)
        if (size === undefined) break
        if (count >= this.maxBlocks) throw this.fault(`more than ${this.maxBlocks} blocks`)
        const block = this.block(isDagJson ? await this.dagJson(size) : await this.whole(size))
        this.last = block.cid
        if (this.seen.has(block.cid)) continue
        this.seen.add(block.cid)
        yield block
      }
      const missing = roots.find((root) => !this.seen.has(root))
      if (missing !== undefined) throw this.fault(`root ${missing} is not among the blocks`)
    } finally {
      await this.source.close()
    }
  }

  /** Returns the length that a section begins with, or undefined at the end of the file. */
  private async length(max: number): Promise<number | undefined> {
    const bytes = new Uint8Array(MAX_VARINT_BYTES)
    for (let i = 0; i < bytes.length; i++) {
      const byte = await this.source.takeByte()
      if (byte === undefined && i === 0) return undefined
      if (byte === undefined) throw this.fault('cut short in a length')
      bytes[i] = byte
      if (byte < 0x80) break
    }
    const length = readVarint(bytes, 0)
    if (typeof length === 'string') throw this.fault(`section length: ${length}`)
    if (length.value === 0) throw this.fault('section of length 0')
    if (length.value > max) throw this.fault(`${length.value} bytes, at most ${max} are admitted`)
    return length.value
  }

  private async whole(size: number): Promise<Uint8Array> {
    const bytes = await this.source.take(size)
    if (bytes.length === size) return bytes
    throw this.fault(`cut short at byte ${this.source.offset}, ${size - bytes.length} missing`)
  }

  /** What a section is, is looked at before the most of it is taken. */
  private async dagJson(size: number): Promise<Uint8Array> {
    const start = await this.whole(Math.min(size, MAX_CID_BYTES))
    const read = readCid(start)
    if (typeof read === 'string') throw this.fault(read)
    if (read.codec !== 'dag-json') throw this.fault(`${read.cid} is no dag-json block`, read.cid)
    return asBytes(Buffer.concat([start, await this.whole(size - start.length)]))
  }

  private block(section: Uint8Array): CarTextBlock {
    const read = readCid(section)
    if (typeof read === 'string') throw this.fault(read)
    // the section is a copy of its own
    const bytes = section.subarray(read.size)
    const block = HashedBlock.of(bytes, read.codec)
    if (block.cid !== read.cid) {
      throw this.fault(`the bytes do not hash to ${read.cid}`, read.cid)
    }
    return read.codec === 'raw' ? this.rawBlock(block) : this.canonicalBlock(block)
  }

  private rawBlock(block: HashedBlock): HashedBlock {
    const { bytes, cid } = block
    if (bytes.length <= MAX_RAW_BLOCK_BYTES) return block
    throw this.fault(`block ${cid} has ${bytes.length} bytes`, cid)
  }

  private canonicalBlock(block: HashedBlock): CanonicalBlock {
    const { cid } = block
    try {
      return CanonicalBlock.from(block)
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      throw this.fault(`block ${cid}: ${error.message}`, cid, error)
    }
  }

  private fault(what: string, cid?: CidText, cause?: unknown): StoreError {
    const last = this.last === undefined ? 'no block before it' : `last good block ${this.last}`
    return new StoreError(
      'HSTORE_CAR_INVALID',
      `CAR refused: ${what} (section at byte ${this.start}, ${last})`,
      {
        cause,
        details: { offset: this.start, ...(cid && { cid }), ...(this.last && { last: this.last }) },
      },
    )
  }
}
