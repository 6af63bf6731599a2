import { randomUUID } from 'node:crypto'
import type { Stats } from 'node:fs'
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { codeOf } from './level-errors.ts'
import type { Place } from './place.ts'

/*
 * The system locks files by what they are, not by their names. So LevelDB's lock file has a second name, `lock` in the
 * store: whoever finds the first one deleted puts it back, and meets the lock of the process that holds the database.
 */

/** Returns the name of a database's lock file that is not LevelDB's own. */
export function lockFilePath({ directory }: Pick<Place, 'directory'>): string {
  return join(directory, 'lock')
}

/** Gives the lock file of a database both its names; to be called before it is locked, by who has claimed it. */
export function keepLockFile(place: Place): void {
  const { known, used } = namesOf(place)
  try {
    if (find(known)?.isFile() === false) renameSync(known, temporaryIn(place))
    if (find(known) === undefined) {
      create(used)
      linkSync(used, known)
    } else if (find(used) === undefined) linkSync(known, used)
    else if (find(known)?.ino !== find(used)?.ino) {
      // a copy of a store has two files; and who has locked the one that LevelDB made anew lets go of it
      const temporary = temporaryIn(place)
      linkSync(known, temporary)
      renameSync(temporary, used)
      // which does nothing where another process has just done the same
      rmSync(temporary, { force: true })
    }
  } catch (error) {
    // others may do the same; and some file systems have no links
    if (!['EEXIST', 'ENOENT', 'ENOTSUP', 'EOPNOTSUPP', 'EPERM'].includes(codeOf(error))) throw error
  }
}

/**
 * Returns whether this process, which has just opened the database, locked the file that others meet: LevelDB makes a new
 * one where the first name was deleted at the worst moment.
 */
export function isLockFileKept(place: Place): boolean {
  const { known, used } = namesOf(place)
  const right = find(known)?.ino
  const locked = findOpen(used) ?? find(used)?.ino
  return right === undefined || locked === undefined || right === locked
}

/** The file that this process has open under a name, deleted or not, as the system tells (Linux only). */
function findOpen(path: string): number | undefined {
  try {
    const names = [path, `${path} (deleted)`]
    const open = readdirSync('/proc/self/fd').find((name) => names.includes(targetOf(name)))
    return open === undefined ? undefined : fstatSync(Number(open)).ino
  } catch {
    return undefined
  }
}

function targetOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch {
    return ''
  }
}

/** Copies that know only files have left the empty folder out. */
function temporaryIn({ directory }: Place): string {
  const folder = join(directory, 'tmp')
  if (find(folder) === undefined) mkdirSync(folder, { mode: 0o700 })
  return join(folder, randomUUID())
}

function namesOf(place: Place): { known: string; used: string } {
  return { known: lockFilePath(place), used: join(place.databasePath, 'LOCK') }
}

function find(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

/** Copies that know only files with content may have left it out. */
function create(path: string): void {
  const { O_CREAT, O_NOFOLLOW, O_WRONLY } = constants
  closeSync(openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o600))
}
