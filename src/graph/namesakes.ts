import type { CidText } from '../../store/cid-text.ts'
import { nameKey } from '../../store/keyspace.ts'
import type { Context } from '../context.ts'
import { getEntry } from '../context.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { HstoreError } from '../kernel/errors.ts'
import type { LoadedGraph } from './loaded.ts'

/**
 * Returns the envelopes among `entries` with all that the store holds under their names, so that a second document for a
 * name is found wherever it hangs. An entry outside the graph that does not stand proves nothing and is left out.
 */
export async function namesakesOf(
  context: Context,
  graph: LoadedGraph,
  among: Iterable<VerifiedEntry>,
): Promise<readonly VerifiedEntry[]> {
  const entries = [...among].filter(({ kind }) => kind === 'envelope')
  const names = new Map(entries.map(({ stream, name }) => [nameKey(stream, name ?? ''), true]))
  const found = new Map(entries.map((entry) => [entry.cid, entry]))
  for (const key of names.keys()) {
    for (const cid of (context.db.readRow('names', key) ?? []) as CidText[]) {
      if (found.has(cid)) continue
      try {
        found.set(cid, graph.entries.get(cid) ?? (await getEntry(context, cid)))
      } catch (error) {
        if (!(error instanceof HstoreError)) throw error
      }
    }
  }
  return [...found.values()]
}
