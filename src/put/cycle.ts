import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { getEntry } from '../context.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { readRow } from '../graph/index-row.ts'
import { HandoffError } from '../errors.ts'

/**
 * Throws `HSTORE_PARENT_CYCLE` when a document that is to be stated again under `parents` is an ancestor of one of
 * them: then none of the documents on the way could be resumed. Only a restatement can bring that about.
 */
export async function assertNoCycle(
  context: Context,
  body: CidText,
  parents: readonly CidText[],
): Promise<void> {
  const seen = new Set<CidText>()
  let wave = parents
  while (wave.length > 0) {
    const next = new Set<CidText>()
    for (const cid of wave) {
      seen.add(cid)
      const entry = await getEntry(context, cid)
      if (entry.body === body) throw cycle(entry)
      for (const parent of await parentsOfNode(context, entry)) next.add(parent)
    }
    wave = [...next].filter((cid) => !seen.has(cid))
  }
}

async function parentsOfNode(context: Context, entry: VerifiedEntry): Promise<readonly CidText[]> {
  const parents: CidText[] = [...entry.parents]
  for (const other of await readRow(context, { index: 'bodies', body: entry.body })) {
    parents.push(...other.parents)
  }
  return parents
}

function cycle({ cid, name }: VerifiedEntry): HandoffError {
  return new HandoffError(
    'HSTORE_PARENT_CYCLE',
    `${name} (${cid}) would become its own ancestor: its parents follow it; put the document that comes first under a new revision`,
    { details: { cid } },
  )
}
