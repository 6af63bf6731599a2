import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { mkdir, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** A file that is not read: what it is instead of a regular file within the limit. */
export class UnfitFile extends Error {
  override readonly name = 'UnfitFile'
}

/**
 * Returns the bytes of a regular file, at most `maxBytes`. Files that say nothing of their size, as those of /proc, are
 * read no further; a pipe is not waited for.
 *
 * @throws {UnfitFile} when it is no regular file or larger; an error of node:fs when it can't be opened or read.
 */
export async function readBounded(file: string, maxBytes: number): Promise<Uint8Array> {
  await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK)
  const found = await handle.stat()
  assertRegular(found)
  const chunks: Uint8Array[] = []
  let size = 0
  for (let want = Math.min(found.size, maxBytes) + 1; ; want = 64 * 1024) {
    const chunk = new Uint8Array(want)
    const { bytesRead } = await handle.read(chunk, 0, want)
    if (bytesRead === 0) return Buffer.concat(chunks, size)
    size += bytesRead
    if (size > maxBytes) throw new UnfitFile(`is more than ${maxBytes} bytes`)
    chunks.push(chunk.subarray(0, bytesRead))
  }
}

/**
 * Does what `readBounded` does, without a wait: for the few small files that each opening of a store reads, where the ways
 * to another thread and back take longer than all the rest.
 */
export function readBoundedNow(file: string, maxBytes: number): Uint8Array {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const found = fstatSync(descriptor)
    assertRegular(found)
    const chunks: Uint8Array[] = []
    let size = 0
    for (let want = Math.min(found.size, maxBytes) + 1; ; want = 64 * 1024) {
      const chunk = new Uint8Array(want)
      const bytesRead = readSync(descriptor, chunk, 0, want, null)
      if (bytesRead === 0) return Buffer.concat(chunks, size)
      size += bytesRead
      if (size > maxBytes) throw new UnfitFile(`is more than ${maxBytes} bytes`)
      chunks.push(chunk.subarray(0, bytesRead))
    }
  } finally {
    closeSync(descriptor)
  }
}

function assertRegular(found: Stats): void {
  if (found.isDirectory()) throw new UnfitFile('is a folder')
  if (!found.isFile()) throw new UnfitFile('is no regular file')
}

/**
 * Makes a folder and those above it that are missing; one that is there stays as it is. Node's own recursive way never
 * ends where a file system, such as /proc, answers that a parent that is there is not.
 *
 * @returns The first folder that was made, or undefined.
 * @throws An error of node:fs.
 */
export async function makeFolder(folder: string, mode = 0o777): Promise<string | undefined> {
  try {
    return await makeOne(folder, mode)
  } catch (error) {
    const parent = dirname(folder)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw error
    const first = await makeFolder(parent, mode)
    const made = await makeOne(folder, mode)
    return first ?? made
  }
}

async function makeOne(folder: string, mode: number): Promise<string | undefined> {
  try {
    await mkdir(folder, { mode })
    return folder
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST'
    if (isThere && (await stat(folder)).isDirectory()) return undefined
    throw error
  }
}
