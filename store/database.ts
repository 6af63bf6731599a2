import { lstat, readFile, realpath, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BlockReader } from './block-store.ts'
import type { Change } from './commit.ts'
import { StoreError } from './errors.ts'
import { makeFolders } from './folders.ts'
import { claimDatabase, findHolder, removeHolder, writeHolder } from './holder.ts'
import type { IndexName } from './keyspace.ts'
import { encodeRow, rowKey } from './keyspace.ts'
import type { TextLevel } from './level-block-store.ts'
import { LevelDatabase } from './level-database.ts'
import { isAbsent, isLocked, storeErrorOf } from './level-errors.ts'

/** How a database is opened. */
export interface OpenOptions {
  /** How long to wait for another process that holds the database, in milliseconds; 0 is one try. */
  readonly waitMs: number
  /** Makes the folders and the database where they are not there yet. */
  readonly create?: boolean
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

  /** Resolves when all that was committed is on disk; rejects when a commit has failed. */
  flushed(): Promise<void>
  /** Resolves when nothing is on its way to disk. */
  settled(): Promise<void>

  /** Waits until all is written, then lets the next process in. */
  close(): Promise<void>
}

interface Place {
  readonly directory: string
  readonly databasePath: string
}

// 16 MiB: a batch of 256 puts takes 46 µs each then, 73 µs with LevelDB's 4 MiB.
const writeBufferSize = 16 * 1024 * 1024
const durable: object = { sync: true }
const formatKey = rowKey('meta', 'format')
const formatRow = encodeRow(['1'])

/**
 * Opens the database of a store and holds it until it is closed.
 *
 * @param directory - The store's folder, usually `.hstore`.
 * @throws {StoreError} `HSTORE_STORE_UNREADABLE` when there is no store, `HSTORE_STORE_NEWER` when a newer hstore made it.
 * @throws {StoreError} `HSTORE_STORE_BUSY` when another process still holds it after `waitMs`; `details` has `holder`,
 *   its pid where known, and `waitedMs`.
 * @throws {StoreError} `HSTORE_STORE_DAMAGED` when LevelDB can't open what is there.
 * @throws {StoreError} `HSTORE_STORE_READ_ONLY`, `HSTORE_STORE_FULL` when the file system takes no writes.
 */
export async function openDatabase(directory: string, options: OpenOptions): Promise<Database> {
  const { waitMs, create = false } = options
  if (!Number.isFinite(waitMs) || waitMs < 0) {
    throw new RangeError(`waitMs: wanted a finite number of milliseconds from 0 on, got ${waitMs}`)
  }
  if (create) await makeFolders(resolve(directory))
  const place = await findPlace(resolve(directory))
  const started = performance.now()
  for (let attempt = 0; ; attempt++) {
    const database = await tryOpen(place, create)
    if (database !== undefined) return database
    const waitedMs = performance.now() - started
    if (waitedMs >= waitMs) throw busy(place.directory, waitedMs)
    await sleep(Math.min(delayMs(attempt), waitMs - waitedMs))
  }
}

async function findPlace(directory: string): Promise<Place> {
  const databasePath = join(directory, 'db')
  try {
    if ((await lstat(databasePath)).isDirectory()) {
      await refuseLinks(directory, databasePath)
      // LevelDB tells databases apart by the spelling of their path.
      return { directory, databasePath: await realpath(databasePath) }
    }
  } catch (error) {
    if (!isAbsent(error)) throw storeErrorOf(error, directory)
  }
  const message = `${directory}: there is no hstore store: make one with hstore init`
  throw new StoreError('HSTORE_STORE_UNREADABLE', message)
}

