import { closeSync, constants, existsSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants

function pathIn(directory: string): string {
  return join(directory, 'wanted')
}

/** Leaves word that somebody waits for a store's database. A word that can't be left makes the wait longer, no more. */
export function leaveWord(directory: string): void {
  try {
    closeSync(openSync(pathIn(directory), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600))
  } catch {
    // somebody else has, or the folder takes no files
  }
}

/** Takes the word back; who else waits leaves it again. */
export function takeWordBack(directory: string): void {
  try {
    rmSync(pathIn(directory), { force: true })
  } catch {
    // it is a file of no weight
  }
}

/** Returns whether somebody waits: who holds the database between two steps of its work lets go of it then. */
export function isWanted(directory: string): boolean {
  return existsSync(pathIn(directory))
}
