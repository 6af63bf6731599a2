import type { Stats } from 'node:fs'
import { constants } from 'node:fs'
import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { open, readdir, lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { asBuffer } from '../src/kernel/bytes.ts'
import type { BlockReader } from './block-store.ts'
import type { CidText } from './cid-text.ts'
import { digestOf, isCidText } from './cid-text.ts'
import { StoreError } from './errors.ts'
import { readChunks } from './file-chunks.ts'
import { codeOf, isAbsent, storeErrorOf } from './level-errors.ts'

/** What artifacts are read from: small ones lie in the database, large ones in files beside it. */
export interface ArtifactSource extends Pick<BlockReader, 'find' | 'getMany'> {
  /** The store's folder. */
  readonly directory: string
}

/** A file in the folder of large artifacts. */
export interface ArtifactFile {
  readonly path: string
  /** The CID that the file is named by; undefined when the name is none or the file lies in the wrong folder. */
  readonly cid: CidText | undefined
  readonly sizeBytes: number
}

const chunkBytes = 256 * 1024

/** Returns where a large artifact lies: in one of 1,024 folders named by two characters of its CID. */
export function artifactPath(directory: string, cid: CidText): string {
  return join(directory, 'artifacts', folderOf(cid), cid)
}

/**
 * Returns whether all bytes of an artifact are there and hash to its CID. A large one is read from its file in pieces.
 *
 * @throws {StoreError} `HSTORE_STORE_READ_ONLY` or another when the system refuses to read the file.
 */
export async function checkArtifact(
  source: ArtifactSource,
  cid: CidText,
): Promise<'ok' | 'missing' | 'corrupt'> {
  const [read] = await source.getMany([cid])
  if (read?.state === 'ok') return 'ok'
  const file = await checkArtifactFile(source.directory, cid)
  return file === 'missing' && read?.state === 'corrupt' ? 'corrupt' : file
}

/**
 * Yields the bytes of an artifact in order, in pieces of at most 1 MiB. They are proven only once the last one has
 * come: until then whoever takes them must be able to throw them away.
 *
 * @throws {StoreError} `HSTORE_BLOCK_NOT_FOUND` when the store does not hold it.
 * @throws {StoreError} `HSTORE_BLOCK_CORRUPT` after the last piece when the bytes do not hash to the CID.
 */
export async function* readArtifact(
  source: ArtifactSource,
  cid: CidText,
): AsyncGenerator<Uint8Array> {
  const bytes = await source.find(cid)
  if (bytes !== undefined) {
    yield bytes
    return
  }
  const hash = createHash('sha256')
  for await (const chunk of readFileOf(source.directory, cid, () => new Uint8Array(chunkBytes))) {
    hash.update(chunk)
    yield chunk
  }
  if (hash.digest().equals(asBuffer(digestOf(cid)))) return
  const path = artifactPath(source.directory, cid)
  const message = `${path}: the bytes do not hash to the name: remove the file and fetch or put the artifact again`
  throw new StoreError('HSTORE_BLOCK_CORRUPT', message, { details: { cid } })
}

/** Returns the size of an artifact in bytes, or undefined when the store does not hold it. */
export async function sizeOfArtifact(
  source: ArtifactSource,
  cid: CidText,
): Promise<number | undefined> {
  const bytes = await source.find(cid)
  if (bytes !== undefined) return bytes.length
  const file = await statOf(artifactPath(source.directory, cid), source.directory)
  return file?.isFile() ? file.size : undefined
}

/** Yields every file in the folder of large artifacts, in the order of their folders. Contents are not read. */
export async function* listArtifactFiles(directory: string): AsyncGenerator<ArtifactFile> {
  const root = join(directory, 'artifacts')
  for (const folder of await namesIn(root, directory)) {
    // over a link, another store's files would pass for this one's
    if ((await statOf(join(root, folder), directory))?.isDirectory() !== true) continue
    for (const name of await namesIn(join(root, folder), directory)) {
      const path = join(root, folder, name)
      const file = await statOf(path, directory)
      if (file === undefined || file.isDirectory()) continue
      const cid = isCidText(name) && folderOf(name) === folder ? name : undefined
      yield { path, cid, sizeBytes: file.size }
    }
  }
}

/** Returns what `checkArtifact` does for the file alone, whatever the database holds. */
export async function checkArtifactFile(
  directory: string,
  cid: CidText,
): Promise<'ok' | 'missing' | 'corrupt'> {
  const hash = createHash('sha256')
  const buffer = new Uint8Array(chunkBytes)
  try {
    for await (const chunk of readFileOf(directory, cid, () => buffer)) hash.update(chunk)
  } catch (error) {
    if (codeOf(error) === 'HSTORE_BLOCK_NOT_FOUND') return 'missing'
    if (codeOf(error) === 'HSTORE_BLOCK_CORRUPT') return 'corrupt'
    throw error
  }
  return hash.digest().equals(asBuffer(digestOf(cid))) ? 'ok' : 'corrupt'
}

async function* readFileOf(
  directory: string,
  cid: CidText,
  nextBuffer: () => Uint8Array,
): AsyncGenerator<Uint8Array> {
  const path = artifactPath(directory, cid)
  let handle: FileHandle | undefined
  try {
    // a link could lead anywhere, and a pipe would be waited at for ever
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    if (!(await handle.stat()).isFile()) throw noFile(path, cid)
    yield* readChunks(handle, nextBuffer)
  } catch (error) {
    if (codeOf(error) === 'ELOOP') throw noFile(path, cid)
    if (error instanceof StoreError) throw error
    if (!isAbsent(error)) throw storeErrorOf(error, path)
    const message = `${directory} holds no artifact ${cid}`
    throw new StoreError('HSTORE_BLOCK_NOT_FOUND', message, { details: { cid } })
  } finally {
    await handle?.close()
  }
}

function noFile(path: string, cid: CidText): StoreError {
  const message = `${path}: is no regular file: remove it and fetch or put the artifact again`
  return new StoreError('HSTORE_BLOCK_CORRUPT', message, { details: { cid } })
}

/** The last character of a raw CID has eight values only, the two before it have 32 each. */
function folderOf(cid: CidText): string {
  return cid.slice(-3, -1)
}

/** Names in a folder, sorted; none when it is not there or is no folder. */
async function namesIn(path: string, directory: string): Promise<string[]> {
  try {
    return (await readdir(path)).sort()
  } catch (error) {
    if (isAbsent(error)) return []
    throw storeErrorOf(error, directory)
  }
}

async function statOf(path: string, directory: string): Promise<Stats | undefined> {
  try {
    return await lstat(path)
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw storeErrorOf(error, directory)
  }
}
