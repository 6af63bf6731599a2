import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { getEntry } from '../context.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { kindOf, nodeKey } from '../entry/kinds.ts'
import { HstoreError } from '../kernel/errors.ts'
import { readRow } from './index-row.ts'
import { entriesOf } from '../trust/load.ts'

/**
 * Returns the entries of a stream's heads: the valid nodes that no valid node names. The index knows nothing of
 * standings, so where an entry in it is not valid the heads are worked out from all entries of the stream.
 *
 * @throws {HstoreError} what is wrong with an entry of the index that can't be read.
 */
export async function validHeads(
  context: Context,
  stream: string,
): Promise<readonly VerifiedEntry[]> {
  const indexed = await readRow(context, { index: 'heads', stream })
  if (indexed.every((entry) => isValid(context, entry))) return indexed
  const nodes: VerifiedEntry[] = []
  for await (const cid of entriesOf(context.db, stream)) {
    const entry = await findEntry(context, cid)
    if (entry?.stream === stream && kindOf(entry.kind).isNode && isValid(context, entry))
      nodes.push(entry)
  }
  const keys = new Map(nodes.map((entry) => [entry.cid, nodeKey(entry)]))
  const followed = new Set(nodes.flatMap(({ parents }) => parents.map((cid) => keys.get(cid))))
  return nodes.filter((entry) => !followed.has(nodeKey(entry)))
}

function isValid(context: Context, entry: VerifiedEntry): boolean {
  return context.trust.standingOf(entry).standing === 'valid'
}

/** What can't be read is no valid node; `verify` names it. */
async function findEntry(context: Context, cid: CidText): Promise<VerifiedEntry | undefined> {
  try {
    return await getEntry(context, cid)
  } catch (error) {
    if (error instanceof HstoreError) return undefined
    throw error
  }
}
