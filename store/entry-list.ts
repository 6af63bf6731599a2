import {
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs'
import { lstat, open, rename, rm } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { dirname, join } from 'node:path'
import { makeFolder } from '../src/kernel/files.ts'
import type { CidText } from './cid-text.ts'
import { isCidText } from './cid-text.ts'
import { syncFolder } from './folders.ts'
import { codeOf, isAbsent, storeErrorOf } from './level-errors.ts'

/*
 * Plain lists of entries beside the database, one CID a line. They are never needed to read a store.
 *
 * `acknowledged` has the entries in the order in which they reached the disk. It is a witness: LevelDB can lose its latest
 * writes to damage without a word, and then this list says so and names them. It is made anew from the blocks when it is
 * lost itself. `lost` has those that a rebuild had to go on without.
 */

/** The lists of a store. */
export type EntryList = 'acknowledged' | 'lost'

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants
// a pipe in the place of the list is not waited for
const appending = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK
const tailBytes = 4096
// seventeen million entries: a list that is longer is none of ours
const maxBytes = 1024 * 1024 * 1024

/** Adds to the list; opened at the first addition. */
export class AcknowledgedList {
  readonly #path: string
  #descriptor: number | undefined
  #isTorn = false

  constructor(directory: string) {
    this.#path = join(directory, 'acknowledged')
  }

  /**
   * Adds entries that are on disk. Not synced: the entries are safe by themselves, and a list that lacks some of them
   * says less, never something wrong. So a list that can't be written is no reason to refuse what is written.
   */
  add(cids: readonly CidText[]): void {
    if (cids.length === 0) return
    const text = `${this.#isTorn ? '\n' : ''}${cids.join('\n')}\n`
    try {
      this.#descriptor ??= openSync(this.#path, appending, 0o600)
      this.#isTorn = writeSync(this.#descriptor, text) < text.length
    } catch {
      this.#isTorn = true
    }
  }

  close(): void {
    if (this.#descriptor === undefined) return
    closeSync(this.#descriptor)
    this.#descriptor = undefined
  }
}

/** Returns the entry that was acknowledged last, as the list has it; undefined where it has none. */
export function findLastAcknowledged(directory: string): CidText | undefined {
  const descriptor = openList(directory, 'acknowledged')
  if (descriptor === undefined) return undefined
  try {
    const { size } = fstatSync(descriptor)
    const buffer = Buffer.alloc(Math.min(size, tailBytes))
    const bytesRead = readSync(descriptor, buffer, 0, buffer.length, size - buffer.length)
    return buffer.toString('latin1', 0, bytesRead).split('\n').findLast(isCidText)
  } finally {
    closeSync(descriptor)
  }
}

/** Yields what a list holds, in its order; lines that are no CID are passed over. */
export async function* readEntryList(directory: string, list: EntryList): AsyncGenerator<CidText> {
  const fd = openList(directory, list)
  if (fd === undefined) return
  let rest = ''
  for await (const chunk of createReadStream('', { fd, encoding: 'latin1' })) {
    const lines = `${rest}${String(chunk)}`.split('\n')
    // what is no line of the list may have no end
    rest = lines.pop()!.slice(0, tailBytes)
    for (const line of lines) if (isCidText(line)) yield line
  }
  if (isCidText(rest)) yield rest
}

/**
 * Writes a list anew, or removes it where it has nothing left, so that a crash leaves the old one or the new one.
 *
 * @throws {StoreError} `HSTORE_STORE_FULL`, `HSTORE_STORE_READ_ONLY` when the file system refuses.
 */
export async function writeEntryList(
  directory: string,
  list: EntryList,
  cids: Iterable<CidText>,
): Promise<void> {
  const path = join(directory, list)
  const temporary = join(directory, 'tmp', randomUUID())
  try {
    const lines = linesOf(cids)
    const first = lines.next()
    const isFolder = (await lstat(path).catch(() => undefined))?.isDirectory() === true
    await makeFolder(dirname(temporary), 0o700)
    // a file can't be put in the place of a folder, and what is in it may be somebody's
    if (isFolder) await rename(path, join(directory, 'tmp', randomUUID()))
    if (first.done === true) return await rm(path, { force: true })
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(first.value)
      for (const more of lines) await handle.writeFile(more)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, path)
    await syncFolder(directory)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw storeErrorOf(error, path)
  }
}

/** In pieces: a store may hold millions of entries. */
function* linesOf(cids: Iterable<CidText>): Generator<string> {
  let lines: string[] = []
  for (const cid of cids) {
    lines.push(`${cid}\n`)
    if (lines.length < 4096) continue
    yield lines.join('')
    lines = []
  }
  if (lines.length > 0) yield lines.join('')
}

/** The list, if it is a regular file: what else has its name can't be one. */
function openList(directory: string, list: EntryList): number | undefined {
  try {
    const descriptor = openSync(join(directory, list), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    const found = fstatSync(descriptor)
    if (found.isFile() && found.size <= maxBytes) return descriptor
    closeSync(descriptor)
    return undefined
  } catch (error) {
    if (isAbsent(error) || codeOf(error) === 'ELOOP') return undefined
    throw storeErrorOf(error, directory)
  }
}
