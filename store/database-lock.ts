import type { Level } from 'level'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { claimDatabase, isAlive, isHeldElsewhere, removeHolder, writeHolder } from './holder.ts'
import { isLocked } from './level-errors.ts'
import { loadLevel } from './level-module.ts'
import { keepLockFile, lockFilePath } from './lock-file.ts'
import type { Place } from './place.ts'

/** The lock of a database, held. */
export interface DatabaseLock {
  /** A path of the locked file that nobody else knows: the one that all know may be deleted. */
  readonly file: string
  /** Gives the lock back. */
  release(): Promise<void>
}

const lockName = /^lock-([1-9]\d{0,9})-/

/**
 * Keeps every other process out of a database that may not open: takes LevelDB's own lock without opening what it
 * guards. A small database of our own is opened whose lock file is a link to the guarded one, and the system locks files
 * by what they are, not by their names.
 *
 * @returns Undefined when somebody else holds it.
 */
export async function lockDatabase(place: Place): Promise<DatabaseLock | undefined> {
  const { directory, databasePath } = place
  if (isHeldElsewhere(place)) return undefined
  const unclaim = claimDatabase(directory, databasePath)
  if (unclaim === undefined) return undefined
  const folder = join(directory, `lock-${process.pid}-${randomUUID()}`)
  let isMade = false
  try {
    keepLockFile(place)
    await mkdir(folder, { mode: 0o700 })
    isMade = true
    const level = await openLock(lockFilePath(place), folder)
    writeHolder(directory)
    await removeLeftovers(directory)
    const release = async (): Promise<void> => {
      removeHolder(directory)
      await level.close()
      await rm(folder, { recursive: true, force: true })
      unclaim()
    }
    return { file: join(folder, 'LOCK'), release }
  } catch (error) {
    // who holds the lock in another container takes this process for dead
    const isCleared = isMade && !existsSync(folder)
    await rm(folder, { recursive: true, force: true }).catch(() => undefined)
    unclaim()
    // without its folder: a rebuild is just putting a new database in its place
    if (isLocked(error) || isCleared || !existsSync(databasePath)) return undefined
    throw error
  }
}

async function openLock(lockPath: string, folder: string): Promise<Level> {
  await link(lockPath, join(folder, 'LOCK'))
  const LevelDB = await loadLevel()
  const level = new LevelDB(folder)
  await level.open()
  return level
}

/** What processes that were killed used to try the lock with. */
async function removeLeftovers(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const pid = Number(lockName.exec(name)?.[1] ?? process.pid)
    if (!isAlive(pid)) await rm(join(directory, name), { recursive: true, force: true })
  }
}
