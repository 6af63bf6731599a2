import { asBytes } from '../src/kernel/bytes.ts'
import { encodeCarHeader } from './car-header.ts'
import { MAX_RAW_BLOCK_BYTES } from './car-read.ts'
import type { CarTextBlock } from './car-read.ts'
import { readCanonicalText } from './canonical.ts'
import { MAX_BLOCK_BYTES } from './canonical-write.ts'
import { encodeCid } from './cid-bytes.ts'
import { cidTextOf, codecOf } from './cid-text.ts'
import type { CidText } from './cid-text.ts'
import { StoreError } from './errors.ts'
import { encodeVarint } from './varint.ts'

/** Roots that a CAR may name. */
const MAX_ROOTS = 10_000

/**
 * Yields a CAR of version 1, a chunk for the header and one for each block: the same bytes for the same roots and blocks
 * in the same order. A block that comes again is left out.
 *
 * @throws {StoreError} `HSTORE_CAR_INVALID` when bytes do not fit their CID, a block is past its limit or not canonical,
 *   or a root is named twice or missing. What was yielded before is then no whole CAR.
 */
export async function* writeCarBlocks(
  roots: readonly CidText[],
  blocks: AsyncIterable<CarTextBlock> | Iterable<CarTextBlock>,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (new Set(roots).size < roots.length) throw refuse('a root is named twice')
  if (roots.length > MAX_ROOTS) throw refuse(`${roots.length} roots, at most ${MAX_ROOTS}`)
  yield frame([encodeCarHeader(roots)])
  const seen = new Set<CidText>()
  for await (const { cid, bytes } of blocks) {
    if (seen.has(cid)) continue
    checkBlock(cid, bytes)
    seen.add(cid)
    yield frame([encodeCid(cid), bytes])
  }
  const missing = roots.find((root) => !seen.has(root))
  if (missing !== undefined) throw refuse(`root ${missing} is not among the blocks`, missing)
}

/** Small sections go on together, in chunks of about so many bytes. */
const chunkBytes = 64 * 1024

/** Yields a CAR whose first block is its root, for blocks that are known to be right. */
export function* frameCar(blocks: Iterable<CarTextBlock>): Generator<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  let isFirst = true
  for (const { cid, bytes } of blocks) {
    if (isFirst) parts.push(frame([encodeCarHeader([cid])]))
    isFirst = false
    const name = encodeCid(cid)
    parts.push(encodeVarint(name.length + bytes.length), name)
    if (bytes.length < chunkBytes) parts.push(bytes)
    size += bytes.length
    if (size < chunkBytes) continue
    yield asBytes(Buffer.concat(parts.splice(0)))
    // a large block is not copied
    if (bytes.length >= chunkBytes) yield bytes
    size = 0
  }
  if (parts.length > 0) yield asBytes(Buffer.concat(parts))
}

function checkBlock(cid: CidText, bytes: Uint8Array): void {
  const codec = codecOf(cid)
  if (cidTextOf(bytes, codec) !== cid) throw refuse(`the bytes do not hash to ${cid}`, cid)
  if (codec === 'raw') {
    if (bytes.length <= MAX_RAW_BLOCK_BYTES) return
    throw refuse(`block ${cid} has ${bytes.length} bytes, at most ${MAX_RAW_BLOCK_BYTES}`, cid)
  }
  try {
    readCanonicalText(bytes, MAX_BLOCK_BYTES)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    throw refuse(`block ${cid}: ${error.message}`, cid, error)
  }
}

function frame(parts: readonly Uint8Array[]): Uint8Array {
  const size = parts.reduce((sum, part) => sum + part.length, 0)
  return asBytes(Buffer.concat([encodeVarint(size), ...parts]))
}

function refuse(what: string, cid?: CidText, cause?: unknown): StoreError {
  return new StoreError('HSTORE_CAR_INVALID', `CAR not written: ${what}`, {
    cause,
    details: cid === undefined ? {} : { cid },
  })
}
