import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { AcknowledgedList } from './entry-list.ts'
import type { BlockReader } from './block-store.ts'
import { noteClosed } from './closed-state.ts'
import type { Change } from './commit.ts'
import { StoreError } from './errors.ts'
import { makeFolders } from './folders.ts'
import { claimDatabase, isHeldElsewhere, removeHolder, writeHolder } from './holder.ts'
import { KeptLogs } from './kept-logs.ts'
import type { IndexName } from './keyspace.ts'
import { encodeRow, rowKey } from './keyspace.ts'
import type { TextLevel } from './level-block-store.ts'
import { LevelDatabase } from './level-database.ts'
import { codeOf, isLocked, storeErrorOf } from './level-errors.ts'
import { loadLevel } from './level-module.ts'
import { isLockFileKept, keepLockFile } from './lock-file.ts'
import type { Place } from './place.ts'
import { findPlace } from './place.ts'
import { refuseLoss } from './refuse-loss.ts'
import { assertWait, waitForDatabase } from './wait.ts'

/** How a database is opened. */
export interface OpenOptions {
  /**
   * How long to wait for another process that holds the database, in milliseconds. Who keeps it open without need is given
   * 200 to let go of it, even where this is 0.
   */
  readonly waitMs: number
  /** Makes the folders and the database where they are not there yet. */
  readonly create?: boolean
  /** Blocks are read in the order of the disk: then few tables are held, and those that were read take no memory. */
  readonly scans?: boolean
}

/** A row of an index. */
export interface Row {
  readonly key: string
  readonly values: readonly string[]
}

/**
 * A store's database: blocks and the indexes over them, held by one process at a time.
 *
 * Rows are read synchronously and see what is committed but still on its way to disk. So whoever reads rows, builds a
 * change on them and calls `commit` without a wait in between can't be overtaken by others in the process.
 */
export interface Database extends BlockReader, AsyncDisposable {
  /** The store's folder, as an absolute path. */
  readonly directory: string

  /**
   * Returns the values of a row, or undefined when there is none.
   *
   * @throws {StoreError} `HSTORE_STORE_DAMAGED` when the row or the database can't be read.
   */
  readRow(index: IndexName, key: string): readonly string[] | undefined

  /**
   * Yields the rows of an index whose keys begin with `prefix`, in key order, as they are on disk once all that was
   * committed before the call is there.
   *
   * @throws {StoreError} `HSTORE_STORE_DAMAGED` when a row or the database can't be read.
   */
  rows(index: IndexName, prefix: string): AsyncIterable<Row>

  /** Yields the rows of `rows` in batches of at most 256: quicker over many. */
  rowBatches(index: IndexName, prefix: string): AsyncIterable<readonly Row[]>

  /**
   * Writes a change as a whole or not at all, and resolves once it is synced to disk. Changes that are committed while
   * another is being written share a batch and a sync.
   *
   * After a failed write this database takes no more: close it and open it again.
   *
   * @throws {StoreError} `HSTORE_BLOCK_CORRUPT` when a block's bytes do not hash to its CID; nothing is queued then.
   * @throws {StoreError} `HSTORE_STORE_FULL`, `HSTORE_STORE_READ_ONLY`, `HSTORE_STORE_DAMAGED` when this write, or one
   *   before it, failed: the change is not acknowledged.
   */
  commit(change: Change): Promise<void>

  /** How many changes were committed since the database was opened, whether they are on disk yet or not. */
  readonly commits: number

  /** Gives the room of what was deleted back to the file system. */
  compact(): Promise<void>

  /** Resolves when all that was committed is on disk; rejects when a commit has failed. */
  flushed(): Promise<void>
  /** Resolves when nothing is on its way to disk. */
  settled(): Promise<void>

  /** Waits until all is written, then lets the next process in. */
  close(): Promise<void>
}

// 8 MiB: LevelDB merges half as much as with its own 4 MiB; more lies twice on the disk when a store is closed.
const writeBufferSize = 8 * 1024 * 1024
// two or three packed bodies; with its own 4 KiB LevelDB keeps and looks through nearly as many index rows as bodies
const blockSize = 8 * 1024
// LevelDB takes no fewer; it maps the tables that it holds, each of 2 MiB
const fewestFiles = 74
const durable: object = { sync: true }
const formatKey = rowKey('meta', 'format')
const formatRow = encodeRow(['3'])
// 1 without packed blocks, 2 without rows of fingerprints over ranges, else the same
const olderFormatRows: readonly string[] = [encodeRow(['1']), encodeRow(['2'])]

/** What opens the database of a store: `openDatabase`, or a `KeptDatabase`, which does the same. */
export type OpenDatabase = (directory: string, options: OpenOptions) => Promise<Database>

/** How LevelDB is opened: as `OpenOptions` says. */
interface How {
  readonly create: boolean
  readonly scans: boolean
}

/** LevelDB, open and checked, of a store that this process holds. */
export interface HeldLevel {
  readonly place: Place
  readonly level: TextLevel
  /** Lets the next process in. */
  close(): Promise<void>
}

/**
 * Opens the database of a store and holds it until it is closed.
 *
 * @param directory - The store's folder, usually `.hstore`.
 * @throws {StoreError} `HSTORE_STORE_UNREADABLE` when there is no store, `HSTORE_STORE_NEWER` when a newer hstore made it.
 * @throws {StoreError} `HSTORE_STORE_BUSY` when another process still holds it after `waitMs`; `details` has `holder`,
 *   its pid where known, and `waitedMs`.
 * @throws {StoreError} `HSTORE_STORE_DAMAGED` when LevelDB can't open what is there.
 * @throws {StoreError} `HSTORE_STORE_READ_ONLY`, `HSTORE_STORE_FULL` when the file system takes no writes.
 * @throws {StoreError} `HSTORE_LEVELDB_MISSING` when LevelDB itself can't be loaded.
 */
