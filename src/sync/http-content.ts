import type { IncomingMessage as Request } from 'node:http'
import { ContentDigest, contentDigest } from '../../keys/http-signature.ts'
import type { CarTextBlock } from '../../store/car-read.ts'
import type { IncomingMessage } from '../../store/wire.ts'
import { HandoffError } from '../errors.ts'
import type { Patience } from './patience.ts'
import type { Held } from './room.ts'

/** Returns the status that refuses a request for the length of its content. */
export function refusedLength({ headers }: Request, most: number): number | undefined {
  const length = Number(headers['content-length'] ?? 'none')
  if (headers['transfer-encoding'] !== undefined || Number.isNaN(length)) return 411
  return Number.isSafeInteger(length) && length <= most ? undefined : 413
}

/** A request's content: what came before a cut is not lost. */
export interface Content {
  readonly chunks: AsyncIterable<Uint8Array>
  /** Lets pass what was not read, and returns whether all came, and is what was signed. */
  isSigned(): Promise<boolean>
}

/** Returns whether a request has content, however long. */
export function hasContent({ headers }: Request): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = headers
  return coding !== undefined || (length !== undefined && length !== '0')
}

/**
 * Returns content as it comes, for those who may write: no more of it is taken in than is read.
 *
 * @param patience - How long is waited for it, while it is read.
 */
export function contentOf(
  request: AsyncIterable<Uint8Array>,
  digest: string,
  held: Held,
  patience: Patience,
): Content {
  const came = patience.bound(request, tooSlow)
  const digestOfAll = new ContentDigest()
  let isCut = false
  const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    const step = await came.next().catch(() => undefined)
    if (step === undefined) isCut = true
    if (step === undefined || step.done === true) {
      held.allMoved()
      return { done: true, value: undefined }
    }
    held.moved(step.value.length)
    digestOfAll.update(step.value)
    return step
  }
  // without `return`: who reads no further leaves the rest to `isSigned`
  const chunks = { [Symbol.asyncIterator]: () => ({ next }) }
  let isWhole: Promise<boolean> | undefined
  const passed = async (): Promise<boolean> => {
    while ((await next()).done !== true);
    return !isCut && digestOfAll.value() === digest
  }
  return { chunks, isSigned: () => (isWhole ??= passed()) }
}

/** Returns content once all of it is there: what is not whole takes no more memory than it has bytes. */
export async function wholeContent(
  request: AsyncIterable<Uint8Array>,
  digest: string,
  held: Held,
  patience: Patience,
): Promise<Content> {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of patience.bound(request, tooSlow)) {
      held.moved(chunk.length)
      chunks.push(chunk)
    }
  } catch {
    // cut off, or let go: it is not what was signed
  }
  held.allMoved()
  const whole = Buffer.concat(chunks)
  const came = (async function* () {
    yield whole
  })()
  const isSigned = contentDigest(whole) === digest
  return { chunks: came, isSigned: () => Promise.resolve(isSigned) }
}

function tooSlow(): Error {
  return new Error('it says nothing more, or too little')
}

/**
 * Yields blocks, and ends when all is known to be what was signed: nothing is done with them before.
 *
 * @param begin - Called then, and awaited.
 */
export async function* untilSigned(
  blocks: IncomingMessage['blocks'],
  content: Content,
  begin: () => Promise<void>,
): AsyncGenerator<CarTextBlock> {
  yield* blocks
  if (!(await content.isSigned()))
    throw new HandoffError('HSTORE_REMOTE_INVALID', 'it is not what was signed')
  await begin()
}
