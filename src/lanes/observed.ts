import { createHash } from 'node:crypto'
import type { CidText } from '../../store/cid-text.ts'
import { equalBytes } from '../kernel/bytes.ts'
import type { Observed } from './bodies.ts'
import type { LinkGraph } from './graph.ts'

/** What reading is proved over: all entries of a lane's stream that the store holds, valid or not. */
export interface Readable {
  /** Over parents and prev alone. */
  readonly graph: LinkGraph
  /** Returns an entry's block and its body's, undefined where one is not to be had. */
  readonly blocksOf: (cid: CidText) => readonly [entry: Uint8Array, body: Uint8Array] | undefined
}

const domain = 'hstore.read.v1'

/**
 * Returns the digest that shows which bytes a signer held: see docs/format.md, «Read proof». Undefined where a block of
 * them is not to be had.
 *
 * @param before - What the signer's earlier entries in this lane have signed as read.
 */
export function readDigest(
  { graph, blocksOf }: Readable,
  did: string,
  through: readonly CidText[],
  before: readonly CidText[],
): Uint8Array | undefined {
  if (!through.every((cid) => graph.has(cid))) return undefined
  const hash = createHash('sha256')
  const add = (bytes: Uint8Array): void => {
    const length = new DataView(new ArrayBuffer(8))
    length.setBigUint64(0, BigInt(bytes.length))
    hash.update(new Uint8Array(length.buffer)).update(bytes)
  }
  const encoder = new TextEncoder()
  add(encoder.encode(domain))
  add(encoder.encode(did))
  for (const cid of graph.reach(through, before)) {
    const blocks = blocksOf(cid)
    if (blocks === undefined || graph.isCut(cid)) return undefined
    for (const block of blocks) add(block)
  }
  return new Uint8Array(hash.digest())
}

/** Returns whether a digest is that of the blocks. */
export function isHeld(
  readable: Readable,
  did: string,
  { held, through }: Observed,
  before: readonly CidText[],
): boolean {
  const digest = readDigest(readable, did, through, before)
  return digest !== undefined && equalBytes(digest, held)
}
