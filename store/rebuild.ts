import { link, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { writeEntryList } from './entry-list.ts'
import { CidSet } from './cid-set.ts'
import type { CidText } from './cid-text.ts'
import { makeDatabase } from './database.ts'
import type { Database } from './database.ts'
import type { DamagedFile } from './database-files.ts'
import {
  assertRoom,
  dataFilesIn,
  gatherFiles,
  linkOrCopy,
  readRepairLog,
  tryLevel,
} from './database-files.ts'
import type { RowFinds } from './database-rows.ts'
import { copyDatabaseRows } from './database-rows.ts'
import type { DatabaseLock } from './database-lock.ts'
import { lockDatabase } from './database-lock.ts'
import { copyFileRows } from './file-rows.ts'
import { syncFolder } from './folders.ts'
import { keptFolders, salvagePath } from './kept-logs.ts'
import { storeErrorOf } from './level-errors.ts'
import type { Place } from './place.ts'
import { findPlace, maxReplaced, replacedDatabases } from './place.ts'
import { assertWait, waitForDatabase } from './wait.ts'

/** What could be read of a database, whatever state it is in. */
export interface Salvaged {
  /** A new database with every block whose bytes hash to its name; its indexes are empty. */
  readonly db: Database
  /** Files of the old one that gave nothing, or not all. */
  readonly damaged: readonly DamagedFile[]
  /** Blocks whose bytes do not hash to their names: left out. */
  readonly corrupt: ReadonlySet<CidText>
  /** Entries that the old database's index of entries names. */
  readonly named: Iterable<CidText>
}

/** What a new database has, and lacks. */
export interface Adopted {
  readonly entries: Iterable<CidText>
  /** Entries that it goes on without. */
  readonly lost: Iterable<CidText>
}

interface Finds extends RowFinds {
  readonly damaged: DamagedFile[]
}

/**
 * Reads what can be read of a store's database, with LevelDB's own repair, into a new one beside it, and puts the new one
 * in its place where `judge` says so. Nobody else gets at the database meanwhile. The old one is never written to; where
 * it is replaced, it is kept, in a folder `damaged-1` (or the next number) of the store.
 *
 * @param judge - Completes the new database, and returns its entries and those that are lost if it is to be put in place.
 * @returns Where the old database is kept; undefined where nothing was replaced.
 * @throws {StoreError} `HSTORE_STORE_BUSY`, `HSTORE_STORE_FULL`, `HSTORE_STORE_READ_ONLY`; the database is then as it was.
 */
export async function rebuildDatabase(
  directory: string,
  waitMs: number,
  judge: (salvaged: Salvaged) => Promise<Adopted | undefined>,
): Promise<string | undefined> {
  assertWait(waitMs)
  const store = resolve(directory)
  try {
    await takeBackReplaced(store, waitMs)
    await makeMissing(store)
    return await locked(store, waitMs, (place, work, lock) =>
      rebuildLocked(place, work, lock, judge),
    )
  } catch (error) {
    throw storeErrorOf(error, store)
  }
}

/**
 * Returns what LevelDB has against a store's database when it reads all of it, in words; undefined when nothing. It works
 * on a copy of what it would change, in a process of its own.
 *
 * @throws {StoreError} as `rebuildDatabase`.
 */
export async function findDatabaseFault(
  directory: string,
  waitMs: number,
): Promise<string | undefined> {
  assertWait(waitMs)
  const store = resolve(directory)
  try {
    return await locked(store, waitMs, async ({ databasePath }, work) => {
      const copy = join(work, 'copy')
      await gatherFiles(databasePath, copy, true)
      return tryLevel(copy, 'read')
    })
  } catch (error) {
    throw storeErrorOf(error, store)
  }
}

/** Does something with a database that nobody else gets at meanwhile, in a work folder of its own. */
async function locked<T>(
  store: string,
  waitMs: number,
  work: (place: Place, folder: string, lock: DatabaseLock) => Promise<T>,
): Promise<T> {
  const lock = await lockWaiting(await findPlace(store), waitMs)
  // one for all, since there is one who holds the lock: what is in it was left by one that was killed
  const folder = join(store, 'rebuild')
  try {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { mode: 0o700 })
    return await work(await findPlace(store), folder, lock)
  } finally {
    await rm(folder, { recursive: true, force: true }).finally(() => lock.release())
  }
}

async function lockWaiting(place: Place, waitMs: number): Promise<DatabaseLock> {
  return waitForDatabase(place.directory, waitMs, () => lockDatabase(place))
}

