import { constants } from 'node:fs'
import { lstat, open, unlink } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { HandoffError } from '../errors.ts'
import { whyUnwritten } from '../kernel/errno.ts'
import { readBounded } from '../kernel/files.ts'
import { forgetTemporary, noteTemporary } from '../kernel/temporaries.ts'

/** As long as M8Shift waits for its lock, looks again, and takes a lock for one that was left behind. */
const waitMs = 10_000
const pauseMs = 50
const staleMs = 60_000
const tokenBytes = 256

/** The lock that M8Shift's own commands take before they write a relay, held. */
export interface WriterLock {
  /** Whether it is still held: one that is older than a minute may be taken away. */
  isHeld(): Promise<boolean>
  release(): Promise<void>
}

/**
 * Takes the lock of the relay in a folder as M8Shift does: a new file `.m8shift.lock` that says who holds it. One that is
 * older than a minute was left behind, and goes.
 *
 * @param most - How long to wait for another writer, in milliseconds.
 * @throws {HandoffError} `HSTORE_RELAY_BUSY` when another writer keeps it; `HSTORE_OUTPUT_UNWRITABLE`.
 */
export async function takeWriterLock(folder: string, most: number = waitMs): Promise<WriterLock> {
  const file = path.join(folder, '.m8shift.lock')
  const token = `${process.pid}:${process.hrtime.bigint()}${Math.random().toString().slice(2)}`
  await takeFile(file, token, most, () => removeStale(file, token, most))
  noteTemporary(file)
  return {
    isHeld: () => isTokenOf(file, token),
    async release() {
      await guarded(file, token, most, async () => {
        if (await isTokenOf(file, token)) await unlink(file)
      }).catch(() => undefined) // what stays is stale in a minute
      forgetTemporary(file)
    },
  }
}

/** Returns the folders in which M8Shift may lock a relay: where it finds it, be it by a link. */
export async function foldersOf(
  name: string,
  placeOf: (name: string) => Promise<string>,
): Promise<ReadonlySet<string>> {
  return new Set([await placeOf(path.dirname(name)), path.dirname(await placeOf(name))])
}

/**
 * Waits until no other writer holds the lock of the relay in a folder. One that was left behind does not count.
 *
 * @returns Whether nobody held it at once.
 * @throws {HandoffError} `HSTORE_RELAY_BUSY` after `most` milliseconds.
 */
export async function awaitWriters(folder: string, most: number = waitMs): Promise<boolean> {
  const file = path.join(folder, '.m8shift.lock')
  const started = performance.now()
  for (let isFree = true; ; isFree = false) {
    const found = await lstat(file).catch(() => undefined)
    if (found === undefined || (await isStale(file))) return isFree
    if (performance.now() - started >= most) throw busy(file, most, 'nothing was read')
    await sleep(pauseMs)
  }
}

async function takeFile(
  file: string,
  token: string,
  most: number,
  clear: () => Promise<boolean>,
): Promise<void> {
  const started = performance.now()
  while (!(await makeFile(file, token))) {
    if (await clear()) continue
    if (performance.now() - started >= most) throw busy(file, most, 'the turn is in the store')
    await sleep(pauseMs)
  }
}

async function makeFile(file: string, token: string): Promise<boolean> {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants
  try {
    await using handle = await open(file, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600)
    await handle.writeFile(token).catch(async (error: unknown) => {
      await isGone(file) // else an empty lock would hold up everybody for a minute
      throw error
    })
    return true
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false
    const message = `${file} can't be written: ${whyUnwritten(cause)}`
    throw new HandoffError('HSTORE_OUTPUT_UNWRITABLE', message, { cause })
  }
}

/** M8Shift removes its lock under a second one, so that nobody removes the lock of who came next. */
async function guarded<T>(
  file: string,
  token: string,
  most: number,
  work: () => Promise<T>,
): Promise<T> {
  const guard = `${file}.takeover`
  await takeFile(guard, token, most, async () => (await isStale(guard)) && (await isGone(guard)))
  try {
    return await work()
  } finally {
    if (await isTokenOf(guard, token)) await isGone(guard)
  }
}

async function removeStale(file: string, token: string, most: number): Promise<boolean> {
  if (!(await isStale(file))) return false
  return guarded(file, token, most, async () => (await isStale(file)) && (await isGone(file)))
}

async function isStale(file: string): Promise<boolean> {
  const found = await lstat(file).catch(() => undefined)
  return found?.isFile() === true && Date.now() - found.mtimeMs > staleMs
}

async function isGone(file: string): Promise<boolean> {
  return unlink(file).then(
    () => true,
    () => false,
  )
}

async function isTokenOf(file: string, token: string): Promise<boolean> {
  const held = await readBounded(file, tokenBytes).catch(() => undefined)
  return held !== undefined && Buffer.from(held).toString() === token
}

function busy(file: string, most: number, stand: string): HandoffError {
  return new HandoffError(
    'HSTORE_RELAY_BUSY',
    `${file} is held by another writer of the relay, waited ${most / 1000} s: ${stand}; give the same command again, a minute later where the holder may be dead: then the lock counts no more`,
    { details: { path: file } },
  )
}
