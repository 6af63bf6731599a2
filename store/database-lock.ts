import { constants } from 'node:fs'
import { link, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { claimDatabase, isHeldElsewhere, removeHolder, writeHolder } from './holder.ts'
import { codeOf, isLocked } from './level-errors.ts'
import type { Place } from './place.ts'

/**
 * Keeps every other process out of a database that may not open: takes LevelDB's own lock without opening what it
 * guards. A small database of our own is opened in `folder`, whose lock file is a link to the guarded one, and the
 * system locks files by what they are, not by their names.
 *
 * @param folder - Does not exist; removed when the lock is given back.
 * @returns What gives the lock back, or undefined when somebody else holds it.
 */
export async function lockDatabase(
  place: Place,
  folder: string,
): Promise<(() => Promise<void>) | undefined> {
  const { directory, databasePath } = place
  if (isHeldElsewhere(place)) return undefined
  const release = await claimDatabase(directory, databasePath)
  if (release === undefined) return undefined
  try {
    const close = await openLock(join(databasePath, 'LOCK'), folder)
    writeHolder(directory)
    return async () => {
      removeHolder(directory)
      await close()
      release()
    }
  } catch (error) {
    release()
    if (isLocked(error)) return undefined
    throw error
  }
}

async function openLock(lockPath: string, folder: string): Promise<() => Promise<void>> {
  await makeLockFile(lockPath)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await link(lockPath, join(folder, 'LOCK'))
  const { Level } = await import('level')
  const level = new Level(folder)
  try {
    await level.open()
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
  return async () => {
    await level.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Copies that know only files with content may have left the lock file out. */
async function makeLockFile(path: string): Promise<void> {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants
  try {
    const handle = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
    await handle.close()
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}
