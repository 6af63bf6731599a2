import type { CidText, Codec } from './cid-text.ts'
import { cidTextOf } from './cid-text.ts'

/** A block to store. */
export interface Block {
  readonly cid: CidText
  readonly bytes: Uint8Array
}

const hashed = new WeakSet<Block>()

/** Returns the block of `bytes`, which nobody may change later. */
export function makeBlock(bytes: Uint8Array, codec: Codec): Block {
  const block = Object.freeze({ cid: cidTextOf(bytes, codec), bytes })
  hashed.add(block)
  return block
}

/** Returns whether a block was made by `makeBlock`, so that its bytes were hashed once already. */
export function isHashed(block: Block): boolean {
  return hashed.has(block)
}
