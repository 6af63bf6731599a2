import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { asBytes } from '../kernel/bytes.ts'
import { forgetTemporary, noteTemporary } from '../kernel/temporaries.ts'
import type { CarTextBlock } from '../../store/car-read.ts'
import type { CidText } from '../../store/cid-text.ts'
import { codecOf } from '../../store/cid-text.ts'
import type { MoreBlocks } from '../../store/overlay-database.ts'
import type { StagedArtifact } from '../../store/stage-artifact.ts'
import { HandoffError } from '../errors.ts'

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

interface Place {
  readonly at: number
  readonly length: number
}

/**
 * Blocks that came from elsewhere, each hashed on arrival, in one file that nothing else reads: what is in it is judged
 * before any of it gets into the store.
 */
export class Arrivals implements MoreBlocks {
  readonly #file: string
  readonly #limits: QuarantineLimits
  readonly #descriptor: number
  readonly #places = new Map<CidText, Place>()
  readonly #large = new Map<CidText, StagedArtifact>()
  #end = 0

  /** @param file - Made anew; whoever ends without `drop` leaves it to `gc`. */
  constructor(file: string, limits: QuarantineLimits = quarantineLimits) {
    this.#file = file
    this.#limits = limits
    noteTemporary(file)
    this.#descriptor = openSync(file, 'wx+', 0o600)
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
  add({ cid, bytes }: CarTextBlock): void {
    if (this.#places.has(cid)) return
    const { sizeBytes, blocks } = this.#limits
    if (this.#end + bytes.length > sizeBytes || this.#places.size >= blocks) {
      const most = `${sizeBytes} bytes and ${blocks} blocks`
      throw new HandoffError('HSTORE_QUARANTINE_FULL', `more than ${most} wait to be judged`)
    }
    writeSync(this.#descriptor, bytes, 0, bytes.length, this.#end)
    this.#places.set(cid, { at: this.#end, length: bytes.length })
    this.#end += bytes.length
  }

  /** Takes in a large artifact, which moves into the store when it is published. */
  addLarge(artifact: StagedArtifact): void {
    this.#large.set(artifact.cid, artifact)
  }

  has(cid: CidText): boolean {
    return this.#places.has(cid) || this.#large.has(cid)
  }

  find(cid: CidText): Uint8Array | undefined {
    const place = this.#places.get(cid)
    if (place === undefined) return undefined
    const bytes = Buffer.allocUnsafe(place.length)
    let read = 0
    while (read < place.length) {
      const count = readSync(this.#descriptor, bytes, read, place.length - read, place.at + read)
      if (count === 0) return undefined
      read += count
    }
    return asBytes(bytes)
  }

  /** Puts a large artifact in its place in the store; nothing for a block. */
  async publish(cid: CidText): Promise<void> {
    await this.#large.get(cid)?.publish()
  }

  /** Removes the file and all that was not published. */
  async drop(): Promise<void> {
    closeSync(this.#descriptor)
    rmSync(this.#file, { force: true })
    forgetTemporary(this.#file)
    for (const artifact of this.#large.values()) await artifact.discard()
  }
}
