import type { CidText } from '../../store/cid-text.ts'
import { isCidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { decimalOf, nextDecimal } from '../contracts/turns/text.ts'
import type { TurnFacts } from '../contracts/turns/turn-facts.ts'
import type { LoadedGraph } from '../graph/loaded.ts'
import { bounded, quoted } from '../kernel/shown.ts'
import type { Finding } from '../rules/rule.ts'
import { turnRules } from '../rules/turn-rules.ts'
import { agentNames } from './agent-names.ts'
import { turnsOfGraph } from './graph-turns.ts'
import type { JudgedTurn } from './judged-turn.ts'
import type { NameFinder } from './named-things.ts'
import { makeNameFinder } from './named-things.ts'
import { openRequests } from './open-requests.ts'

/** Returns where the turns of a loaded graph break the rules over a relay's graph. */
export function judgeRelays(context: Context, graph: LoadedGraph): Promise<Finding[]> {
  return judgeTurns(context, turnsOfGraph(graph, context.trust))
}

/**
 * Returns where turns break the rules over a relay's graph, HS4315 and up. Of a turn whose ancestors are not all given
 * it is not asked what it answers.
 */
export async function judgeTurns(
  context: Context,
  turns: readonly JudgedTurn[],
): Promise<Finding[]> {
  const isThere = makeNameFinder(context)
  const agentOf = agentNames(context.trust.roster)
  const open = openRequests(turns, agentOf)
  const findings: Finding[] = []
  for (const [i, { cid, facts, behind }] of turns.entries()) {
    const before = behind.map((place) => turns[place]!.facts)
    const faults = [
      ...answerFaults(facts, open[i]?.get(agentOf(facts.agent))),
      ...orderFaults(facts, before, agentOf),
      ...(await absentNames(facts, isThere)),
    ]
    const who = `turn ${bounded(facts.number)} of ${bounded(facts.agent)}`
    for (const [code, why] of faults) findings.push(findingOf(code, `${who} ${why}`, cid))
  }
  return findings
}

type Fault = readonly [code: string, why: string]

function answerFaults(facts: TurnFacts, open: number | undefined): Fault[] {
  const faults: Fault[] = []
  if (facts.relation === 'review_result' && open === 0) {
    faults.push(['HS4315', 'is a review_result, and no review_request to its agent is open'])
  }
  if (facts.isBareWaiver) faults.push(['HS4316', 'waives for a reason without a letter or digit'])
  return faults
}

/** A turn that joins others follows each of them. */
function orderFaults(
  facts: TurnFacts,
  before: readonly TurnFacts[],
  agentOf: (name: string) => string,
): Fault[] {
  const [first] = before
  if (first === undefined || !before.every((one) => isOutOfTurn(one, facts, agentOf))) return []
  return [['HS4318', `follows turn ${bounded(first.number)}, which is to ${quoted(first.to)}`]]
}

/** A turn whose number is not the next is of another session, or on one side of an archive that came late. */
function isOutOfTurn(
  before: TurnFacts,
  { agent, number }: TurnFacts,
  agentOf: (name: string) => string,
): boolean {
  if (before.to === '' || before.to === 'none') return false
  if (decimalOf(number) !== nextDecimal(decimalOf(before.number))) return false
  return agentOf(before.to) !== agentOf(agent)
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

function findingOf(code: string, message: string, cid: CidText): Finding {
  const rule = turnRules.find((rule) => rule.code === code)
  if (rule === undefined) throw new RangeError(`code: wanted one of the table, got ${code}`)
  return { code, severity: rule.severity, message, cid }
}
