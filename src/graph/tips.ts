import type { CidText } from '../../store/cid-text.ts'
import { tipPrefix } from '../../store/keyspace.ts'
import type { Context } from '../context.ts'
import { getEntry } from '../context.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { kindOf, nodeKey } from '../entry/kinds.ts'
import { HstoreError } from '../kernel/errors.ts'
import { finding } from '../rules/hstore-rules.ts'
import type { Finding } from '../rules/rule.ts'
import { cidsIn } from './index-row.ts'
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
  const isBehind = (cid: CidText): boolean => graph.entries.has(cid) || isCovered(cid)
  const left = new Set<CidText>()
  for await (const { values } of context.db.rows('tips', tipPrefix(head.stream))) {
    await addNodesBefore(context, head.stream, values as readonly CidText[], isBehind, left)
  }
  return [...left].map((cid) =>
    finding('HS1008', `the index of heads leaves out this entry, which is not behind ${head.cid}`, {
      cid,
    }),
  )
}

/** Adds the last valid nodes of the chains that end in `tips`, unless they are behind the head: notes move no head. */
async function addNodesBefore(
  context: Context,
  stream: string,
  tips: readonly CidText[],
  isBehind: (cid: CidText) => boolean,
  left: Set<CidText>,
): Promise<void> {
  const seen = new Set(tips)
  for (const cid of seen) {
    const entry = isBehind(cid) ? undefined : await findValid(context, stream, cid)
    if (entry === undefined) continue
    const isLeft = kindOf(entry.kind).isNode && !(await restates(context, entry, isBehind))
    if (isLeft) left.add(cid)
    else for (const before of entry.prev) seen.add(before)
  }
}

/** A turn that is behind the head may be stated once more at any time: that moves no head. */
async function restates(
  context: Context,
  entry: VerifiedEntry,
  isBehind: (cid: CidText) => boolean,
): Promise<boolean> {
  if (entry.kind !== 'turn') return false
  for (const cid of cidsIn(context, { index: 'bodies', body: entry.body })) {
    if (cid === entry.cid || !isBehind(cid)) continue
    const other = await findValid(context, entry.stream, cid)
    if (other !== undefined && nodeKey(other) === nodeKey(entry)) return true
  }
  return false
}

/** What can't be read or has no standing is left out rightly; `verify --all` names it. */
async function findValid(
  context: Context,
  stream: string,
  cid: CidText,
): Promise<VerifiedEntry | undefined> {
  try {
    const entry = await getEntry(context, cid)
    const isValid = entry.stream === stream && context.trust.standingOf(entry).standing === 'valid'
    return isValid ? entry : undefined
  } catch (error) {
    if (error instanceof HstoreError) return undefined
    throw error
  }
}
