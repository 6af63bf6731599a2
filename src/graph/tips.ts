import type { CidText } from '../../store/cid-text.ts'
import { tipPrefix } from '../../store/keyspace.ts'
import type { Context } from '../context.ts'
import { getEntry } from '../context.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { HstoreError } from '../kernel/errors.ts'
import { finding } from '../rules/hstore-rules.ts'
import type { Finding } from '../rules/rule.ts'
import type { LoadedGraph } from './loaded.ts'

/**
 * Returns what is left out where `head` is the stream's one head: then every signer's latest valid entry has to be in
 * its ancestry. An index of heads that was set back would hide them.
 */
export async function judgeTips(
  context: Context,
  graph: LoadedGraph,
  head: VerifiedEntry | undefined,
  isCovered: (cid: CidText) => boolean,
): Promise<Finding[]> {
  if (head === undefined) return []
  const heads = context.db.readRow('heads', head.stream) ?? []
  const isOnlyHead = heads.every((cid) => graph.entries.get(cid as CidText)?.body === head.body)
  if (!heads.includes(head.cid) || !isOnlyHead) return []
  const findings: Finding[] = []
  for await (const { values } of context.db.rows('tips', tipPrefix(head.stream))) {
    for (const cid of values as readonly CidText[]) {
      if (graph.entries.has(cid) || isCovered(cid) || !(await isValid(context, head.stream, cid)))
        continue
      findings.push(
        finding(
          'HS1008',
          `the index of heads leaves out this entry, which is not behind ${head.cid}`,
          { cid },
        ),
      )
    }
  }
  return findings
}

/** What can't be read or has no standing is left out rightly; `verify --all` names it. */
async function isValid(context: Context, stream: string, cid: CidText): Promise<boolean> {
  try {
    const entry = await getEntry(context, cid)
    return entry.stream === stream && context.trust.standingOf(entry).standing === 'valid'
  } catch (error) {
    if (error instanceof HstoreError) return false
    throw error
  }
}
