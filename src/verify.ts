import { checkArtifact } from '../store/artifacts.ts'
import type { CidText } from '../store/cid-text.ts'
import { codecOf } from '../store/cid-text.ts'
import { envelopeHeads, judgeAttribution } from './attribution/judge.ts'
import type { Context } from './context.ts'
import type { VerifiedEntry } from './entry/entry.ts'
import { judgeChainForks, judgeCycles, judgeEntries, judgeNames } from './graph/judge.ts'
import { judgeStandings } from './graph/judge-standings.ts'
import type { Counts, LoadedGraph } from './graph/loaded.ts'
import { judgeIndexes, planIndexes } from './graph/judge-indexes.ts'
import { judgeLosses } from './graph/losses.ts'
import { namesakesOf } from './graph/namesakes.ts'
import { isOfNode } from './graph/node-entries.ts'
import { scanStore } from './graph/scan.ts'
import { walk } from './graph/walk.ts'
import { judgeLanes } from './lanes/judge-lanes.ts'
import { judgeRelays } from './relay/judge-turns.ts'
import { errorExits, pendingCodes } from './resume/verdict.ts'
import { finding } from './rules/hstore-rules.ts'
import type { Finding } from './rules/rule.ts'
import { rosterEntries } from './trust/load.ts'

/** What `verify` found. */
export interface VerifyReport {
  readonly ok: boolean
  /** Without the roster: a store that holds nothing else has 0 checked. */
  readonly checked: Counts
  readonly findings: readonly Finding[]
  readonly notMade: readonly string[]
  /** 0, 1 nothing to check or what turns owe each other is missing, 3 held, 4 unknown signer, 5 damage or no right, 6 equivocation, 9 made by a newer hstore. */
  readonly exit: 0 | 1 | 3 | 4 | 5 | 6 | 9
}

/**
 * Verifies integrity and trust of entries and artifacts, with all that they rest on.
 *
 * @param full - Check signatures again that were checked before.
 */
export async function verifyRefs(
  context: Context,
  cids: readonly CidText[],
  full: boolean,
): Promise<VerifyReport> {
  const starts = cids.filter((cid) => codecOf(cid) !== 'raw')
  const rosters = await rosterEntries(context.db)
  const graph = await walk(context.db, [...starts, ...rosters], {
    isMarked: marked(context, full),
    isOfNode: (cid, other) => isOfNode(context, cid, other),
  })
  const direct: Finding[] = []
  for (const cid of cids.filter((cid) => codecOf(cid) === 'raw')) {
    const state = await checkArtifact(context.db, cid)
    graph.counts.artifacts += 1
    if (state === 'missing')
      direct.push(finding('HS5001', 'the artifact is not in the store', { cid }))
    if (state === 'corrupt')
      direct.push(finding('HS5002', "the artifact's bytes do not hash to its CID", { cid }))
  }
  return report(context, graph, { judged: starts, named: graph.entries.values(), more: direct })
}

/** Verifies every block of the store, linked or not, and what the entries among them say. */
export async function verifyAll(context: Context, full: boolean): Promise<VerifyReport> {
  const graph = await scanStore(context.db, marked(context, full))
  const { changes, namesakes } = await planIndexes(context.db, graph)
  const { absent, odd } = judgeIndexes(changes, graph)
  const more = [...absent, ...odd, ...(await judgeLosses(context.db))]
  const entries = [...graph.entries.values()]
  const named = namesakes === undefined ? entries : entries.filter(({ cid }) => namesakes.has(cid))
  return report(context, graph, { judged: envelopeHeads(graph), named, more })
}

function marked(context: Context, full: boolean): (cid: CidText) => boolean {
  return (cid) => !full && context.marks.has(cid, 'signature')
}

/** What a report is made of beside the graph. */
interface Asked {
  /** The envelopes whose records are judged. */
  readonly judged: readonly CidText[]
  /** The entries whose names others may have. */
  readonly named: Iterable<VerifiedEntry>
  readonly more: readonly Finding[]
}

async function report(
  context: Context,
  graph: LoadedGraph,
  { judged, named, more }: Asked,
): Promise<VerifyReport> {
  const { trust } = context
  const findings = [
    ...graph.damage,
    ...more,
    ...judgeStandings(graph, trust),
    ...judgeNames(await namesakesOf(context, graph, named), trust),
    ...judgeEntries(graph, trust),
    ...judgeCycles(graph),
    ...judgeChainForks(graph),
    ...(await judgeRelays(context, graph)),
    ...(await judgeLanes(context, graph)),
    ...judgeAttribution(graph, judged, trust, { leavesOutDue: true }).findings,
  ]
  const { counts } = graph
  const isEmpty = counts.entries === 0 && counts.artifacts === 0
  const exit = exitOf(findings, isEmpty)
  const checked = isEmpty ? { entries: 0, blocks: 0, signatures: 0, artifacts: 0 } : counts
  return {
    ok: exit === 0,
    checked,
    findings,
    notMade: ['contract rules', ...checkedBefore(counts)],
    exit,
  }
}

function checkedBefore({ entries, signatures }: Counts): string[] {
  const before = entries - signatures
  return before > 0
    ? [`${before} signatures, which were checked before (--full checks them again)`]
    : []
}

/** A single kind of error has its own meaning, beside what turns owe each other; several together are damage, as all others. */
function exitOf(findings: readonly Finding[], isEmpty: boolean): VerifyReport['exit'] {
  const errors = findings.filter(({ severity }) => severity === 'error').map(({ code }) => code)
  const [only, ...more] = new Set(errors.filter((code) => errorExits.get(code) !== 1))
  if (only !== undefined) return (more.length === 0 ? errorExits.get(only) : undefined) ?? 5
  if (errors.length > 0) return 1
  if (isEmpty) return 1
  return findings.some(({ code }) => pendingCodes.has(code)) ? 3 : 0
}
