import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { findManifest } from './level-manifest.ts'
import type { Place } from './place.ts'

/*
 * LevelDB ends a compaction that is under way when it is closed, and leaves a table that its list of tables (the
 * MANIFEST) does not name, as a kill does. A list that was cut leaves such tables too, and then entries may be lost. What
 * the list was when the database was closed tells the two apart, so that no opening after a plain close has to look for
 * every entry.
 */

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

function pathIn(directory: string): string {
  return join(directory, 'closed')
}

/** Notes what the list of tables is, once LevelDB is closed. A note that can't be written says nothing. */
export function noteClosed({ directory, databasePath }: Place): void {
  try {
    const digest = digestOf(databasePath)
    // a new file, since writing to one that is there would follow a link
    rmSync(pathIn(directory), { force: true })
    if (digest !== undefined)
      writeFileSync(pathIn(directory), `${digest}\n`, { mode: 0o600, flag: 'wx' })
  } catch {
    // the next opening looks for every entry where it has to
  }
}

/** Returns whether the list of tables is what it was when the database was closed last. */
export function isAsClosed({ directory, databasePath }: Place): boolean {
  const noted = readNote(pathIn(directory))
  return noted !== undefined && noted === digestOf(databasePath)
}

/** The name too: LevelDB begins a new list each time it opens, so that no note is of use after the next opening. */
function digestOf(databasePath: string): string | undefined {
  const manifest = findManifest(databasePath)
  if (manifest === undefined) return undefined
  return createHash('sha256').update(manifest.name).update(manifest.bytes).digest('hex')
}

/** Returns the note; undefined where there is none, or no regular file of its size. */
function readNote(path: string): string | undefined {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    const stats = fstatSync(descriptor)
    return stats.isFile() && stats.size === 65
      ? readFileSync(descriptor, 'latin1').trim()
      : undefined
  } catch {
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}
