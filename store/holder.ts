import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { readdir, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Place } from './place.ts'

// On the global object, so that two copies of this module in one process see each other's claims.
const claimsKey = Symbol.for('hstore.store.claims')
const shared = globalThis as { [claimsKey]?: Set<string> }

/**
 * Claims a database folder for this process and returns what gives the claim back, to be called once LevelDB is
 * closed; or undefined when the process holds the database already.
 *
 * POSIX drops a process's lock on a file when the process closes *any* descriptor of that file, and LevelDB opens and
 * closes its lock file on a second try. So a second try from the process that holds the database would silently let
 * other processes in; it has to be refused before it reaches LevelDB.
 *
 * @param directory - The store.
 * @param databasePath - Its database folder, as a real path.
 */
export async function claimDatabase(
  directory: string,
  databasePath: string,
): Promise<(() => void) | undefined> {
  const { dev, ino } = await stat(databasePath, { bigint: true })
  const id = `${dev}:${ino}`
  if (await isHeldByThread(directory, databasePath)) return undefined
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
  if (pid === undefined || pid === process.pid) return false
  const lockPath = join(databasePath, 'LOCK')
  const folder = `/proc/${pid}/fd`
  try {
    return readdirSync(folder).some((name) => readlinkOr(join(folder, name)).startsWith(lockPath))
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
  try {
    // a new file, since writing to one that is there would follow a link
    rmSync(holderPath(directory), { force: true })
    writeFileSync(holderPath(directory), `${process.pid}\n`, { mode: 0o600, flag: 'wx' })
  } catch {
    // Without the file, whoever waits is told that another process holds the database, not which.
  }
}

/** Removes the holder file if it names this process. */
export function removeHolder(directory: string): void {
  if (readPid(directory) === process.pid) rmSync(holderPath(directory), { force: true })
}

/**
 * Returns whether another thread of this process has the database open: threads share POSIX locks but not the claims.
 * The open file tells, so a holder file that a dead process of the same pid left behind does not count.
 */
async function isHeldByThread(directory: string, databasePath: string): Promise<boolean> {
  if (readPid(directory) !== process.pid) return false
  const lockPath = join(databasePath, 'LOCK')
  const descriptors = await readdir('/proc/self/fd').catch(() => [])
  const targets = await Promise.all(
    descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')),
  )
  return targets.includes(lockPath)
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