export async function openDatabase(directory: string, options: OpenOptions): Promise<Database> {
  const held = await holdLevel(directory, options)
  return databaseOver(held, () => held.close())
}

/** Opens LevelDB as `openDatabase` does, and throws the same. */
export async function holdLevel(directory: string, options: OpenOptions): Promise<HeldLevel> {
  const { waitMs, create = false, scans = false } = options
  assertWait(waitMs)
  const folder = resolve(directory)
  if (create) await makeFolders(folder)
  const place = await findPlace(folder)
  return waitForDatabase(folder, waitMs, () => tryOpen(place, { create, scans }))
}

/**
 * Returns a database over a LevelDB that is held.
 *
 * @param closeLevel - Called once nothing is written any more.
 */
export function databaseOver(
  { level, place }: HeldLevel,
  closeLevel: () => Promise<void>,
): Database {
  const { directory } = place
  return new LevelDatabase(level, directory, closeLevel, new AcknowledgedList(directory))
}

/**
 * Makes an empty database in a folder of its own, for what a rebuild finds. What is written to it is not on the list of
 * acknowledged entries.
 *
 * @param directory - The store, for messages and artifacts.
 */
export async function makeDatabase(folder: string, directory: string): Promise<Database> {
  const level = await openLevel(folder, { create: true, scans: false })
  await settleFormat(level, directory, true)
  return new LevelDatabase(level, directory, () => level.close())
}

/** Returns LevelDB, open, or undefined when somebody else holds it. */
async function tryOpen(place: Place, how: How): Promise<HeldLevel | undefined> {
  const { directory, databasePath } = place
  if (isHeldElsewhere(place)) return undefined
  try {
    const release = claimDatabase(directory, databasePath)
    if (release === undefined) return undefined
    let level: TextLevel | undefined
    try {
      level = await openChecked(place, how)
    } finally {
      if (level === undefined) release()
    }
    if (level === undefined) return undefined
    return { place, level, close: closerOf(level, place, release) }
  } catch (error) {
    // without its folder: a rebuild is just putting a new database in its place
    if (isLocked(error) || !existsSync(databasePath)) return undefined
    throw storeErrorOf(error, directory)
  }
}

/** Opens LevelDB and refuses what it may have lost. */
async function openChecked(place: Place, how: How): Promise<TextLevel | undefined> {
  const { directory } = place
  const kept = new KeptLogs(place)
  let level: TextLevel | undefined
  try {
    level = await openLocked(place, how)
    if (level === undefined) return undefined
    writeHolder(directory)
    await settleFormat(level, directory, how.create)
    await refuseLoss(level, place, kept.settle())
    await raiseFormat(level)
    return level
  } catch (error) {
    // what LevelDB has deleted by now may be all that is left of it
    if (level !== undefined && codeOf(error) === 'HSTORE_STORE_DAMAGED') kept.settle().salvage()
    removeHolder(directory)
    await level?.close()
    throw error
  } finally {
    if (level === undefined) kept.drop()
  }
}

/**
 * Returns undefined where somebody else holds the database. Their lock counts for nothing when its file is deleted just
 * now, so they are asked for as late as can be, and the file is looked at once more.
 */
async function openLocked(place: Place, how: How): Promise<TextLevel | undefined> {
  await loadLevel()
  if (isHeldElsewhere(place)) return undefined
  keepLockFile(place)
  let level: TextLevel | undefined
  try {
    level = await openLevel(place.databasePath, how)
  } catch (error) {
    if (isLockFileKept(place)) throw error
  }
  if (isLockFileKept(place)) return level
  await level?.close()
  return undefined
}

async function openLevel(databasePath: string, { create, scans }: How): Promise<TextLevel> {
  const LevelDB = await loadLevel()
  // LevelDB would make a new database over the remains of one that lost its CURRENT, and delete its tables.
  const createIfMissing = create && (await isBlank(databasePath))
  const level = new LevelDB<string, string>(databasePath, {
    createIfMissing,
    writeBufferSize,
    blockSize,
    ...(scans ? { maxOpenFiles: fewestFiles } : {}),
  })
  await level.open()
  return level
}

async function isBlank(databasePath: string): Promise<boolean> {
  const names = await readdir(databasePath)
  return !names.some((name) => name === 'CURRENT' || /\.(?:ldb|sst|log)$/.test(name))
}

/** A database without its format row has lost what was in it; one that was being made when its process died is empty. */
async function settleFormat(level: TextLevel, directory: string, create: boolean): Promise<void> {
  const row = level.getSync(formatKey)
  if (row === formatRow || (row !== undefined && olderFormatRows.includes(row))) return
  if (row !== undefined) {
    const message = `${directory}: the store has format ${row}, made by a newer hstore: update hstore`
    throw new StoreError('HSTORE_STORE_NEWER', message)
  }
  if (!create || (await level.keys({ limit: 1 }).all()).length > 0) {
    const message = `${directory}: the database has lost rows: run hstore fsck`
    throw new StoreError('HSTORE_STORE_DAMAGED', message)
  }
  await writeFormat(level)
}

/** What is written from now on an older hstore can't read, or would not keep right. */
async function raiseFormat(level: TextLevel): Promise<void> {
  if (level.getSync(formatKey) !== formatRow) await writeFormat(level)
}

async function writeFormat(level: TextLevel): Promise<void> {
  await level.batch().put(formatKey, formatRow).write(durable)
}

function closerOf(level: TextLevel, place: Place, release: () => void): () => Promise<void> {
  return async () => {
    // Before the lock is given up: afterwards the file may be the next holder's.
    removeHolder(place.directory)
    await level.close()
    noteClosed(place)
    release()
  }
}