/** LevelDB writes through links, so a store that somebody else packed could reach any file of the user's. */
async function refuseLinks(directory: string, databasePath: string): Promise<void> {
  for (const entry of await readdir(databasePath, { withFileTypes: true })) {
    if (!entry.isFile()) throw foreign(join(databasePath, entry.name))
  }
  for (const name of ['artifacts', 'tmp']) {
    const path = join(directory, name)
    const found = await lstat(path).catch((error: unknown) => {
      if (isAbsent(error)) return undefined
      throw error
    })
    if (found?.isDirectory() === false) throw foreign(path)
  }
}

function foreign(path: string): StoreError {
  const message = `${path}: is no regular part of a store (a link?): do not use this store, clone it anew`
  return new StoreError('HSTORE_STORE_UNREADABLE', message)
}

/** Returns the open database, or undefined when somebody else holds it. */
async function tryOpen(place: Place, create: boolean): Promise<Database | undefined> {
  const { directory, databasePath } = place
  try {
    const release = await claimDatabase(directory, databasePath)
    if (release === undefined) return undefined
    let level: TextLevel | undefined
    try {
      level = await openLevel(databasePath, create)
      writeHolder(directory)
      await settleFormat(level, directory, create)
      await refuseLoss(directory, databasePath)
    } catch (error) {
      await level?.close()
      release()
      throw error
    }
    return new LevelDatabase(level, directory, closerOf(level, directory, release))
  } catch (error) {
    if (isLocked(error)) return undefined
    throw storeErrorOf(error, directory)
  }
}

async function openLevel(databasePath: string, create: boolean): Promise<TextLevel> {
  const { Level } = await import('level')
  // LevelDB would make a new database over the remains of one that lost its CURRENT, and delete its tables.
  const createIfMissing = create && (await isBlank(databasePath))
  const level = new Level<string, string>(databasePath, { createIfMissing, writeBufferSize })
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
  if (row === formatRow) return
  if (row !== undefined) {
    const message = `${directory}: the store has format ${row}, made by a newer hstore: update hstore`
    throw new StoreError('HSTORE_STORE_NEWER', message)
  }
  if (!create || (await level.keys({ limit: 1 }).all()).length > 0) {
    const message = `${directory}: the database has lost rows: restore the store from a copy`
    throw new StoreError('HSTORE_STORE_DAMAGED', message)
  }
  await level.batch().put(formatKey, formatRow).write(durable)
}

/**
 * LevelDB leaves out what it can't read of its log, opens all the same and tells its own LOG, which begins anew with each
 * opening: so this is said once.
 */
async function refuseLoss(directory: string, databasePath: string): Promise<void> {
  const log = await readFile(join(databasePath, 'LOG'), 'latin1').catch(() => '')
  const [, lost] = /dropping (\d+) bytes/.exec(log) ?? []
  if (lost === undefined) return
  const message = `${directory}: the database's log was damaged and ${lost} bytes of it are lost: what was put last may be gone, compare with a copy; the rest opens next time`
  throw new StoreError('HSTORE_STORE_DAMAGED', message, { details: { lost: Number(lost) } })
}

function closerOf(level: TextLevel, directory: string, release: () => void): () => Promise<void> {
  return async () => {
    // Before the lock is given up: afterwards the file may be the next holder's.
    removeHolder(directory)
    await level.close()
    release()
  }
}

/** 3 to 40 ms, growing, half of it by chance, so that processes that wait together do not come back together. */
function delayMs(attempt: number): number {
  return Math.min(40, 3 * 1.4 ** attempt) * (0.5 + Math.random() / 2)
}

function busy(directory: string, waitedMs: number): StoreError {
  const holder = findHolder(directory)
  const who = holder === undefined ? 'another process' : `process ${holder}`
  const waited = `${(waitedMs / 1000).toFixed(1)} s`
  const message = `${directory} is held by ${who}, waited ${waited}: wait longer with --wait SECONDS, or let ${who} end`
  return new StoreError('HSTORE_STORE_BUSY', message, {
    details: { waitedMs: Math.round(waitedMs), ...(holder === undefined ? {} : { holder }) },
  })
}
