import valid from '../../fixtures/vectors/valid-blocks.json' with { type: 'json' }
import refused from '../../fixtures/vectors/refused-blocks.json' with { type: 'json' }

/** A block that has to be accepted, and a file that has to become it. */
export interface ValidBlock {
  readonly name: string
  readonly text: string
  readonly loose?: string
  /** Whether @ipld/dag-json follows the specification here. */
  readonly reference: boolean
  readonly cid: string
}

/** Bytes that are no block, and the stable name of the reason. */
export interface RefusedBlock {
  readonly name: string
  readonly reason: string
  readonly text?: string
  readonly hex?: string
}

/** Known answers for the block profile; our code never writes them. */
export const validBlocks: readonly ValidBlock[] = valid.cases

/** Known refusals for the block profile; our code never writes them. */
export const refusedBlocks: readonly RefusedBlock[] = refused.cases

/** Returns the bytes of a refused block. */
export function bytesOf({ text, hex }: RefusedBlock): Uint8Array {
  return new Uint8Array(hex === undefined ? Buffer.from(text ?? '') : Buffer.from(hex, 'hex'))
}

/** Returns the UTF-8 bytes of a text. */
export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
