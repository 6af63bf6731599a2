import type { Stats } from 'node:fs'
import { lstatSync, rmdirSync, rmSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isAbsent, storeErrorOf } from './level-errors.ts'

/** A file that nothing in the store may need any more. */
export interface Leftover {
  readonly path: string
  readonly sizeBytes: number
  /** When its content, its name or its mode changed last, by the file system's clock, in ms since 1970. */
  readonly changedMs: number
}

/**
 * Yields what processes leave that are killed: files in the folder of temporary ones, a configuration half-written, and
 * what came from elsewhere and was never judged.
 */
export async function* listTemporaryFiles(directory: string): AsyncGenerator<Leftover> {
  const names = await readdir(join(directory, 'tmp')).catch(() => [])
  const halves = await readdir(directory).catch(() => [])
  const paths = [
    ...names.map((name) => join(directory, 'tmp', name)),
    ...halves.filter((name) => halfConfig.test(name)).map((name) => join(directory, name)),
    ...(await waitingFiles(join(directory, 'quarantine'))),
  ]
  for (const path of paths) {
    const file = await findLeftover(path)
    if (file !== undefined) yield file
  }
}

/** No link is followed: what a shipped store points at is nothing of this store's. */
async function waitingFiles(quarantine: string): Promise<string[]> {
  const paths: string[] = []
  for (const remote of await foldersIn(dirname(quarantine), basename(quarantine)))
    for (const folder of await foldersIn(remote))
      for (const name of await readdir(folder))
        if (waiting.test(name)) paths.push(join(folder, name))
  return paths
}

async function foldersIn(parent: string, only?: string): Promise<string[]> {
  const found = await readdir(parent, { withFileTypes: true }).catch(() => [])
  return found
    .filter((one) => one.isDirectory() && (only === undefined || one.name === only))
    .map(({ name }) => join(parent, name))
}

const waiting = /^(?:blocks|large|live|whole)(?:[-.]|$)/
const halfConfig = /^config\.json\.\d+\.[a-z\d]+\.tmp$/

/** Removes the folders of remotes in quarantine that hold nothing, and that nobody has used since `beforeMs`. */
export async function removeEmptyFolders(directory: string, beforeMs: number): Promise<void> {
  for (const quarantine of await foldersIn(directory, 'quarantine')) {
    for (const folder of await foldersIn(quarantine)) {
      try {
        if (changedMs(lstatSync(folder)) <= beforeMs) rmdirSync(folder)
      } catch {
        // what is in use is not empty
      }
    }
  }
}

/** Returns what a path has, unless it is gone or a folder. */
export async function findLeftover(path: string): Promise<Leftover | undefined> {
  try {
    const stats = await lstat(path)
    return stats.isDirectory()
      ? undefined
      : { path, sizeBytes: stats.size, changedMs: changedMs(stats) }
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw storeErrorOf(error, path)
  }
}

/**
 * Removes a file, unless it has changed or is gone by now. In one go, so that nothing of this process comes in between.
 *
 * @returns Whether it was removed.
 * @throws {StoreError} `HSTORE_STORE_READ_ONLY` when the file system refuses.
 */
export function removeUnchanged({ path, changedMs: before }: Leftover): boolean {
  try {
    const now = lstatSync(path, { throwIfNoEntry: false })
    if (now === undefined || changedMs(now) !== before) return false
    rmSync(path, { force: true })
    return true
  } catch (error) {
    throw storeErrorOf(error, path)
  }
}

/** A rename keeps the time of the content, so the later of both counts. */
function changedMs({ mtimeMs, ctimeMs }: Stats): number {
  return Math.max(mtimeMs, ctimeMs)
}
