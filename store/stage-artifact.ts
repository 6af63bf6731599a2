import type { FileHandle } from 'node:fs/promises'
import { createHash, randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { asBytes } from '../src/kernel/bytes.ts'
import { makeFolder } from '../src/kernel/files.ts'
import { forgetTemporary, noteTemporary } from '../src/kernel/temporaries.ts'
import { artifactPath, checkArtifactFile } from './artifacts.ts'
import type { CidText } from './cid-text.ts'
import { cidTextOf, cidTextOfDigest } from './cid-text.ts'
import { StoreError } from './errors.ts'
import { readChunks } from './file-chunks.ts'
import { syncFolder } from './folders.ts'
import { codeOf, isAbsent, storeErrorOf } from './level-errors.ts'

/** An artifact that was read and hashed but is not in the store yet. */
export interface StagedArtifact {
  readonly cid: CidText
  readonly sizeBytes: number
  /** All bytes of a small artifact, which goes into the commit as a block; absent for a large one. */
  readonly bytes?: Uint8Array

  /**
   * Puts a large artifact in its place, synced to disk: to be called before the commit that names it. Does nothing for
   * a small one. Safe while others publish the same artifact; puts a sound file where a damaged one lay.
   *
   * @throws {StoreError} `HSTORE_STORE_FULL`, `HSTORE_STORE_READ_ONLY` when the file system refuses.
   */
  publish(): Promise<void>

  /** Removes what staging left, if it was not published. */
  discard(): Promise<void>
}

/** Up to this size an artifact is a block in the database, above it a file. In bytes. */
export const smallArtifactLimitBytes: number = 1024 * 1024

const chunkBytes = 1024 * 1024

/**
 * Reads and hashes an artifact. Above 1 MiB its bytes go to a temporary file in the store as they are read, so that
 * memory stays flat.
 *
 * @param directory - The store's folder.
 * @param source - Path of a regular file, links resolved by the caller; or the bytes, which nobody may change later.
 * @throws {StoreError} `HSTORE_BLOCK_INVALID` when the file can't be read, is no regular file or changes while it is
 *   read.
 * @throws {StoreError} `HSTORE_STORE_FULL`, `HSTORE_STORE_READ_ONLY` when the store takes no files.
 */
export async function stageArtifact(
  directory: string,
  source: string | Uint8Array,
): Promise<StagedArtifact> {
  if (typeof source === 'string') return stageFile(directory, source)
  if (source.length <= smallArtifactLimitBytes) return stagedSmall(asBytes(source))
  return stageLarge(directory, source.length, slicesOf(source))
}

async function stageFile(directory: string, path: string): Promise<StagedArtifact> {
  const handle = await openSource(path)
  try {
    const before = await handle.stat()
    if (!before.isFile()) throw unreadable(path, 'is no regular file')
    const chunks = readFully(handle, path, before.size)
    const staged =
      before.size <= smallArtifactLimitBytes
        ? stagedSmall(await collect(chunks, before.size))
        : await stageLarge(directory, before.size, chunks)
    const after = await handle.stat()
    if (after.size === before.size && after.mtimeMs === before.mtimeMs) return staged
    await staged.discard()
    throw changed(path)
  } finally {
    await handle.close()
  }
}

/** Without O_NONBLOCK, opening a named pipe would wait for a writer for ever. */
async function openSource(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    throw unreadable(path, 'can not be read', error)
  }
}

/** Yields exactly `sizeBytes` bytes, in pieces that are valid until the next one is asked for. */
async function* readFully(
  handle: FileHandle,
  path: string,
  sizeBytes: number,
): AsyncGenerator<Uint8Array> {
  // One byte more than the file should have, to notice that it has grown.
  const buffer = new Uint8Array(Math.min(sizeBytes + 1, chunkBytes))
  let total = 0
  try {
    for await (const chunk of readChunks(handle, () => buffer)) {
      total += chunk.length
      if (total > sizeBytes) throw changed(path)
      yield chunk
    }
  } catch (error) {
    throw error instanceof StoreError ? error : unreadable(path, 'can not be read', error)
  }
  if (total < sizeBytes) throw changed(path)
}

