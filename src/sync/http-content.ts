import type { IncomingMessage as Request } from 'node:http'
import { PassThrough } from 'node:stream'
import { ContentDigest, contentDigest } from '../../keys/http-signature.ts'
import type { CarTextBlock } from '../../store/car-read.ts'
import type { IncomingMessage } from '../../store/wire.ts'
import { HandoffError } from '../errors.ts'
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

/** Returns content as it comes, for those who may write. */
export function contentOf(request: Request, digest: string, most: number): Content {
  // all of it has room: it is read to its end, whatever is made of it
  const chunks = new PassThrough({ highWaterMark: most + 1 })
  const read = async (): Promise<boolean> => {
    const came = new ContentDigest()
    try {
      for await (const chunk of request) {
        came.update(chunk as Uint8Array)
        chunks.write(chunk)
      }
      return came.value() === digest
    } catch {
      return false // cut off
    } finally {
      chunks.end()
    }
  }
  return { chunks, isSigned: read() }
}

/** Returns content once all of it is there: what is not whole takes no more memory than it has bytes. */
export async function wholeContent(request: Request, digest: string, held: Held): Promise<Content> {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of request) {
      held.moved((chunk as Uint8Array).length)
      chunks.push(chunk as Uint8Array)
    }
  } catch {
    // cut off: it is not what was signed
  }
  const whole = Buffer.concat(chunks)
  const came = (async function* () {
    yield whole
  })()
  return { chunks: came, isSigned: Promise.resolve(contentDigest(whole) === digest) }
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
