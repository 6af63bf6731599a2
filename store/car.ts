import type { CID } from 'multiformats/cid'
import { ArgumentError } from '../src/kernel/errors.ts'
import type { ByteChunks } from './byte-source.ts'
import { assertIterable } from './byte-source.ts'
import { openCar } from './car-read.ts'
import type { CarLimits, CarTextBlock } from './car-read.ts'
import { writeCarBlocks } from './car-write.ts'
import { cidOfText, textOfCid } from './cid.ts'
import type { CidText } from './cid-text.ts'
import { StoreError } from './errors.ts'

/** A block of a CAR. */
export interface CarBlock {
  readonly cid: CID
  readonly bytes: Uint8Array
}

/**
 * Yields the blocks of a CAR of version 1, in the order of the file, each once.
 *
 * Every block is hashed and, where it is dag-json, canonical. What comes may be used only once the end is reached: a cut
 * file or a missing root shows there.
 *
 * @param source - Bytes at once or in chunks of any size; read no further than needed.
 * @throws {StoreError} `HSTORE_CAR_INVALID` for the first fault; `details` has the `offset` of its section in bytes, the
 *   `cid` where one was read, and `last`, the last good block before it.
 * @throws {ArgumentError} `HSTORE_ARGUMENT_INVALID` when the source or a chunk is of another type.
 * @see docs/format.md, «Limits»
 */
export async function* readCar(
  source: ByteChunks,
  limits: CarLimits = {},
): AsyncGenerator<CarBlock, void, undefined> {
  const { blocks } = await openCar(source, limits)
  for await (const { cid, bytes } of blocks) yield { cid: cidOfText(cid), bytes }
}

/**
 * Yields a CAR of version 1 that {@link readCar} accepts: the same bytes for the same roots and blocks in the same order.
 *
 * @param roots - At most 10,000, each among the blocks, none twice.
 * @param blocks - A block that comes again is left out.
 * @throws {StoreError} `HSTORE_CAR_INVALID` when a CID is none that hstore admits, bytes do not fit their CID, a block
 *   is past its limit or not canonical, or a root is named twice or missing. What was yielded before is no whole CAR.
 * @throws {ArgumentError} `HSTORE_ARGUMENT_INVALID` when an argument or a block is of another type.
 */
export async function* writeCar(
  roots: readonly CID[],
  blocks: AsyncIterable<CarBlock> | Iterable<CarBlock>,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (!Array.isArray(roots)) throw new ArgumentError(`roots: wanted an array, got ${typeof roots}`)
  assertIterable('blocks', blocks)
  yield* writeCarBlocks((roots as readonly CID[]).map(admittedText), textBlocks(blocks))
}

async function* textBlocks(
  blocks: AsyncIterable<CarBlock> | Iterable<CarBlock>,
): AsyncGenerator<CarTextBlock, void, undefined> {
  for await (const block of blocks) {
    const { cid, bytes } = Object(block) as CarBlock
    if (!(bytes instanceof Uint8Array))
      throw new ArgumentError(`block: wanted a CID and a Uint8Array, got ${typeof bytes}`)
    yield { cid: admittedText(cid), bytes }
  }
}

function admittedText(cid: CID): CidText {
  const text = textOfCid(cid)
  if (typeof text !== 'string') return text.text
  throw new StoreError('HSTORE_CAR_INVALID', `CAR not written: ${text}`)
}
