import type { Stats } from 'node:fs'
import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isAbsent, storeErrorOf } from './level-errors.ts'

/** A file that nothing in the store may need any more. */
export interface Leftover {
  readonly path: string
  readonly sizeBytes: number
  /** When its content, its name or its mode changed last, by the file system's clock, in ms since 1970. */
  readonly changedMs: number
}

/** Yields the files in the folder of temporary files: what staged artifacts leave when their process is killed. */
export async function* listTemporaryFiles(directory: string): AsyncGenerator<Leftover> {
  const folder = join(directory, 'tmp')
  for (const name of await readdir(folder).catch(() => [])) {
    const file = await findLeftover(join(folder, name))
    if (file !== undefined) yield file
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
 * Removes a file.
 *
 * @throws {StoreError} `HSTORE_STORE_READ_ONLY` when the file system refuses.
 */
export async function removeLeftover({ path }: Leftover): Promise<void> {
  try {
    await rm(path, { force: true })
  } catch (error) {
    throw storeErrorOf(error, path)
  }
}

/** A rename keeps the time of the content, so the later of both counts. */
function changedMs({ mtimeMs, ctimeMs }: Stats): number {
  return Math.max(mtimeMs, ctimeMs)
}
