import type { CidText } from '../../store/cid-text.ts'
import { nameKey } from '../../store/keyspace.ts'
import type { Context } from '../context.ts'
import { getEntry } from '../context.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { HstoreError } from '../kernel/errors.ts'
import type { IndexRow } from './index-row.ts'
import { assertInRow, cidsIn } from './index-row.ts'
import type { LoadedGraph } from './loaded.ts'

/**
 * Returns all envelopes that the store holds under names of `entries` that more than one has, so that a second document
 * for a name is found wherever it hangs. An entry outside the graph that does not stand proves nothing and is left out.
 */
export async function namesakesOf(
  context: Context,
  graph: LoadedGraph,
  among: Iterable<VerifiedEntry>,
): Promise<readonly VerifiedEntry[]> {
  const found = new Map<CidText, VerifiedEntry>()
  const seen = new Set<string>()
  for (const entry of among) {
    if (entry.kind !== 'envelope') continue
    const { cid, stream, name = '' } = entry
    const row = { index: 'names', stream, name } as const
    const cids = cidsIn(context, row)
    if (cids.length === 1 && cids[0] === cid) continue
    found.set(cid, entry) // a row that leaves it out hides none of those that the graph holds
    const key = nameKey(stream, name)
    if (seen.has(key)) continue
    seen.add(key)
    for (const other of cids) await addNamesake(context, graph, row, other, found)
  }
  return [...found.values()]
}

async function addNamesake(
  context: Context,
  graph: LoadedGraph,
  row: IndexRow,
  cid: CidText,
  found: Map<CidText, VerifiedEntry>,
): Promise<void> {
  if (found.has(cid)) return
  try {
    const entry = graph.entries.get(cid) ?? (await getEntry(context, cid))
    assertInRow(row, entry)
    found.set(cid, entry)
  } catch (error) {
    if (!(error instanceof HstoreError)) throw error
  }
}
