import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Place } from './place.ts'

// On the global object, so that two copies of this module in one process see each other's claims.
const claimsKey = Symbol.for('hstore.store.claims')
const shared = globalThis as { [claimsKey]?: Set<string> }

/**
 * Claims the database of a store for this process and returns what gives the claim back, to be called once LevelDB is
 * closed; or undefined when the process holds the database already.
 *
 * POSIX drops a process's lock on a file when the process closes *any* descriptor of that file, and LevelDB opens and
 * closes its lock file on a second try. So a second try from the process that holds the database would silently let
 * other processes in; it has to be refused before it reaches LevelDB.
 *
 * @param directory - The store.
 * @param databasePath - Its database folder, as a real path.
 */
export function claimDatabase(directory: string, databasePath: string): (() => void) | undefined {
  // of the store, since a rebuild puts another database in the place of this one
  const { dev, ino } = statSync(dirname(databasePath), { bigint: true })
  const id = `${dev}:${ino}`
  // threads share POSIX locks but not the claims; a file left by a dead process of the same pid does not count
  if (readPid(directory) === process.pid && hasLockOpen(process.pid, databasePath)) return undefined
  const claims = (shared[claimsKey] ??= new Set())
  if (claims.has(id)) return undefined
  claims.add(id)
  return () => void claims.delete(id)
}

/** Returns the pid that the holder file names, or undefined when it names none that is alive. */
export function findHolder(directory: string): number | undefined {
  const pid = readPid(directory)
  return pid !== undefined && isAlive(pid) ? pid : undefined
}

/**
 * Returns whether the process that the holder file names has the database open, as the system tells (Linux only). Its
 * lock counts for nothing once somebody has deleted LevelDB's lock file: whoever came next would lock a new one, and two
 * writers would destroy the log.
 */
export function isHeldElsewhere({ directory, databasePath }: Place): boolean {
  const pid = readPid(directory)
  return pid !== undefined && pid !== process.pid && hasLockOpen(pid, databasePath)
}

/** Whether a process has the lock file open, deleted or not. A rebuild has it by another name, in a folder of its own. */
function hasLockOpen(pid: number, databasePath: string): boolean {
  const folder = `/proc/${pid}/fd`
  const store = `${dirname(databasePath)}/`
  try {
    return readdirSync(folder)
      .map((name) => readlinkOr(join(folder, name)))
      .some((path) => path.startsWith(store) && /\/LOCK(?: \(deleted\))?$/.test(path))
  } catch {
    return false
  }
}

function readlinkOr(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

/** Writes this process's pid into the holder file, if the file system lets it: the file is for messages. */
export function writeHolder(directory: string): void {
  const path = holderPath(directory)
  try {
    // a new file, since writing to one that is there would follow a link
    rmSync(path, { force: true })
    writeFileSync(path, `${process.pid}\n`, { mode: 0o600, flag: 'wx' })
  } catch {
    // Without the file, whoever waits is told that another process holds the database, not which.
    removeEmptyHolder(path)
  }
}

/** A full disk takes a file's name, but not what is in it. */
function removeEmptyHolder(path: string): void {
  try {
    if (readStart(path) === '') rmSync(path, { force: true })
  } catch {
    // nor does it matter
  }
}

/** Removes the holder file if it names this process. */
export function removeHolder(directory: string): void {
  if (readPid(directory) === process.pid) rmSync(holderPath(directory), { force: true })
}

function readPid(directory: string): number | undefined {
  const text = readStart(holderPath(directory))
  return /^[1-9][0-9]{0,9}\n?$/.test(text) ? Number(text) : undefined
}

/** The first bytes of a file that is no link, pipe or device; nothing where there is none. */
function readStart(path: string): string {
  let descriptor: number | undefined
  try {
    const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants
    descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    if (!fstatSync(descriptor).isFile()) return ''
    const bytes = Buffer.alloc(32)
    return bytes.toString('latin1', 0, readSync(descriptor, bytes))
  } catch {
    return ''
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Returns whether a process with this pid runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

function holderPath(directory: string): string {
  return join(directory, 'holder')
}
