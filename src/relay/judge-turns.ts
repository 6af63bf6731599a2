import type { CidText } from '../../store/cid-text.ts'
import { isCidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import type { TurnFacts } from '../contracts/turns/turn-facts.ts'
import type { LoadedGraph } from '../graph/loaded.ts'
import { bounded, quoted } from '../kernel/shown.ts'
import type { Finding } from '../rules/rule.ts'
import { turnRules } from '../rules/turn-rules.ts'
import type { NameFinder } from './named-things.ts'
import { makeNameFinder } from './named-things.ts'

/** A turn in a chain, as the rules see it. */
export interface JudgedTurn {
  readonly parents: readonly CidText[]
  readonly facts: TurnFacts
}

/** Returns where the turns of a loaded graph break the rules over a relay's graph. */
export function judgeRelays(context: Context, graph: LoadedGraph): Promise<Finding[]> {
  const turns = new Map<CidText, JudgedTurn>()
  for (const { cid, body, kind, parents } of graph.entries.values()) {
    const found = kind === 'turn' ? graph.bodies.get(body) : undefined
    if (found?.kind === 'turn') turns.set(cid, { parents, facts: found.facts })
  }
  return judgeTurns(context, turns)
}

/**
 * Returns where turns break the rules over a relay's graph, HS4315 and up. Of a turn whose ancestors are not all given
 * it is not asked what it answers.
 */
export async function judgeTurns(
  context: Context,
  turns: ReadonlyMap<CidText, JudgedTurn>,
): Promise<Finding[]> {
  const isThere = makeNameFinder(context)
  const askedBefore = reviewersAsked(turns)
  const findings: Finding[] = []
  for (const [cid, { facts, parents }] of turns) {
    const before = parents[0] === undefined ? undefined : turns.get(parents[0])?.facts
    const faults = [
      ...faultsOf(facts, before, askedBefore.get(cid)),
      ...(await absentNames(facts, isThere)),
    ]
    const who = `turn ${bounded(facts.number)} of ${bounded(facts.agent)}`
    for (const [code, why] of faults) findings.push(findingOf(code, `${who} ${why}`, cid))
  }
  return findings
}

type Fault = readonly [code: string, why: string]

function faultsOf(
  facts: TurnFacts,
  before: TurnFacts | undefined,
  asked: ReadonlySet<string> | undefined,
): Fault[] {
  const faults: Fault[] = []
  if (facts.relation === 'review_result' && asked?.has(facts.agent) === false) {
    faults.push(['HS4315', 'is a review_result, and no review_request to its agent is before it'])
  }
  if (facts.isBareWaiver) faults.push(['HS4316', 'waives for a reason without a letter or digit'])
  if (before !== undefined && isOutOfTurn(before, facts)) {
    const why = `follows turn ${bounded(before.number)}, which is to ${quoted(before.to)}`
    faults.push(['HS4318', why])
  }
  return faults
}

async function absentNames(facts: TurnFacts, isThere: NameFinder): Promise<Fault[]> {
  const faults: Fault[] = []
  for (const name of facts.named) {
    if (!isCidText(name) && facts.workspace === '') continue
    if (await isThere(name, facts.workspace)) continue
    faults.push(['HS4317', `names ${quoted(name)}, ${lacking(name, facts)}`])
  }
  return faults
}

function lacking(name: string, { workspace }: TurnFacts): string {
  if (isCidText(name)) return 'which is not in the store'
  return `which no head of the workspace ${quoted(workspace)} has`
}

/** The relay's own turn 0 is to nobody and by no agent. */
function isOutOfTurn(before: TurnFacts, { agent, number }: TurnFacts): boolean {
  return number !== '0' && before.to !== '' && before.to !== 'none' && before.to !== agent
}

/** Returns, for each turn all of whose ancestors are there, whom review_requests before it are to. */
function reviewersAsked(
  turns: ReadonlyMap<CidText, JudgedTurn>,
): ReadonlyMap<CidText, ReadonlySet<string>> {
  const asked = new Map<CidText, ReadonlySet<string> | undefined>()
  for (const start of turns.keys()) {
    const waiting: CidText[] = []
    let at: CidText | undefined = start
    while (at !== undefined && turns.has(at) && !asked.has(at)) {
      waiting.push(at)
      at = turns.get(at)!.parents[0]
    }
    for (const cid of waiting.toReversed()) asked.set(cid, askedBy(turns, asked, cid))
  }
  return asked as ReadonlyMap<CidText, ReadonlySet<string>>
}

const nobody: ReadonlySet<string> = new Set()

function askedBy(
  turns: ReadonlyMap<CidText, JudgedTurn>,
  asked: ReadonlyMap<CidText, ReadonlySet<string> | undefined>,
  cid: CidText,
): ReadonlySet<string> | undefined {
  const [parent] = turns.get(cid)!.parents
  if (parent === undefined) return nobody
  const before = asked.get(parent)
  const facts = turns.get(parent)?.facts
  if (before === undefined || facts === undefined) return undefined
  const isNew = facts.relation === 'review_request' && !before.has(facts.to)
  return isNew ? new Set([...before, facts.to]) : before
}

function findingOf(code: string, message: string, cid: CidText): Finding {
  const rule = turnRules.find((rule) => rule.code === code)
  if (rule === undefined) throw new RangeError(`code: wanted one of the table, got ${code}`)
  return { code, severity: rule.severity, message, cid }
}
