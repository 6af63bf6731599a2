import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { isWellFormed } from '../../../store/utf8.ts'
import type { BundleFile } from './bundle.ts'

const CHUNK_BYTES = 256 * 1024

/**
 * Returns the size and digest of the regular file at `key`, read in pieces of 256 KiB, or undefined when there is none
 * that can be read.
 *
 * @param key - Absolute and link-resolved.
 */
export async function hashRegularFile(key: string): Promise<BundleFile | undefined> {
  return await withRegularFile(key, async (handle) => {
    const hash = createHash('sha256')
    const chunk = new Uint8Array(CHUNK_BYTES)
    const { size } = await handle.stat()
    let sizeBytes = 0
    // one that grows while it is read, or says nothing of its size, has no digest
    while (sizeBytes <= size) {
      const { bytesRead } = await handle.read(chunk, 0, chunk.length)
      if (bytesRead === 0) return { key, sizeBytes, sha256: hash.digest('hex') }
      hash.update(chunk.subarray(0, bytesRead))
      sizeBytes += bytesRead
    }
    return undefined
  })
}

/**
 * Returns the bytes of a file that was hashed before, or undefined when they are more than `maxBytes` or not the same
 * any more.
 */
export async function readRegularFile(
  file: BundleFile,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  if (file.sizeBytes > maxBytes) return undefined
  return await withRegularFile(file.key, async (handle) => {
    const bytes = new Uint8Array(file.sizeBytes)
    let length = 0
    while (length < bytes.length) {
      const { bytesRead } = await handle.read(bytes, length)
      if (bytesRead === 0) return undefined
      length += bytesRead
    }
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    return sha256 === file.sha256 ? bytes : undefined
  })
}

/** Never waits for a pipe, and never follows a link that was put there since the path was resolved. */
async function withRegularFile<T>(
  key: string,
  use: (handle: FileHandle) => Promise<T>,
): Promise<T | undefined> {
  if (key.includes('\0') || !isWellFormed(key)) return undefined
  try {
    await using handle = await open(
      key,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    )
    return (await handle.stat()).isFile() ? await use(handle) : undefined
  } catch {
    return undefined
  }
}
