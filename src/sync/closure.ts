import { decodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { parseEntryKey } from '../../store/keyspace.ts'
import { linksFirst } from '../../store/links-first.ts'
import type { Context } from '../context.ts'
import { getEntry } from '../context.ts'
import type { Entry, VerifiedEntry } from '../entry/entry.ts'
import { findArtifacts } from '../graph/body.ts'
import { cutsOf } from './roster-right.ts'

/**
 * Returns the entries that may go out of a store, each behind those that it follows: valid and held ones that follow no
 * others.
 *
 * @param cids - Closed under `parents` and `prev`.
 */
export async function sendable(
  context: Context,
  cids: Iterable<CidText>,
): Promise<readonly VerifiedEntry[]> {
  const entries: VerifiedEntry[] = []
  for (const cid of cids) entries.push(await getEntry(context, cid))
  const out = new Set<CidText>()
  return linksFirst(entries).filter((entry) => {
    const { standing } = context.trust.standingOf(entry)
    const isFit = standing === 'valid' || standing === 'held'
    const follows = [...entry.parents, ...entry.prev].every((link) => out.has(link))
    if (isFit && follows) out.add(entry.cid)
    return isFit && follows
  })
}

/** Returns all entries of a store. */
export async function allEntries({ db }: Context): Promise<ReadonlySet<CidText>> {
  const cids = new Set<CidText>()
  for await (const rows of db.rowBatches('entries', ''))
    for (const { key } of rows) cids.add(parseEntryKey(key).cid)
  return cids
}

/** Returns entries with all that they follow over `parents` and `prev`. */
export async function closureOf(
  context: Context,
  starts: Iterable<CidText>,
): Promise<ReadonlySet<CidText>> {
  const seen = new Set(starts)
  for (const cid of seen) {
    const { parents, prev } = await getEntry(context, cid)
    for (const link of [...parents, ...prev]) seen.add(link)
  }
  return seen
}

/** Returns the entries that none of the others follows or has before it. */
export function tipsOf(entries: readonly VerifiedEntry[]): readonly CidText[] {
  const followed = new Set(entries.flatMap(({ parents, prev }) => [...parents, ...prev]))
  return entries.map(({ cid }) => cid).filter((cid) => !followed.has(cid))
}

/** The blocks that an entry needs beside those that it follows, but for its artifacts. */
export interface EntryParts {
  /** Body, file as given, list, and the cuts of a roster. */
  readonly blocks: readonly CidText[]
  readonly artifacts: readonly CidText[]
}

/**
 * Returns what an entry needs.
 *
 * @throws {StoreError} `HSTORE_BLOCK_NOT_FOUND`, `HSTORE_BLOCK_CORRUPT` when the store has lost its list or roster.
 */
export async function partsOf({ db }: Pick<Context, 'db'>, entry: Entry): Promise<EntryParts> {
  const { artifacts: list, body, source } = entry
  const blocks = [body, source, list].filter((cid) => cid !== undefined)
  if (entry.kind === 'roster') blocks.push(...cutsOf(await db.get(body)))
  if (list === undefined) return { blocks, artifacts: [] }
  return { blocks, artifacts: findArtifacts(decodeForm(await db.get(list)).form) ?? [] }
}
