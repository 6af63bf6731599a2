import type { IncomingMessage as Request } from 'node:http'
import { PassThrough } from 'node:stream'
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

/** A request's content as it comes: what came before a cut is not lost. */
export interface Content {
  readonly chunks: AsyncIterable<Uint8Array>
  /** Whether it came whole, and is what was signed. */
  readonly isSigned: Promise<boolean>
}

/** Returns whether a request has content, however long. */
export function hasContent({ headers }: Request): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = headers
  return coding !== undefined || (length !== undefined && length !== '0')
}

/**
 * Returns content as it comes, for those who may write.
 *
 * @param patience - How long is waited for it.
 */
export function contentOf(
  request: AsyncIterable<Uint8Array>,
  digest: string,
  most: number,
  patience: Patience,
): Content {
  // all of it has room: it is read to its end, whatever is made of it
  const chunks = new PassThrough({ highWaterMark: most + 1 })
  const read = async (): Promise<boolean> => {
    const came = new ContentDigest()
    try {
      for await (const chunk of patience.bound(request, tooSlow)) {
        came.update(chunk)
        chunks.write(chunk)
      }
      return came.value() === digest
    } catch {
      return false // cut off, or let go
    } finally {
      chunks.end()
    }
  }
  return { chunks, isSigned: read() }
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
  const whole = Buffer.concat(chunks)
  const came = (async function* () {
    yield whole
  })()
  return { chunks: came, isSigned: Promise.resolve(contentDigest(whole) === digest) }
}

function tooSlow(): Error {
  return new Error('it says nothing more, or too little')
}

/** Nothing is done with blocks before all is known to be what was signed. */
export async function* untilSigned(
  blocks: IncomingMessage['blocks'],
  isSigned: Promise<boolean>,
): AsyncGenerator<CarTextBlock> {
  yield* blocks
  if (!(await isSigned))
    throw new HandoffError('HSTORE_REMOTE_INVALID', 'it is not what was signed')
}
