import type { JsonMap } from './canonical.ts'
import { parsePassed, readCanonicalText } from './canonical.ts'
import type { CidText, Codec } from './cid-text.ts'
import { cidTextOf } from './cid-text.ts'

/** A block to store. */
export interface Block {
  readonly cid: CidText
  readonly bytes: Uint8Array
}

/** A block whose CID was computed from its bytes, so that nobody has to hash them again. */
export class HashedBlock implements Block {
  readonly cid: CidText
  readonly bytes: Uint8Array

  protected constructor(cid: CidText, bytes: Uint8Array) {
    this.cid = cid
    this.bytes = bytes
  }

  /** Returns the block of `bytes`, which nobody may change later. */
  static of(bytes: Uint8Array, codec: Codec): HashedBlock {
    return new HashedBlock(cidTextOf(bytes, codec), bytes)
  }
}

/** A hashed block of codec dag-json whose bytes were found canonical, so that nobody has to look at them again. */
export class CanonicalBlock extends HashedBlock {
  /**
   * Returns a hashed block as one that is canonical.
   *
   * @throws {StoreError} `HSTORE_BLOCK_INVALID`
   */
  static from({ bytes, cid }: HashedBlock): CanonicalBlock {
    readCanonicalText(bytes)
    return new CanonicalBlock(cid, bytes)
  }

  /** Returns the block's form. */
  decode(): JsonMap {
    return parsePassed(this.bytes)
  }
}
