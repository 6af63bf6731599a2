import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writevSync,
} from 'node:fs'
import { asBytes } from '../kernel/bytes.ts'
import type { Block } from '../../store/block.ts'
import { encodeCid, readCid, sizeOfCid } from '../../store/cid-bytes.ts'
import type { CidText } from '../../store/cid-text.ts'
import { cidTextOf, codecOf } from '../../store/cid-text.ts'
import { storeErrorOf } from '../../store/level-errors.ts'
import type { MoreBlocks } from '../../store/overlay-database.ts'
import type { StagedArtifact } from '../../store/stage-artifact.ts'
import { HandoffError } from '../errors.ts'
import { takenOver } from './presence.ts'
import { RecentBlocks } from './recent-blocks.ts'

/** How much may lie in quarantine. */
export interface QuarantineLimits {
  readonly sizeBytes: number
  readonly blocks: number
}

/** What one remote, or one import, may leave in quarantine. */
export const quarantineLimits: QuarantineLimits = {
  sizeBytes: 256 * 1024 * 1024,
  blocks: 100_000,
}

/** A remote may name more entries than there is memory for. */
const roundEntries = 65_536

/** As much as two answers bring. */
const recentBytes = 8 * 1024 * 1024

interface Place {
  readonly at: number
  readonly length: number
}

const lengthBytes = 4
const maxCidBytes = 37
const maxFrameBytes = 4 * 1024 * 1024 + maxCidBytes

/**
 * Blocks that came from elsewhere, each hashed on arrival, in one file that nothing else reads: what is in it is judged
 * before any of it gets into the store. What a process that was killed left in the file is found again.
 */
export class Arrivals implements MoreBlocks {
  readonly #file: string
  readonly #limits: QuarantineLimits
  #descriptor: number
  readonly #places = new Map<CidText, Place>()
  readonly #large = new Map<CidText, StagedArtifact>()
  /** What is judged soon after it came is not read again. */
  readonly #recent = new RecentBlocks(recentBytes)
  #end = 0
  /** Bytes of the file that belong to blocks that still wait. */
  #live = 0

  /** @param file - Made where it is not there; held by nobody else. */
  constructor(file: string, limits: QuarantineLimits = quarantineLimits) {
    this.#file = file
    this.#limits = limits
    this.#descriptor = openSync(file, 'a+', 0o600)
    this.#load()
  }

  /** How many blocks wait. */
  get size(): number {
    return this.#places.size + this.#large.size
  }

  /** Bytes that the blocks take up here. */
  get sizeBytes(): number {
    return this.#live
  }