async function* slicesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
}

async function collect(chunks: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(sizeBytes)
  let at = 0
  for await (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

function stagedSmall(bytes: Uint8Array): StagedArtifact {
  const nothing = async (): Promise<void> => undefined
  const cid = cidTextOf(bytes, 'raw')
  return { cid, sizeBytes: bytes.length, bytes, publish: nothing, discard: nothing }
}

/**
 * Writes the bytes of a large artifact to a temporary file in the store as they come, whatever they are: whoever knows
 * what its CID should be compares.
 *
 * @throws {StoreError} `HSTORE_STORE_FULL`, `HSTORE_STORE_READ_ONLY`; what `chunks` throws.
 */
export async function stageLarge(
  directory: string,
  sizeBytes: number,
  chunks: AsyncIterable<Uint8Array>,
): Promise<StagedArtifact> {
  const path = join(directory, 'tmp', randomUUID())
  noteTemporary(path)
  try {
    const cid = await writeTemporary(path, chunks)
    return stagedFile(directory, path, { cid, sizeBytes })
  } catch (error) {
    // The reason counts, not that its leavings could not be removed.
    await removeStaged(path).catch(() => undefined)
    throw storeErrorOf(error, directory)
  }
}

/** Returns an artifact whose file, in a folder of the store, is known to hash to its CID. */
export function stagedFile(
  directory: string,
  path: string,
  artifact: Pick<StagedArtifact, 'cid' | 'sizeBytes'>,
): StagedArtifact {
  let published: Promise<void> | undefined
  return {
    ...artifact,
    publish: () => (published ??= publishFile(directory, path, artifact.cid)),
    discard: () => removeStaged(path),
  }
}

/** Does nothing where the file was published. */
async function removeStaged(path: string): Promise<void> {
  await rm(path, { force: true })
  forgetTemporary(path)
}

/** Writes the bytes to a new file that nobody may write again, syncs it and returns their CID. */
async function writeTemporary(path: string, chunks: AsyncIterable<Uint8Array>): Promise<CidText> {
  // Empty folders get lost when a store is copied with tools that know files only.
  await mkdir(dirname(path), { mode: 0o700 }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
  const hash = createHash('sha256')
  const handle = await open(path, 'wx', 0o400)
  try {
    for await (const chunk of chunks) {
      hash.update(chunk)
      await handle.writeFile(chunk)
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
  return cidTextOfDigest(hash.digest(), 'raw')
}

/** A rename replaces whole files only, so it does no harm that others do the same with the same bytes. */
async function publishFile(directory: string, path: string, cid: CidText): Promise<void> {
  const target = artifactPath(directory, cid)
  try {
    const made = await makeFolder(dirname(target), 0o700)
    // not through a link that somebody put in the folder's place
    if (!(await lstat(dirname(target))).isDirectory()) throw notOurs(dirname(target))
    await rename(path, target)
    await syncFolder(dirname(target))
    if (made !== undefined) await syncFolder(dirname(dirname(target)))
  } catch (error) {
    // another process that had the same file has put it there
    const isDone = isAbsent(error) && (await checkArtifactFile(directory, cid)) === 'ok'
    if (!isDone) throw storeErrorOf(error, directory)
    await syncFolder(dirname(target))
  }
}

function notOurs(path: string): StoreError {
  const message = `${path}: is no folder of the store: remove it and put again`
  return new StoreError('HSTORE_STORE_UNREADABLE', message)
}

function changed(path: string): StoreError {
  return unreadable(path, 'changed while it was read: try again when nobody writes to it')
}

function unreadable(path: string, what: string, cause?: unknown): StoreError {
  return new StoreError('HSTORE_BLOCK_INVALID', `${path} ${what}`, { cause, details: { path } })
}
