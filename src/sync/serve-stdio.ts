import { encodeFrames, FrameReader } from '../../store/frames.ts'
import { decodeMessage, encodeMessage } from '../../store/wire.ts'
import { HstoreError } from '../kernel/errors.ts'
import type { Served } from './request.ts'
import { answer, refusal } from './answer.ts'
import { ownerRights } from './rights.ts'

/** A pair of pipes. */
export interface Pipes {
  readonly input: AsyncIterable<Uint8Array>
  readonly write: (chunk: Uint8Array) => void | Promise<void>
}

/**
 * Answers the requests that come over a pair of pipes, until they end: for a client that has the account's own rights, as
 * one that has come through ssh. A request that can't be read ends it, since nobody knows where the next one begins.
 */
export async function serveStdio(served: Served, { input, write }: Pipes): Promise<void> {
  const reader = new FrameReader(input)
  try {
    for (;;) {
      const message = await reader.next()
      if (message === undefined) return
      const found = await answerOne(served, message)
      for await (const chunk of encodeFrames(encodeMessage(found.message))) await write(chunk)
      if (!found.isWhole) return
    }
  } finally {
    await reader.close()
  }
}

async function answerOne(
  served: Served,
  packed: AsyncIterable<Uint8Array>,
): Promise<{ message: Awaited<ReturnType<typeof answer>>; isWhole: boolean }> {
  try {
    const request = await decodeMessage(packed)
    const message = await answer(served, request, ownerRights)
    return { message, isWhole: message.control['is'] !== 'no' }
  } catch (error) {
    if (error instanceof HstoreError) return { message: refusal(error), isWhole: false }
    throw error
  }
}
