import { CidTable } from '../../store/cid-table.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { NodeTable } from '../graph/nodes.ts'
import type { LoadedGraph } from '../graph/loaded.ts'
import { bounded } from '../kernel/shown.ts'
import { finding } from '../rules/hstore-rules.ts'
import type { Finding } from '../rules/rule.ts'
import type { Trust } from '../trust/standing.ts'
import type { RecordJudgement, RevisionJudgement } from './judgement.ts'
import type { AttributeOptions } from './attribute.ts'
import { attribute } from './attribute.ts'
import type { HistoryNode } from './history.ts'
import { historyNodes } from './history-nodes.ts'
import type { AgentOf } from './rights.ts'

/** What attribution says of some revisions. */
export interface AttributionReport {
  readonly judged: readonly RevisionJudgement[]
  readonly findings: readonly Finding[]
  /** False where a covered history was not enough: judge again with all of it. */
  readonly isSettled: boolean
}

/** What is known and what is wanted where records are judged. */
export interface AttributionOptions extends AttributeOptions {
  /** Whether an earlier certificate covers the starts themselves, in a graph that ends where it covers. */
  readonly isCertified?: boolean
}

/** Returns whose word the records of the envelopes among `starts` are. */
export function judgeAttribution(
  graph: LoadedGraph,
  starts: readonly CidText[],
  trust: Trust,
  { isCertified = false, ...wants }: AttributionOptions = {},
): AttributionReport {
  const isValid = (entry: VerifiedEntry): boolean => trust.standingOf(entry).standing === 'valid'
  const { nodes, find } = historyNodes(graph, starts, isValid)
  const wanted = new Set(starts.map(find))
  const isWanted = (node: HistoryNode): boolean => wanted.has(node)
  const judged = attribute(nodes, isWanted, agentsOf(trust), wants)
  const findings: Finding[] = []
  const cameIn = originTeller()
  for (const { node, records } of judged) {
    for (const record of records) {
      const code = codeOf(record)
      if (code !== undefined) findings.push(findingOf(node, record, code, cameIn))
    }
  }
  const covered = nodes.filter(({ isCovered }) => isCovered).length
  // of two ends of covered history neither says which came later
  const fits = findings.length === 0 && (covered === 1 || isCertified)
  const isSettled = covered === 0 || fits
  return { judged, findings, isSettled }
}

/** Returns the envelopes of a graph that no envelope in it follows. */
export function envelopeHeads({ entries }: LoadedGraph): readonly CidText[] {
  const nodes = new NodeTable(entries, isEnvelope)
  const followed = new CidTable()
  for (const { kind, parents } of entries.values()) {
    for (const parent of isEnvelope(kind) ? parents : []) {
      const name = nodes.nameOf(parent)
      if (name !== undefined) followed.add(name)
    }
  }
  const heads: CidText[] = []
  for (const cid of entries.keys()) {
    const name = nodes.nameOf(cid)
    if (name !== undefined && followed.find(name) === undefined) heads.push(cid)
  }
  return heads
}

function isEnvelope(kind: string): boolean {
  return kind === 'envelope'
}

function agentsOf({ roster }: Trust): AgentOf {
  const agents = new Map<string, string>()
  for (const { id, aliases } of roster.agents) {
    for (const name of [...aliases, id]) agents.set(name, id)
  }
  return (name) => agents.get(name)
}

type OriginTeller = (since: HistoryNode) => string

/** Returns how a revision is told in which something came in; many records come in with one. */
function originTeller(): OriginTeller {
  const told = new Map<HistoryNode, string>()
  return (since) => {
    const known = told.get(since) ?? `${since.entry.cid} by ${bounded(since.author)}`
    told.set(since, known)
    return known
  }
}

function findingOf(
  { entry: { cid } }: HistoryNode,
  record: RecordJudgement,
  code: string,
  cameIn: OriginTeller,
): Finding {
  const { pointer } = record
  const message = messageOf(record, cameIn(record.since))
  return finding(code, message, pointer === undefined ? { cid } : { cid, pointer })
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

/** @param came - Where it came in. */
function messageOf({ facts, verdict }: RecordJudgement, came: string): string {
  const record = bounded(facts.key)
  const creator = bounded(facts.createdBy)
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
