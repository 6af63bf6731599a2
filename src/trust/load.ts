import type { VerifiedEntry } from '../entry/entry.ts'
import { decodeEntry } from '../entry/decode.ts'
import { findVerified } from '../entry/verify.ts'
import { decodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Database } from '../../store/database.ts'
import { entryPrefix, parseEntryKey } from '../../store/keyspace.ts'
import { HstoreError } from '../kernel/errors.ts'
import { HandoffError } from '../errors.ts'
import type { RosterPath } from './path.ts'
import { acceptPath, gatherCandidates } from './path.ts'
import { readRoster } from './read-roster.ts'
import type { Roster } from './roster.ts'

/**
 * Returns the accepted path of rosters in a store, computed from its blocks.
 *
 * @param pinned - The path that this user has accepted; the store's has to contain it.
 * @throws {HandoffError} `HSTORE_ROSTER_ROLLBACK` when the store's path ends before `pinned` does, or leaves it, naming
 * the damaged block where that is the reason.
 */
export async function loadRosterPath(
  db: Database,
  genesis: CidText,
  pinned: readonly CidText[],
): Promise<RosterPath> {
  const damage: HstoreError[] = []
  const entries = await readRosterEntries(db, damage)
  const rosters = new Map<CidText, Roster>()
  for (const body of new Set(entries.map((entry) => entry.body))) {
    const roster = await readOr(damage, async () => readRoster(decodeForm(await db.get(body)).form))
    if (roster !== undefined) rosters.set(body, roster)
  }
  const candidates = gatherCandidates(entries, (body) => rosters.get(body))
  const found = acceptPath(genesis, candidates, pinned)
  if (found.path.length > 0 && pinned.every((body, i) => found.path[i]?.body === body)) return found
  throw rollback(genesis, found, pinned, damage)
}

function rollback(
  genesis: CidText,
  found: RosterPath,
  pinned: readonly CidText[],
  damage: readonly HstoreError[],
): HandoffError {
  const cause = damage[0]
  const wanted = pinned[found.path.length] ?? genesis
  const reason = cause === undefined ? `roster ${wanted} is not in it` : cause.message
  return new HandoffError(
    'HSTORE_ROSTER_ROLLBACK',
    `the store does not hold the rosters accepted on this machine: ${reason}; restore the store from a copy`,
    { cause, details: { genesis, cid: cause?.details['cid'] ?? wanted } },
  )
}

async function readRosterEntries(db: Database, damage: HstoreError[]): Promise<VerifiedEntry[]> {
  const entries: VerifiedEntry[] = []
  for await (const cid of entriesOf(db, 'roster')) {
    const entry = await readOr(damage, async () =>
      findVerified(decodeEntry(cid, await db.get(cid))),
    )
    if (entry?.kind === 'roster') entries.push(entry)
  }
  return entries
}

/** Yields the CIDs of a stream's entries, by seq and then CID. */
export async function* entriesOf(db: Database, stream: string): AsyncIterable<CidText> {
  await db.settled()
  for await (const { key } of db.rows('entries', entryPrefix(stream))) yield parseEntryKey(key).cid
}

async function readOr<T>(damage: HstoreError[], read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof HstoreError)) throw error
    damage.push(error)
    return undefined
  }
}
