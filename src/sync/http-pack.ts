import { ContentDigest } from '../../keys/http-signature.ts'
import type { Message } from '../../store/wire.ts'
import { encodeMessage } from '../../store/wire.ts'

/** Content whose length and digest are told before it. */
export interface Packed {
  readonly chunks: readonly Uint8Array[]
  readonly length: number
  /** As `Content-Digest` has it. */
  readonly digest: string
}

/** Returns a message as it goes over HTTP. */
export async function packMessage(message: Message): Promise<Packed> {
  const chunks: Uint8Array[] = []
  const digest = new ContentDigest()
  let length = 0
  for await (const chunk of encodeMessage(message)) {
    chunks.push(chunk)
    digest.update(chunk)
    length += chunk.length
  }
  return { chunks, length, digest: digest.value() }
}
