import { asBuffer } from '../src/kernel/bytes.ts'
import { CidTable } from './cid-table.ts'
import type { CidText } from './cid-text.ts'
import { findLastAcknowledged, readEntryList } from './entry-list.ts'
import { StoreError } from './errors.ts'
import type { Settled } from './kept-logs.ts'
import { blockKey, blockRange, withoutSublevel } from './keyspace.ts'
import type { TextLevel } from './level-block-store.ts'
import type { Place } from './place.ts'

const keysAtOnce = 1000

/**
 * Refuses what LevelDB opens all the same: a log that it can't read whole, or a database whose latest writes or tables are
 * gone.
 *
 * @throws {StoreError} `HSTORE_STORE_DAMAGED`.
 */
export async function refuseLoss(
  level: TextLevel,
  { directory }: Place,
  kept: Settled,
): Promise<void> {
  const { doubt } = kept
  const lost = doubt === 'log' ? undefined : await findLost(level, directory, doubt === 'tables')
  if (doubt !== 'log' && lost === undefined) return kept.discard()
  throw lost === undefined
    ? lossOf(directory, "the database's log is damaged", {})
    : lossOf(directory, `entry ${lost} was acknowledged and is not in the database`, { cid: lost })
}

/** Returns an entry that was acknowledged and is not there; looks for the last one only, unless told to look at all. */
async function findLost(
  level: TextLevel,
  directory: string,
  all: boolean,
): Promise<CidText | undefined> {
  if (!all) {
    const cid = findLastAcknowledged(directory)
    return cid === undefined || isThere(level, cid) ? undefined : cid
  }
  const listed = new CidTable()
  for await (const cid of readEntryList(directory, 'acknowledged')) listed.add(cid)
  const isHeld = await findHeld(level, listed)
  for (let number = 0; number < listed.size; number++)
    if (isHeld[number] === 0 && !isThere(level, listed.at(number))) return listed.at(number)
  return undefined
}

/**
 * Returns which CIDs a database has as blocks, as far as its keys can be read: going through all of them takes half
 * the time of looking for each, or less.
 */
async function findHeld(level: TextLevel, cids: CidTable): Promise<Uint8Array> {
  const isHeld = new Uint8Array(cids.size)
  const keys = level.keys<Uint8Array>({ keyEncoding: 'view', ...blockRange() })
  try {
    for (let some = await keys.nextv(keysAtOnce); some.length > 0;) {
      for (const key of some) {
        const number = cids.find(withoutSublevel(asBuffer(key).toString('latin1')) as CidText)
        if (number !== undefined) isHeld[number] = 1
      }
      some = await keys.nextv(keysAtOnce)
    }
  } catch {
    // what can't be read is looked for by name
  } finally {
    await keys.close()
  }
  return isHeld
}

/** Read on this thread: the way to another one and back takes longer. */
function isThere(level: TextLevel, cid: CidText): boolean {
  return level.getSync(blockKey(cid), { valueEncoding: 'view' }) !== undefined
}

function lossOf(directory: string, what: string, details: object): StoreError {
  const message = `${directory}: ${what}: run hstore fsck`
  return new StoreError('HSTORE_STORE_DAMAGED', message, { details: { ...details } })
}
