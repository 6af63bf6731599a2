import { HandoffError } from '../errors.ts'

const maxStdinBytes = 64 * 1024 * 1024

/** Returns all of stdin, at most 64 MiB. */
export async function readAll(source: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of source) {
    size += chunk.length
    if (size > maxStdinBytes) {
      throw new HandoffError('HSTORE_INPUT_UNREADABLE', `-: is more than ${maxStdinBytes} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
