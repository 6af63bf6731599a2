import { decimalOf } from '../contracts/turns/text.ts'
import type { JudgedTurn } from './judged-turn.ts'

/** How many review_requests to each agent no review_result has answered; an agent that is not there has none. */
interface Requests {
  get(agent: string): number
}

/** What is known behind a turn; no counts where turns are missing that could have asked. */
interface Known {
  readonly counts: ReadonlyMap<string, number> | undefined
  /** Whether a turn other than 0 is among them. */
  readonly isBegun: boolean
}

/**
 * Returns, for each turn, the review_requests that are open before it; undefined where turns are missing that could have
 * asked: the relay begins after turn 1, or what the turn follows is not in the list. One review_result answers one request
 * to its agent.
 */
export function openRequests(
  turns: readonly JudgedTurn[],
  agentOf: (name: string) => string,
): readonly (Requests | undefined)[] {
  const after: Known[] = []
  return turns.map((turn) => {
    const before = joined(turn, after)
    const isZero = turn.facts.number === '0'
    const isFirst = !isZero && !before.isBegun
    const isCut = isFirst && decimalOf(turn.facts.number) !== '1'
    const counts = isCut ? undefined : before.counts
    after.push({
      counts: counts && changed(counts, turn, agentOf),
      isBegun: before.isBegun || !isZero,
    })
    return counts && { get: (agent) => counts.get(agent) ?? 0 }
  })
}

/** Where branches are joined, what one of them has open is open. */
function joined({ behind, isCut }: JudgedTurn, after: readonly Known[]): Known {
  if (isCut === true) return { counts: undefined, isBegun: true }
  const [first, ...others] = behind.map((place) => after[place]!)
  if (first === undefined) return { counts: new Map(), isBegun: false }
  return others.reduce((a, b) => {
    const isBegun = a.isBegun || b.isBegun
    if (a.counts === undefined || b.counts === undefined) return { counts: undefined, isBegun }
    const counts = new Map(a.counts)
    for (const [agent, count] of b.counts) {
      counts.set(agent, Math.max(count, counts.get(agent) ?? 0))
    }
    return { counts, isBegun }
  }, first)
}

function changed(
  counts: ReadonlyMap<string, number>,
  { facts: { agent, relation, to } }: JudgedTurn,
  agentOf: (name: string) => string,
): ReadonlyMap<string, number> {
  if (relation !== 'review_request' && relation !== 'review_result') return counts
  const of = agentOf(relation === 'review_request' ? to : agent)
  const step = relation === 'review_request' ? 1 : -1
  return new Map([...counts, [of, Math.max(0, (counts.get(of) ?? 0) + step)]])
}
