import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { randomUUID } from 'node:crypto'
import { basename, join } from 'node:path'
import { isAsClosed } from './closed-state.ts'
import { StoreError } from './errors.ts'
import { isAlive } from './holder.ts'
import { isAbsent } from './level-errors.ts'
import { isDamagedLog } from './level-log.ts'
import { findUnnamedTables } from './level-manifest.ts'
import type { Place } from './place.ts'

/*
 * LevelDB reads its log when it opens, leaves out what it can't read, some of it without a word, and deletes the log.
 * So its logs are kept until the opening has turned out well; where it has not, they stay in `salvage` for a rebuild, and
 * the store is not used until then. Tables that the list of tables (the MANIFEST) does not name are kept too: they are
 * left by a process that was killed while it wrote them, or the list was cut, and LevelDB deletes or overwrites them. Not
 * so where the list is what it was at the last close.
 */

const maxLogBytes = 256 * 1024 * 1024
const keptName = /^kept-([1-9]\d{0,9})-/

/** What an opening may have lost: nothing; records of a damaged log; or tables, which only the entries can tell. */
type Doubt = 'log' | 'none' | 'tables'

/** What is known under the lock of the files that were kept. */
export interface Settled {
  readonly doubt: Doubt
  /** Lets go of them: nothing was lost. */
  readonly discard: () => void
  /** Leaves them for a rebuild. */
  readonly salvage: () => void
}

/** Returns where files lie that an opening may not have read whole. */
export function salvagePath(directory: string): string {
  return join(directory, 'salvage')
}

/** Returns the folders in which openings keep files, or kept them and were killed. */
export function keptFolders(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((item) => item.isDirectory() && keptName.test(item.name))
    .map(({ name }) => join(directory, name))
}

/** Throws `HSTORE_STORE_DAMAGED` while there is something to salvage. */
function assertNothingToSalvage(directory: string): void {
  if (!existsSync(salvagePath(directory))) return
  const message = `${directory}: the database is damaged, and files of it are kept in ${salvagePath(directory)}: run hstore fsck --rebuild`
  throw new StoreError('HSTORE_STORE_DAMAGED', message)
}

/** The files that one opening keeps. */
export class KeptLogs {
  readonly #place: Place
  readonly #folder: string
  #isEmpty = true

  /** Keeps what LevelDB may lose when it opens: logs as links, where the file system has them, and tables as copies. */
  constructor(place: Place) {
    assertNothingToSalvage(place.directory)
    this.#place = place
    this.#folder = join(place.directory, `kept-${process.pid}-${randomUUID()}`)
    try {
      const names = readdirSync(place.databasePath)
      for (const name of logsIn(place, names)) this.#keep(name, linkSync)
      const unnamed = isAsClosed(place) ? [] : findUnnamedTables(place.databasePath, names)
      for (const name of unnamed) this.#keep(name, copyFileSync)
    } catch (error) {
      this.drop()
      throw error
    }
  }

  /** Lets go of what this opening kept: it did not come to pass. */
  drop(): void {
    if (!this.#isEmpty) rmSync(this.#folder, { recursive: true, force: true })
    this.#isEmpty = true
  }

  /**
   * Takes account of what this opening kept, and what openings kept that were killed; to be called under the lock.
   */
  settle(): Settled {
    const folders = this.#foldersToSettle()
    const doubts = folders.map(doubtOf)
    return {
      doubt:
        doubts.find((doubt) => doubt === 'log') ??
        doubts.find((doubt) => doubt === 'tables') ??
        'none',
      discard: () => {
        for (const folder of folders) rmSync(folder, { recursive: true, force: true })
        this.#isEmpty = true
      },
      salvage: () => {
        for (const folder of folders) moveToSalvage(this.#place.directory, folder)
        this.#isEmpty = true
      },
    }
  }

  /** A live process may be waiting for the database, or have nothing to do with it: only the pid is the same. */
  #foldersToSettle(): readonly string[] {
    return keptFolders(this.#place.directory).filter((folder) => {
      const pid = Number(keptName.exec(basename(folder))?.[1])
      return pid === process.pid || !isAlive(pid) || doubtOf(folder) === 'log'
    })
  }

  #keep(name: string, take: (from: string, to: string) => void): void {
    const from = join(this.#place.databasePath, name)
    const to = join(this.#folder, name)
    if (this.#isEmpty) mkdirSync(this.#folder, { mode: 0o700 })
    this.#isEmpty = false
    try {
      take(from, to)
    } catch {
      // the holder of the database may have deleted it by now, or the folder, where it is in another container
      if (!existsSync(from)) return
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      copyFileSync(from, to)
    }
  }
}

/** What a folder of kept files says; nothing when whoever kept them takes them away meanwhile. */
function doubtOf(folder: string): Doubt {
  let doubt: Doubt = 'none'
  for (const name of namesIn(folder)) {
    if (!name.endsWith('.log')) doubt = 'tables'
    else if (isDamaged(join(folder, name))) return 'log'
  }
  return doubt
}

/** The regular files: what else has a name there nobody has kept. */
function namesIn(folder: string): readonly string[] {
  const items = unlessGone(() => readdirSync(folder, { withFileTypes: true })) ?? []
  return items.filter((item) => item.isFile()).map(({ name }) => name)
}

/** LevelDB begins a new log long before: one that is larger was not written by it alone. */
function isDamaged(log: string): boolean {
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0
  if (size > maxLogBytes) return true
  return isDamagedLog(unlessGone(() => readFileSync(log)) ?? new Uint8Array())
}

function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

function moveToSalvage(directory: string, folder: string): void {
  const to = salvagePath(directory)
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (let i = 1; ; i++) {
    const path = join(to, String(i))
    if (existsSync(path)) continue
    unlessGone(() => renameSync(folder, path))
    return
  }
}

function logsIn({ databasePath }: Place, names: readonly string[]): readonly string[] {
  return names.filter((name) => name.endsWith('.log') && sizeOf(databasePath, name) > 0)
}

function sizeOf(databasePath: string, name: string): number {
  return statSync(join(databasePath, name), { throwIfNoEntry: false })?.size ?? 0
}
