import type { Signer } from '../../keys/signer.ts'
import type { CidText } from '../../store/cid-text.ts'
import { judgeAttribution } from '../attribution/judge.ts'
import type { Context } from '../context.ts'
import type { Tick } from '../contracts/hrc/documents.ts'
import type { Entry, VerifiedEntry } from '../entry/entry.ts'
import { ancestryOf } from '../graph/ancestry.ts'
import { judgeClaims } from '../graph/claims.ts'
import { namesakesOf } from '../graph/namesakes.ts'
import { judgeChainForks, judgeCycles, judgeEntries, judgeNames } from '../graph/judge.ts'
import { judgeStandings } from '../graph/judge-standings.ts'
import type { LoadedGraph } from '../graph/loaded.ts'
import { findShallow } from '../graph/shallow.ts'
import { judgeLanes } from '../lanes/judge-lanes.ts'
import type { LaneCheck } from '../lanes/resume-check.ts'
import { checkLanes } from '../lanes/resume-check.ts'
import { isOfNode } from '../graph/node-entries.ts'
import { judgeLosses } from '../graph/losses.ts'
import { judgeTips } from '../graph/tips.ts'
import { walk } from '../graph/walk.ts'
import { judgeContract } from '../bundle/contract.ts'
import { judgeRelays } from '../relay/judge-turns.ts'
import { finding } from '../rules/hstore-rules.ts'
import type { Finding } from '../rules/rule.ts'
import { rosterEntries } from '../trust/load.ts'
import type { CheckResult, Verdict } from '../graph/certificate.ts'
import { findCoverage } from './coverage.ts'
import type { GateExit } from './verdict.ts'
import { checksNotMade, concludes } from './verdict.ts'

/** What the gate is asked. */
export interface GateOptions {
  readonly agent: string
  /** The agent's key, for the marks of its earlier certificate; without one everything is read. */
  readonly signer: Signer | undefined
  /** Names whose absence the agent accepts. */
  readonly acceptShallow: readonly string[]
  /** When, in whole seconds since 1970, for offers of a lane; without it none counts as deliverable. */
  readonly now: Tick | undefined
  /** Read everything again, whatever was verified before. */
  readonly full: boolean
}

/** What the gate found. */
export interface Judgement {
  readonly verdict: Verdict
  readonly exit: GateExit
  readonly head: CidText
  /** The head's entry; undefined when its block or signature does not stand. */
  readonly entry: VerifiedEntry | undefined
  readonly checks: readonly CheckResult[]
  readonly findings: readonly Finding[]
  readonly notMade: readonly string[]
  /** Names that history stops at. */
  readonly shallow: readonly string[]
  /** Locators of remote artifacts, which nobody fetched. */
  readonly remote: readonly string[]
  readonly graph: LoadedGraph
  /** Every envelope in the store with a name of the ancestry. */
  readonly namesakes: readonly VerifiedEntry[]
}

/**
 * Judges an entry with all that it rests on, in the fixed order of docs/format.md, «The gate»: blocks, signatures,
 * trust, equivocation, history, contract, artifacts, attribution, lane. Changes nothing.
 */
export async function judge(
  context: Context,
  head: CidText,
  options: GateOptions,
): Promise<Judgement> {
  const coverage = options.full ? undefined : await findCoverage(context, head, options)
  const isCovered = (cid: CidText): boolean => coverage?.covers(cid) === true
  const walkOptions = {
    isOfNode: (cid: CidText, other: Entry) => isOfNode(context, cid, other),
    isMarked: (cid: CidText) => !options.full && context.marks.has(cid, 'signature'),
  }
  const graph = await walk(context.db, [head, ...(await rosterEntries(context.db))], {
    ...walkOptions,
    isBefore: (cid) => cid !== head && isCovered(cid),
  })
  let attribution = judgeAttribution(graph, [head], context.trust, {
    isCertified: isCovered(head),
    leavesOutDue: true,
  })
  let more: LoadedGraph['damage'] = []
  if (!attribution.isSettled) {
    // what covered history ends with does not tell what was said later: its documents do
    const documents = await walk(context.db, [head], { ...walkOptions, documentsOnly: true })
    attribution = judgeAttribution(documents, [head], context.trust, { leavesOutDue: true })
    const told = new Set(graph.damage.map(({ cid }) => cid))
    more = documents.damage.filter(({ cid }) => !told.has(cid))
  }
  const entry = graph.entries.get(head)
  const ancestry = ancestryOf(graph, head)
  const shallow = findShallow(graph, ancestry, context.trust)
  const contract = await judgeContract(context, graph, entry)
  const tips = await judgeTips(context, graph, entry, isCovered)
  const namesakes = await namesakesOf(context, graph, ancestry)
  const lane = await laneCheck(context, entry, options)
  const checks = new Map<string, readonly Finding[]>([
    ['blocks', [...damageOf(graph, 'HS1'), ...more, ...damageOf(graph, 'HS4'), ...tips]],
    ['signatures', damageOf(graph, 'HS2')],
    ['trust', judgeStandings(graph, context.trust)],
    ['equivocation', judgeNames(namesakes, context.trust)],
    ['history', [...(await judgeHistory(context, graph, entry)), ...shallow.findings]],
    ['contract', [...contract.findings, ...(await judgeGraphs(context, graph))]],
    ['artifacts', [...damageOf(graph, 'HS5'), ...remoteFindings(contract.remote)]],
    ['attribution', attribution.findings],
    ...(lane.lanes.length > 0 ? ([['lane', lane.findings]] as const) : []),
  ])
  const findings = [...checks.values()].flat()
  const concluded = concludes(checks, shallow.names, options.acceptShallow)
  return {
    ...concluded,
    checks: [...concluded.checks, ...unmade(graph, contract.remote, lane.lanes)],
    head,
    entry,
    findings,
    notMade: checksNotMade(graph, contract.remote, lane.lanes),
    shallow: shallow.names,
    remote: contract.remote,
    graph,
    namesakes,
  }
}

/** What entries of a stream have to do with each other. */
async function judgeGraphs(context: Context, graph: LoadedGraph): Promise<readonly Finding[]> {
  return [...(await judgeRelays(context, graph)), ...(await judgeLanes(context, graph))]
}

async function laneCheck(
  context: Context,
  entry: VerifiedEntry | undefined,
  { agent, now }: GateOptions,
): Promise<LaneCheck> {
  return entry === undefined ? { lanes: [], findings: [] } : checkLanes(context, entry, agent, now)
}

/** What was passed over stands in the certificate too. */
function unmade(
  graph: LoadedGraph,
  remote: readonly string[],
  lanes: readonly string[],
): CheckResult[] {
  const names = [
    ...(lanes.length === 0 ? ['lane'] : []),
    ...(graph.before.size > 0 ? ['earlier blocks'] : []),
    ...(remote.length > 0 ? ['remote artifacts'] : []),
  ]
  return names.map((name) => ({ name, result: 'not made' }))
}

function damageOf(graph: LoadedGraph, family: string): readonly Finding[] {
  return graph.damage.filter(({ code }) => code.startsWith(family))
}

async function judgeHistory(
  context: Context,
  graph: LoadedGraph,
  entry: VerifiedEntry | undefined,
): Promise<readonly Finding[]> {
  return [
    ...judgeEntries(graph, context.trust),
    ...judgeCycles(graph),
    ...judgeChainForks(graph),
    ...(await judgeClaims(context, graph, entry)),
    ...(await judgeLosses(context.db)),
  ]
}

function remoteFindings(remote: readonly string[]): Finding[] {
  return remote.map((path) => finding('HS5003', `${path} is remote and was not checked`, { path }))
}
