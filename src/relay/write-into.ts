import { realpath, stat } from 'node:fs/promises'
import { writeDurably } from '../durable-file.ts'
import { HandoffError } from '../errors.ts'
import { equalBytes } from '../kernel/bytes.ts'
import { readBounded } from '../kernel/files.ts'
import type { WriterLock } from './writer-lock.ts'
import { foldersOf, takeWriterLock } from './writer-lock.ts'

/**
 * Writes a relay's file anew, under M8Shift's own lock and over nothing else than what was read.
 *
 * @param name - Where the relay is; its own place, links followed, is written.
 * @param before - What the file held.
 * @throws {HandoffError} `HSTORE_INPUT_CHANGED` when it holds something else; `HSTORE_RELAY_BUSY` when another writer keeps
 * the lock; `HSTORE_OUTPUT_UNWRITABLE`.
 */
export async function writeInto(
  name: string,
  before: Uint8Array,
  bytes: Uint8Array,
): Promise<void> {
  const locks: WriterLock[] = []
  try {
    for (const folder of await foldersOf(name, placeOf)) locks.push(await takeWriterLock(folder))
    const file = await placeOf(name)
    const assertStill = async (): Promise<void> => {
      const isHeld = await Promise.all(locks.map((lock) => lock.isHeld()))
      const isSame = isHeld.every(Boolean) && (await holds(file, before))
      if (!isSame) throw changed(name)
    }
    await assertStill()
    const { mode } = await stat(file)
    await writeDurably(file, bytes, mode & 0o777, assertStill)
  } finally {
    for (const lock of locks) await lock.release()
  }
}

function placeOf(name: string): Promise<string> {
  return realpath(name).catch(() => {
    throw changed(name)
  })
}

async function holds(file: string, bytes: Uint8Array): Promise<boolean> {
  const now = await readBounded(file, bytes.length).catch(() => undefined)
  return now !== undefined && equalBytes(now, bytes)
}

function changed(name: string): HandoffError {
  return new HandoffError(
    'HSTORE_INPUT_CHANGED',
    `${name} changed while the turn was appended: the turn is in the store, the file was left as it is; give the same command again`,
    { details: { path: name } },
  )
}
