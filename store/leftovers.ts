import type { Stats } from 'node:fs'
import { lstatSync, rmSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isAbsent, storeErrorOf } from './level-errors.ts'

/** A file that nothing in the store may need any more. */
export interface Leftover {
  readonly path: string
  readonly sizeBytes: number
  /** When its content, its name or its mode changed last, by the file system's clock, in ms since 1970. */
  readonly changedMs: number
}

/** Yields what processes leave that are killed: files in the folder of temporary ones, and a configuration half-written. */
export async function* listTemporaryFiles(directory: string): AsyncGenerator<Leftover> {
  const names = await readdir(join(directory, 'tmp')).catch(() => [])
  const halves = await readdir(directory).catch(() => [])
  const paths = [
    ...names.map((name) => join(directory, 'tmp', name)),
    ...halves.filter((name) => halfConfig.test(name)).map((name) => join(directory, name)),
  ]
  for (const path of paths) {
    const file = await findLeftover(path)
    if (file !== undefined) yield file
  }
}

const halfConfig = /^config\.json\.\d+\.[a-z\d]+\.tmp$/

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
