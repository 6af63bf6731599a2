import type { FileHandle } from 'node:fs/promises'

/**
 * Yields the rest of a file in pieces.
 *
 * @param nextBuffer - Gives the memory for a piece: always the same, where a piece is done with before the next one is
 *   asked for.
 */
export async function* readChunks(
  handle: FileHandle,
  nextBuffer: () => Uint8Array,
): AsyncGenerator<Uint8Array> {
  for (;;) {
    const buffer = nextBuffer()
    const { bytesRead } = await handle.read(buffer, 0, buffer.length)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}