async function rebuildLocked(
  place: Place,
  work: string,
  lock: DatabaseLock,
  judge: (salvaged: Salvaged) => Promise<Adopted | undefined>,
): Promise<string | undefined> {
  const fresh = join(work, 'db')
  const sources = await sourcesOf(place)
  await assertRoom(place.directory, sources)
  await mkdir(fresh, { mode: 0o700 })
  const db = await makeDatabase(fresh, place.directory)
  let adopted: Adopted | undefined
  try {
    const finds: Finds = { damaged: [], corrupt: new Set(), named: new CidSet() }
    for (const [i, source] of sources.entries()) {
      await salvageFolder(source, join(work, String(i)), db, finds)
    }
    adopted = await judge({ db, ...finds })
  } finally {
    await db.close()
  }
  if (adopted === undefined) return undefined
  const kept = await replaceDatabase(place, fresh, lock)
  // first, so that no loss is forgotten where this process ends in between
  await writeEntryList(place.directory, 'lost', adopted.lost)
  await writeEntryList(place.directory, 'acknowledged', adopted.entries)
  return kept
}

/** The database's folder and those in which openings kept what they could not read whole. */
async function sourcesOf({ directory, databasePath }: Place): Promise<readonly string[]> {
  const salvage = salvagePath(directory)
  const isOwn = (await lstat(salvage).catch(() => undefined))?.isDirectory() === true
  const items = isOwn ? await readdir(salvage, { withFileTypes: true }) : []
  // a link would bring another store's blocks into this one
  const folders = items.filter((item) => item.isDirectory()).map(({ name }) => join(salvage, name))
  return [databasePath, ...folders, ...keptFolders(directory)]
}

/** Reads all files of a folder together; where LevelDB can't, each by itself, so that one does not hide the others. */
async function salvageFolder(
  source: string,
  work: string,
  db: Database,
  finds: Finds,
): Promise<void> {
  const names = await dataFilesIn(source)
  if (names.length === 0) return
  await gatherFiles(source, work, false)
  if ((await tryLevel(work, 'repair')) === undefined) {
    // read first: LevelDB begins another log each time that it opens
    const faults = await readRepairLog(work)
    await copyDatabaseRows(work, db, finds)
    for (const name of names) await salvageFile(join(source, name), faults.get(name), db, finds)
    return
  }
  for (const name of names) {
    const alone = `${work}-${name}`
    await mkdir(alone, { mode: 0o700 })
    await linkOrCopy(join(source, name), join(alone, name))
    const fault = (await tryLevel(alone, 'repair')) ?? (await readRepairLog(alone)).get(name)
    if ((await tryLevel(alone, 'read')) === undefined) await copyDatabaseRows(alone, db, finds)
    await salvageFile(join(source, name), fault, db, finds)
  }
}

/** Reads of a file what LevelDB left out: a table or a batch that is damaged in one place; of a log some without a word. */
async function salvageFile(
  path: string,
  why: string | undefined,
  db: Database,
  finds: Finds,
): Promise<void> {
  if (why !== undefined) finds.damaged.push({ path, why })
  if (why !== undefined || path.endsWith('.log')) await copyFileRows(path, db, finds.named)
}

/** Two renames; between them there is no database, and `takeBackReplaced` undoes the first. */
async function replaceDatabase(place: Place, fresh: string, lock: DatabaseLock): Promise<string> {
  const { directory, databasePath } = place
  const kept = await placeForReplaced(directory)
  // the same lock file, so that whoever waits for the old database waits for the new one
  await rm(join(fresh, 'LOCK'), { force: true })
  await link(lock.file, join(fresh, 'LOCK'))
  await syncFolder(fresh)
  await rename(databasePath, kept)
  await rename(fresh, databasePath)
  await syncFolder(directory)
  for (const folder of [salvagePath(directory), ...keptFolders(directory)]) {
    await rename(folder, join(kept, basename(folder))).catch(() => undefined)
  }
  return kept
}

/** A folder that is not there, with the next number; where somebody has used up the numbers, the first that is free. */
async function placeForReplaced(directory: string): Promise<string> {
  const last = Number(replacedDatabases(directory).at(-1)?.slice('damaged-'.length) ?? 0)
  for (let number = last < maxReplaced ? last + 1 : 1; ; number++) {
    const path = join(directory, `damaged-${number}`)
    if (!(await isThere(path))) return path
  }
}

/** Where a rebuild was killed between its two renames, the old database is put back. */
async function takeBackReplaced(store: string, waitMs: number): Promise<void> {
  const database = join(store, 'db')
  const last = replacedDatabases(store).at(-1)
  if (last === undefined || (await isThere(database))) return
  // the rebuild that holds the lock of both is not killed, only not done yet
  const lock = await lockWaiting(await findPlace(store, last), waitMs)
  try {
    if (!(await isThere(database))) await rename(join(store, last), database)
  } finally {
    await lock.release()
  }
}

/** A database that is gone has lost everything; what it had is named all the same. */
async function makeMissing(store: string): Promise<void> {
  const database = join(store, 'db')
  if (!(await isThere(database)) && (await isThere(join(store, 'acknowledged'))))
    await mkdir(database, { mode: 0o700 })
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined
}
