import type { CidText } from '../../store/cid-text.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { nodeKey } from '../entry/kinds.ts'
import type { LoadedGraph } from '../graph/loaded.ts'
import { bounded } from '../kernel/shown.ts'
import { finding } from '../rules/hstore-rules.ts'
import type { Finding } from '../rules/rule.ts'
import type { Trust } from '../trust/standing.ts'
import type { RecordJudgement, RevisionJudgement } from './judgement.ts'
import { attribute } from './attribute.ts'
import { historyNodes } from './history-nodes.ts'
import { recordKey } from './records.ts'
import type { AgentOf } from './rights.ts'

/** What attribution says of some revisions. */
export interface AttributionReport {
  readonly judged: readonly RevisionJudgement[]
  readonly findings: readonly Finding[]
  /** False where a covered history was not enough: judge again with all of it. */
  readonly isSettled: boolean
}

/**
 * Returns whose word the records of the envelopes among `starts` are.
 *
 * @param isCertified - Whether an earlier certificate covers the starts themselves, in a graph that ends where it covers.
 */
export function judgeAttribution(
  graph: LoadedGraph,
  starts: readonly CidText[],
  trust: Trust,
  isCertified = false,
): AttributionReport {
  const isValid = (entry: VerifiedEntry): boolean => trust.standingOf(entry).standing === 'valid'
  const history = historyNodes(graph, starts, isValid)
  const keys = new Set(starts.map((cid) => keyIn(graph, cid)))
  const wanted = new Set([...history].filter(([key]) => keys.has(key)).map(([, node]) => node))
  const judged = attribute(history.values(), (node) => wanted.has(node), agentsOf(trust))
  const findings = judged.flatMap(findingsOf)
  const covered = [...history.values()].filter(({ isCovered }) => isCovered).length
  // of two ends of covered history neither says which came later
  const fits = findings.length === 0 && (covered === 1 || isCertified)
  const isSettled = covered === 0 || fits
  return { judged, findings, isSettled }
}

/** Returns the envelopes of a graph that no envelope in it follows. */
export function envelopeHeads({ entries }: LoadedGraph): readonly CidText[] {
  const followed = new Set<string>()
  for (const { kind, parents } of entries.values()) {
    if (kind !== 'envelope') continue
    for (const cid of parents) {
      const parent = entries.get(cid)
      if (parent !== undefined) followed.add(nodeKey(parent))
    }
  }
  return [...entries.values()]
    .filter((entry) => entry.kind === 'envelope' && !followed.has(nodeKey(entry)))
    .map(({ cid }) => cid)
}

function keyIn({ entries }: LoadedGraph, cid: CidText): string {
  const entry = entries.get(cid)
  return entry === undefined ? '' : nodeKey(entry)
}

function agentsOf({ roster }: Trust): AgentOf {
  const agents = new Map<string, string>()
  for (const { id, aliases } of roster.agents) {
    for (const name of [...aliases, id]) agents.set(name, id)
  }
  return (name) => agents.get(name)
}

function findingsOf({ node, records }: RevisionJudgement): Finding[] {
  const { cid } = node.entry
  return records.flatMap((record) => {
    const { pointer } = record
    const code = codeOf(record)
    if (code === undefined) return []
    return [
      finding(code, messageOf(record), { cid, ...(pointer === undefined ? {} : { pointer }) }),
    ]
  })
}

const codes: Readonly<Record<Exclude<RecordJudgement['verdict'], 'dropped' | 'proven'>, string>> = {
  forged: 'HS2101',
  stale: 'HS2102',
  changed: 'HS2103',
  unproven: 'HS2104',
}

function codeOf({ verdict, absence }: RecordJudgement): string | undefined {
  if (verdict === 'proven' || absence === 'due') return undefined
  if (verdict === 'dropped') return absence === 'missed' ? 'HS2106' : 'HS2105'
  return codes[verdict]
}

function messageOf({ facts, verdict, since }: RecordJudgement): string {
  const record = bounded(recordKey(facts))
  const creator = bounded(facts.createdBy)
  const came = `${since.entry.cid} by ${bounded(since.author)}`
  switch (verdict) {
    case 'forged':
      return `no entry that counts has ${record} as the word of ${creator}: it is so since ${came}, who may have copied one that counts no more`
    case 'stale':
      return `${record} is as it was before it was changed: it is so since ${came}`
    case 'changed':
      return `${record} of ${creator} is ${bounded(facts.status)}, which nobody said who may: it is so since ${came}`
    case 'dropped':
      return `${record} of ${creator} is not there: it was left out in ${came}`
    default:
      return `nothing here proves what ${record} of ${creator} says: it is so since ${came}`
  }
}