  /** How much of what may wait does, from 0 to 1. */
  get fill(): number {
    const { sizeBytes, blocks } = this.#limits
    return Math.max(this.#live / sizeBytes, this.#places.size / blocks)
  }

  /** How many entries are compared, sorted and fetched before the next are looked at. */
  get round(): number {
    return Math.min(roundEntries, this.#limits.blocks)
  }

  /** How many entries may be asked for at a time, so that a few answers never fill it. */
  get share(): number {
    return Math.ceil(this.#limits.blocks / 24)
  }

  /** The blocks of codec dag-json, in the order in which they came. */
  *documents(): Generator<CidText> {
    for (const cid of this.#places.keys()) if (codecOf(cid) === 'dag-json') yield cid
  }

  /** All blocks, large artifacts too. */
  *cids(): Generator<CidText> {
    yield* this.#places.keys()
    yield* this.#large.keys()
  }

  /**
   * Takes in a block whose bytes are known to hash to its CID; one that is there is passed over.
   *
   * @throws {HandoffError} `HSTORE_QUARANTINE_FULL`
   */
  add(block: Block): void {
    const { cid, bytes } = block
    if (this.#places.has(cid)) return
    const { sizeBytes, blocks } = this.#limits
    const size = sizeOnDisk(cid, bytes.length)
    if (this.#end + size > sizeBytes && this.#live * 2 < this.#end) this.#pack()
    if (this.#end + size > sizeBytes || this.#places.size >= blocks) {
      const most = `${sizeBytes} bytes and ${blocks} blocks`
      throw new HandoffError('HSTORE_QUARANTINE_FULL', `more than ${most} wait to be judged`)
    }
    this.#append(block)
    this.#recent.add(block)
  }

  /** Takes in a large artifact, which moves into the store when it is published. */
  addLarge(artifact: StagedArtifact): void {
    this.#large.set(artifact.cid, artifact)
  }

  has(cid: CidText): boolean {
    return this.#places.has(cid) || this.#large.has(cid)
  }

  find(cid: CidText): Uint8Array | undefined {
    return this.findBlock(cid)?.bytes
  }

  /** Returns a block; as it came, where that was of late. */
  findBlock(cid: CidText): Block | undefined {
    const place = this.#places.get(cid)
    if (place === undefined) return undefined
    const recent = this.#recent.get(cid)
    if (recent !== undefined) return recent
    return { cid, bytes: this.#waiting(this.#descriptor, place) }
  }

  /** Puts a large artifact in its place in the store; nothing for a block. */
  async publish(cid: CidText): Promise<void> {
    await this.#large.get(cid)?.publish()
  }

  /** Lets go of blocks that were judged. */
  forget(cids: Iterable<CidText>): void {
    for (const cid of cids) {
      const place = this.#places.get(cid)
      if (place !== undefined) this.#live -= sizeOnDisk(cid, place.length)
      this.#places.delete(cid)
      this.#recent.delete(cid)
      this.#large.delete(cid)
    }
    if (this.#places.size > 0) return
    ftruncateSync(this.#descriptor, 0)
    this.#end = 0
  }

  /** Leaves what waits for the next one that opens the file. */
  close(): void {
    this.#recent.clear()
    closeSync(this.#descriptor)
    if (this.#places.size === 0) rmSync(this.#file, { force: true })
  }

  /** Removes all that was not published. */
  async drop(): Promise<void> {
    this.#recent.clear()
    closeSync(this.#descriptor)
    rmSync(this.#file, { force: true })
    for (const artifact of this.#large.values()) await artifact.discard()
  }

  /** Each block is hashed again: the file may be torn, or not ours. */
  #load(): void {
    const { size } = fstatSync(this.#descriptor)
    while (this.#end + lengthBytes < size) {
      const head = this.#read(this.#end, lengthBytes)
      const length = head === undefined ? 0 : Buffer.from(head).readUInt32BE()
      const isFit = length > 0 && length <= maxFrameBytes && this.#places.size < this.#limits.blocks
      const frame = isFit ? this.#read(this.#end + lengthBytes, length) : undefined
      const name = frame === undefined ? 'cut' : readCid(frame)
      if (frame === undefined || typeof name === 'string') break
      const bytes = frame.subarray(name.size)
      if (cidTextOf(bytes, name.codec) !== name.cid) break
      this.#places.set(name.cid, {
        at: this.#end + lengthBytes + name.size,
        length: bytes.length,
      })
      this.#end += lengthBytes + length
      this.#live += lengthBytes + length
    }
    if (this.#end < size) ftruncateSync(this.#descriptor, this.#end)
  }

  #append({ cid, bytes }: Block): void {
    const head = headOf(cid, bytes.length)
    this.#write([head, bytes])
    const { length } = bytes
    this.#end += head.length + length
    this.#live += head.length + length
    this.#places.set(cid, { at: this.#end - length, length })
  }

  /** Writes what still waits anew, without what was let go of. */
  #pack(): void {
    const waiting = [...this.#places]
    const before = this.#descriptor
    const file = `${this.#file}.packed`
    rmSync(file, { force: true })
    this.#descriptor = openSync(file, 'a+', 0o600)
    this.#end = 0
    this.#live = 0
    for (const [cid, place] of waiting) this.#append({ cid, bytes: this.#waiting(before, place) })
    closeSync(before)
    renameSync(file, this.#file)
  }

  #write(parts: readonly Uint8Array[]): void {
    try {
      writevSync(this.#descriptor, parts)
    } catch (error) {
      throw storeErrorOf(error, this.#file)
    }
  }

  /** @throws {StoreError} `HSTORE_STORE_BUSY` where something else has cut the file. */
  #waiting(descriptor: number, { at, length }: Place): Uint8Array {
    const bytes = this.#readFrom(descriptor, at, length)
    if (bytes === undefined) throw takenOver(this.#file)
    return bytes
  }

  #read(at: number, length: number): Uint8Array | undefined {
    return this.#readFrom(this.#descriptor, at, length)
  }

  #readFrom(descriptor: number, at: number, length: number): Uint8Array | undefined {
    const bytes = Buffer.allocUnsafe(length)
    let read = 0
    while (read < length) {
      const count = readSync(descriptor, bytes, read, length - read, at + read)
      if (count === 0) return undefined
      read += count
    }
    return asBytes(bytes)
  }
}

/** What stands in the file before the bytes of a block: how long name and bytes are, and the name. */
function headOf(cid: CidText, length: number): Uint8Array {
  const name = encodeCid(cid)
  const head = Buffer.allocUnsafe(lengthBytes + name.length)
  head.writeUInt32BE(name.length + length)
  head.set(name, lengthBytes)
  return head
}

function sizeOnDisk(cid: CidText, length: number): number {
  return lengthBytes + sizeOfCid(cid) + length
}
