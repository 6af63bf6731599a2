import { realpath } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { HandoffError } from '../errors.ts'
import { equalBytes } from '../kernel/bytes.ts'
import type { RelayFiles } from './files.ts'
import { awaitWriters, foldersOf } from './writer-lock.ts'

const mostReads = 20
const pauseMs = 50

/**
 * Returns a relay's files as they were at one moment: read twice with the same bytes, no other writer holding M8Shift's
 * lock between.
 *
 * @param name - Where the relay is.
 * @param read - Reads the files; what it throws twice running is thrown.
 * @param most - How long another writer is waited for, in milliseconds.
 * @throws {HandoffError} `HSTORE_RELAY_BUSY`; `HSTORE_INPUT_CHANGED` for files that change all the time.
 */
export async function readSteady(
  name: string,
  read: () => Promise<RelayFiles>,
  most?: number,
): Promise<RelayFiles> {
  let last: RelayFiles | undefined
  for (let i = 0; i < mostReads; i++) {
    const isFree = await awaitAll(name, most)
    const now = await read().catch(async (error: unknown) => {
      if (!(error instanceof HandoffError)) throw error
      await sleep(pauseMs) // a file that is being replaced may be missing for a moment
      return read()
    })
    if (isFree && last !== undefined && areSame(last, now)) return now
    last = now
  }
  const message = `${name} or its archive changes all the time: nothing was taken in; give the same command again`
  throw new HandoffError('HSTORE_INPUT_CHANGED', message, { details: { path: name } })
}

async function awaitAll(name: string, most: number | undefined): Promise<boolean> {
  const folders = await foldersOf(name, (one) => realpath(one).catch(() => one))
  const free: boolean[] = []
  for (const folder of folders) free.push(await awaitWriters(folder, most))
  return free.every(Boolean)
}

function areSame(a: RelayFiles, b: RelayFiles): boolean {
  const [from, to] = [a.archive?.bytes, b.archive?.bytes]
  const isSame = from === undefined || to === undefined ? from === to : equalBytes(from, to)
  return isSame && equalBytes(a.living.bytes, b.living.bytes)
}
