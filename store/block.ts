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

  private constructor(cid: CidText, bytes: Uint8Array) {
    this.cid = cid
    this.bytes = bytes
  }

  /** Returns the block of `bytes`, which nobody may change later. */
  static of(bytes: Uint8Array, codec: Codec): HashedBlock {
    return new HashedBlock(cidTextOf(bytes, codec), bytes)
  }
}
