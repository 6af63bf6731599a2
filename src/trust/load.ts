import { createHash } from 'node:crypto'
import type { VerifiedEntry } from '../entry/entry.ts'
import { decodeEntry } from '../entry/decode.ts'
import { findVerified } from '../entry/verify.ts'
import { decodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Database } from '../../store/database.ts'
import { entryPrefix, parseEntryKey } from '../../store/keyspace.ts'
import { HstoreError } from '../kernel/errors.ts'
import { HandoffError } from '../errors.ts'
import type { Ground } from './ground.ts'
import type { Pins } from './pin-file.ts'
import { unpinned } from './pin-file.ts'
import { Trust } from './standing.ts'
import type { RosterPath } from './path.ts'
import { acceptPath, gatherCandidates } from './path.ts'
import { readRoster } from './read-roster.ts'
import type { Roster } from './roster.ts'

/** What the store's rosters come to, and what to pin beside the keys. */
export interface LoadedTrust {
  readonly trust: Trust
  readonly pins: Pins
}

/**
 * Returns the trust that a store's rosters give, held against what this user accepted before.
 *
 * Where the roster stream holds the same entries as then, the pinned path is the answer: its bodies are named by their
 * bytes, so none of the signatures that led there has to be checked again.
 *
 * @throws {HandoffError} `HSTORE_ROSTER_ROLLBACK` when the store's path ends before the pinned one does, or leaves it,
 * or lacks a roster that stood against another, or a freeze; names the damaged block where that is the reason.
 */
export async function loadTrust(
  db: Database,
  genesis: CidText,
  pins: Pins | undefined,
  ground: Ground,
): Promise<LoadedTrust> {
  const cids = await rosterEntries(db)
  const entries = createHash('sha256').update(cids.join()).digest('hex')
  const known =
    pins !== undefined && pins.entries === entries && pins.fork.length === 0
      ? await findPinned(db, genesis, pins, ground)
      : undefined
  if (known !== undefined && pins !== undefined) return { trust: known, pins }
  const read = await readRosterStream(db, cids)
  const before = pins ?? unpinned(genesis)
  const { path, fork, beside } = await acceptedPath(db, genesis, before, read)
  const freezes = read.entries.filter(({ kind }) => kind === 'freeze')
  const lost = pins?.freezes.find((cid) => freezes.every((entry) => entry.cid !== cid))
  if (lost !== undefined) throw rollback(genesis, `the freeze ${lost}`, lost, read.damage)
  const bodies = path.map(({ body }) => body)
  const { body, roster } = path.at(-1)!
  const chosen = body === before.chosen ? body : null
  return {
    trust: new Trust({ genesis, path: bodies, roster, fork, chosen, beside, freezes, ground }),
    pins: { path: bodies, fork, entries, chosen, beside, freezes: freezes.map(({ cid }) => cid) },
  }
}

async function findPinned(
  db: Database,
  genesis: CidText,
  { path, chosen, beside, freezes }: Pins,
  ground: Ground,
): Promise<Trust | undefined> {
  const body = path.at(-1)
  const roster = body === undefined ? undefined : await readOr([], () => rosterOf(db, body))
  if (roster === undefined || roster.version !== path.length - 1) return undefined
  const notes = freezes.map((cid) => ground.findEntry(cid))
  if (!notes.every((note) => typeof note !== 'string')) return undefined
  return new Trust({ genesis, path, roster, fork: [], chosen, beside, freezes: notes, ground })
}

async function rosterOf(db: Database, body: CidText): Promise<Roster> {
  return readRoster(decodeForm(await db.get(body)).form)
}

/** What the roster stream holds, and what of it can't be read. */
interface RosterStream {
  readonly entries: readonly VerifiedEntry[]
  readonly damage: HstoreError[]
}

/** The accepted path, computed from the blocks of the roster stream. */
async function acceptedPath(
  db: Database,
  genesis: CidText,
  pins: Pins,
  { entries, damage }: RosterStream,
): Promise<RosterPath> {
  const rosters = new Map<CidText, Roster>()
  for (const body of new Set(
    entries.flatMap(({ kind, body }) => (kind === 'roster' ? [body] : [])),
  )) {
    const roster = await readOr(damage, () => rosterOf(db, body))
    if (roster !== undefined) rosters.set(body, roster)
  }
  const candidates = gatherCandidates(entries, (body) => rosters.get(body))
  const found = acceptPath(genesis, candidates, pins)
  const lost =
    pins.path.find((body, i) => found.path[i]?.body !== body && !isAtIssue(found, body)) ??
    pins.fork.find((body) => candidates.every((candidate) => candidate.body !== body))
  if (lost === undefined) return found
  // one damaged block may hide another behind it
  if (damage.length > 0)
    for (const body of pins.path) await readOr(damage, () => rosterOf(db, body))
  throw rollback(genesis, `roster ${lost}`, lost, damage)
}

/** Only the end of a path can be: what was followed stays. */
function isAtIssue({ fork, beside }: RosterPath, body: CidText): boolean {
  return fork.includes(body) || beside.includes(body)
}

function rollback(
  genesis: CidText,
  what: string,
  lost: CidText,
  damage: readonly HstoreError[],
): HandoffError {
  const newer = damage.find(({ code }) => code === 'HSTORE_VERSION_NEWER')
  if (newer instanceof HandoffError) return newer
  const cause = damage[0]
  const messages = new Set(damage.map(({ message }) => message))
  const reason = cause === undefined ? `${what} is not in it` : [...messages].join('; ')
  return new HandoffError(
    'HSTORE_ROSTER_ROLLBACK',
    `the store does not hold the rosters accepted on this machine: ${reason}; restore the store from a copy`,
    { cause, details: { genesis, cid: cause?.details['cid'] ?? lost } },
  )
}

async function readRosterStream(db: Database, cids: readonly CidText[]): Promise<RosterStream> {
  const damage: HstoreError[] = []
  const entries: VerifiedEntry[] = []
  for (const cid of cids) {
    const entry = await readOr(damage, async () =>
      findVerified(decodeEntry(cid, await db.get(cid))),
    )
    if (entry?.stream === 'roster') entries.push(entry)
  }
  return { entries, damage }
}

/** Returns the CIDs of the roster stream's entries, by seq and then CID. */
export async function rosterEntries(db: Database): Promise<readonly CidText[]> {
  const cids: CidText[] = []
  for await (const cid of entriesOf(db, 'roster')) cids.push(cid)
  return cids
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
