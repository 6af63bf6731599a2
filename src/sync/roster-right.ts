import { decodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Database } from '../../store/database.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { HstoreError } from '../kernel/errors.ts'
import { readRoster } from '../trust/read-roster.ts'
import type { Roster } from '../trust/roster.ts'
import type { Trust } from '../trust/standing.ts'

/**
 * Returns the dids that may add to the roster stream: the roots of every accepted version, and those of a candidate that
 * one of them has signed. Nobody else's rosters are kept: anybody can make a key.
 */
export async function rootsOf(
  db: Database,
  trust: Trust,
  entries: readonly VerifiedEntry[],
): Promise<ReadonlySet<string>> {
  const roots = new Set<string>()
  for (const body of trust.path) {
    const roster = await findRoster(db, body)
    for (const { did } of roster?.roots ?? []) roots.add(did)
  }
  const bodies = entries.filter(({ kind, signer }) => kind === 'roster' && roots.has(signer))
  for (const body of new Set(bodies.map(({ body }) => body))) {
    const roster = await findRoster(db, body)
    for (const { did } of roster?.roots ?? []) roots.add(did)
  }
  return roots
}

/** Returns the cuts that close the grants of a roster, each once; none where the bytes hold no roster. */
export function cutsOf(body: Uint8Array): readonly CidText[] {
  const keys = rosterIn(body)?.agents.flatMap(({ keys }) => keys) ?? []
  const cuts = keys.flatMap(({ grants }) => grants.flatMap(({ until }) => until ?? []))
  return [...new Set(cuts)]
}

async function findRoster(db: Database, body: CidText): Promise<Roster | undefined> {
  const [read] = await db.getMany([body])
  return read?.state === 'ok' ? rosterIn(read.bytes) : undefined
}

function rosterIn(bytes: Uint8Array): Roster | undefined {
  try {
    return readRoster(decodeForm(bytes).form)
  } catch (error) {
    if (error instanceof HstoreError) return undefined
    throw error
  }
}
