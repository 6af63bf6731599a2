import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { asBytes } from '../src/kernel/bytes.ts'
import { artifactPath } from './artifacts.ts'
import type { CidText } from './cid-text.ts'
import { storeErrorOf } from './level-errors.ts'

/**
 * Returns bytes of a large artifact from an offset on, fewer at its end. They prove nothing by themselves: who puts them
 * together hashes the whole.
 *
 * @throws {StoreError} when the file is not there or can't be read.
 */
export async function readArtifactRange(
  directory: string,
  cid: CidText,
  at: number,
  length: number,
): Promise<Uint8Array> {
  try {
    await using handle = await open(
      artifactPath(directory, cid),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    )
    const bytes = asBytes(Buffer.allocUnsafe(length))
    let read = 0
    while (read < length) {
      const { bytesRead } = await handle.read(bytes, read, length - read, at + read)
      if (bytesRead === 0) break
      read += bytesRead
    }
    return bytes.subarray(0, read)
  } catch (error) {
    throw storeErrorOf(error, directory)
  }
}
