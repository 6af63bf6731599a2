import { nameKey } from '../../store/keyspace.ts'
import type { Context } from '../context.ts'
import { getEntry } from '../context.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { HstoreError } from '../kernel/errors.ts'
import { assertInRow, cidsIn } from './index-row.ts'
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
  const rows = new Map(
    entries.map(({ stream, name = '' }) => [
      nameKey(stream, name),
      { index: 'names', stream, name } as const,
    ]),
  )
  const found = new Map(entries.map((entry) => [entry.cid, entry]))
  for (const row of rows.values()) {
    for (const cid of cidsIn(context, row)) {
      if (found.has(cid)) continue
      try {
        const entry = graph.entries.get(cid) ?? (await getEntry(context, cid))
        assertInRow(row, entry)
        found.set(cid, entry)
      } catch (error) {
        if (!(error instanceof HstoreError)) throw error
      }
    }
  }
  return [...found.values()]
}
