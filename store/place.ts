import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreError } from './errors.ts'
import { isAbsent, storeErrorOf } from './level-errors.ts'

/** Where a store and its database lie. */
export interface Place {
  /** The store's folder, as an absolute path. */
  readonly directory: string
  /** The folder of LevelDB, as a real path: LevelDB tells databases apart by the spelling of their path. */
  readonly databasePath: string
}

/**
 * Returns where the database of a store lies.
 *
 * @throws {StoreError} `HSTORE_STORE_UNREADABLE` when there is none, or when it holds what is no regular file;
 * `HSTORE_STORE_DAMAGED` when it is gone, or a rebuild was cut short.
 *
 * @param name - The folder of the database, if not the one in use.
 */
export async function findPlace(directory: string, name = 'db'): Promise<Place> {
  const databasePath = join(directory, name)
  try {
    await waitForRename(directory, databasePath)
    if (lstatSync(databasePath).isDirectory()) {
      refuseLinks(directory, databasePath)
      return { directory, databasePath: realpathSync.native(databasePath) }
    }
  } catch (error) {
    if (!isAbsent(error)) throw storeErrorOf(error, directory)
  }
  if (replacedDatabases(directory).length > 0) {
    const message = `${directory}: a rebuild of the database was cut short: run hstore fsck --rebuild`
    throw new StoreError('HSTORE_STORE_DAMAGED', message)
  }
  if (existsSync(join(directory, 'acknowledged'))) {
    const message = `${databasePath}: the database of the store is gone: run hstore fsck`
    throw new StoreError('HSTORE_STORE_DAMAGED', message)
  }
  const message = `${directory}: there is no hstore store: make one with hstore init`
  throw new StoreError('HSTORE_STORE_UNREADABLE', message)
}

/** Where there is none, a rebuild may be just putting a new one in its place. */
async function waitForRename(directory: string, databasePath: string): Promise<void> {
  if (replacedDatabases(directory).length === 0) return
  for (let i = 0; i < 10 && !existsSync(databasePath); i++) await sleep(10)
}

/** The largest number of a database that a rebuild has replaced. */
export const maxReplaced = 999_999

/** Returns the names of the databases that rebuilds have replaced and kept, oldest first. */
export function replacedDatabases(directory: string): readonly string[] {
  return namesIn(directory)
    .filter((name) => /^damaged-[1-9]\d{0,5}$/.test(name))
    .sort((a, b) => Number(a.slice(8)) - Number(b.slice(8)))
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** LevelDB writes through links, so a store that somebody else packed could reach any file of the user's. */
function refuseLinks(directory: string, databasePath: string): void {
  for (const entry of readdirSync(databasePath, { withFileTypes: true })) {
    if (!entry.isFile()) throw foreign(join(databasePath, entry.name))
  }
  for (const name of ['artifacts', 'tmp']) {
    const path = join(directory, name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found?.isDirectory() === false) throw foreign(path)
  }
}

function foreign(path: string): StoreError {
  const message = `${path}: is no regular part of a store (a link?): do not use this store, clone it anew`
  return new StoreError('HSTORE_STORE_UNREADABLE', message)
}
