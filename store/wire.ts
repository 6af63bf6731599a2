import { Readable, pipeline } from 'node:stream'
import { createDeflateRaw, deflateRawSync } from 'node:zlib'
import type { JsonMap } from './canonical.ts'
import { decodeForm, encodeForm } from './canonical.ts'
import type { Block } from './block.ts'
import { HashedBlock } from './block.ts'
import { openCar } from './car-read.ts'
import type { CarTextBlock } from './car-read.ts'
import { frameCar } from './car-write.ts'
import { codecOf } from './cid-text.ts'
import { StoreError } from './errors.ts'
import { storeBytes } from './stored-blocks.ts'
import type { WireLimits } from './unpack.ts'
import { unpack } from './unpack.ts'

/** What two stores say to each other: a map, and blocks. */
export interface Message {
  readonly control: JsonMap
  readonly blocks: readonly Block[]
}

/** A message that is being read. */
export interface IncomingMessage {
  readonly control: JsonMap
  /** Each hashed; to be read once and to the end. */
  readonly blocks: AsyncIterable<CarTextBlock>
}

/** What a message may have: most of it are blocks, of which a sender puts about 4 MiB into one. */
export const wireLimits: WireLimits = {
  packedBytes: 16 * 1024 * 1024,
  sizeBytes: 16 * 1024 * 1024,
}

const maxBlocks = 20_000
const chunkSize = 128 * 1024
const denseBytes = 256 * 1024
const sampleBytes = 16 * 1024

/** Yields a message as it goes over a wire: a CAR whose root is the control block, compressed (RFC 1951). */
export async function* encodeMessage({ control, blocks }: Message): AsyncGenerator<Uint8Array> {
  const root = HashedBlock.of(encodeForm(control), 'dag-json')
  const car = frameCar([root, ...blocks])
  yield* isDense(blocks) ? storeBytes(car) : deflate(car)
}

async function* deflate(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = Readable.from(chunks, { objectMode: false })
  const packed = pipeline(source, createDeflateRaw({ level: 3, chunkSize }), () => undefined)
  for await (const chunk of packed) yield chunk as Uint8Array
}

/** Most large files are packed already: to pack them again takes ten times as long as to send them. */
function isDense(blocks: readonly Block[]): boolean {
  const file = blocks.find(({ bytes, cid }) => bytes.length >= denseBytes && codecOf(cid) === 'raw')
  if (file === undefined) return false
  const sample = file.bytes.subarray(0, sampleBytes)
  return deflateRawSync(sample, { level: 1 }).length > sample.length * 0.95
}

/**
 * Reads a message as it comes: blocks can be taken before the last byte is there.
 *
 * @throws {StoreError} `HSTORE_CAR_INVALID` when it is none, or past its limits.
 */
export async function decodeMessage(
  packed: AsyncIterable<Uint8Array>,
  limits: WireLimits = wireLimits,
): Promise<IncomingMessage> {
  const { roots, blocks } = await openCar(unpack(packed, limits), {
    maxBlocks,
    isFirstDagJson: true,
  })
  const iterator = blocks[Symbol.asyncIterator]()
  const first = await iterator.next()
  const root = first.done === true ? undefined : first.value
  if (root === undefined || roots.length !== 1 || root.cid !== roots[0] || !isControl(root)) {
    await iterator.return?.()
    throw refused('it does not begin with its control block')
  }
  const rest = { [Symbol.asyncIterator]: () => iterator }
  return { control: decodeForm(root.bytes).form, blocks: rest }
}

function isControl({ cid }: CarTextBlock): boolean {
  return cid.startsWith('bag')
}

function refused(what: string): StoreError {
  return new StoreError('HSTORE_CAR_INVALID', `message refused: ${what}`)
}
