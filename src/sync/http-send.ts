import type { ServerResponse } from 'node:http'
import { silenceMs } from './http-listen.ts'
import type { Held } from './room.ts'

const stepBytes = 64 * 1024

/** Ends a response that has no content. */
export function end(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { ...headers, 'content-length': 0 })
  response.end()
}

/**
 * Tells a client that there is no room for it now. What it still sends is let pass: a connection that is closed before may
 * take the answer along.
 */
export function endBusy(response: ServerResponse, retryAfterS = 5): void {
  end(response, 503, { 'retry-after': String(retryAfterS) })
}

/**
 * Sends content behind headers that are written, a step whenever the client has taken the one before.
 *
 * @param held - The room that it has, given back at the end.
 */
export async function sendContent(
  response: ServerResponse,
  chunks: readonly Uint8Array[],
  held: Held,
): Promise<void> {
  using _held = held
  for (const step of stepsOf(chunks)) {
    if (!(await isTaken(response, step))) return
    held.moved(step.length)
  }
  response.end()
}

function* stepsOf(chunks: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += stepBytes) yield chunk.subarray(at, at + stepBytes)
}

/** Returns false when the client has gone, or is let go. */
function isTaken(response: ServerResponse, step: Uint8Array): Promise<boolean> {
  if (response.destroyed) return Promise.resolve(false)
  return new Promise((resolve) => {
    const settle = (isTaken: boolean): void => {
      clearTimeout(timer)
      response.off('close', goes)
      resolve(isTaken)
    }
    const goes = (): void => settle(false)
    const timer = setTimeout(() => response.destroy(), silenceMs)
    response.once('close', goes)
    response.write(step, (error) => settle(error === undefined || error === null))
  })
}

/** Returns what is aborted once a client has gone: nobody works for it any more. */
export function goneOf(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort(new Error('the client has gone')))
  return gone.signal
}
