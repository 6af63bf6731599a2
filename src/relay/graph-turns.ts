import type { CidText } from '../../store/cid-text.ts'
import type { TurnFacts } from '../contracts/turns/turn-facts.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import type { LoadedGraph } from '../graph/loaded.ts'
import { identifyTurns } from '../graph/turn-identity.ts'
import type { Trust } from '../trust/standing.ts'
import type { JudgedTurn } from './judged-turn.ts'
import { orderBehind } from './line-order.ts'

/** A turn, whoever states it. */
interface Stated {
  readonly body: string
  readonly facts: TurnFacts
  /** The entry that says most of it: its agent's own, else a witness's. */
  entry: VerifiedEntry
}

/** Returns the turns of a loaded graph, each once and behind those that it follows. */
export function turnsOfGraph(graph: LoadedGraph, trust: Trust): readonly JudgedTurn[] {
  const entries = new Map([...graph.entries].filter(([, { kind }]) => kind === 'turn'))
  const numbers = identifyTurns(entries)
  const states = new Map<number, Stated>()
  for (const [cid, entry] of entries) {
    const body = graph.bodies.get(entry.body)
    const known = states.get(numbers.get(cid)!)
    if (body?.kind !== 'turn') continue
    if (known === undefined) {
      states.set(numbers.get(cid)!, { body: entry.body, facts: body.facts, entry })
    } else if (isBetter(trust, known.facts, entry, known.entry)) known.entry = entry
  }
  return inOrder(states, numbers)
}

function isBetter(trust: Trust, { agent }: TurnFacts, a: VerifiedEntry, b: VerifiedEntry): boolean {
  const rank = (entry: VerifiedEntry): number =>
    entry.witness ? 1 : trust.isNameOf(entry.author, agent) ? 0 : 2
  return rank(a) < rank(b) || (rank(a) === rank(b) && a.cid < b.cid)
}

function inOrder(
  states: ReadonlyMap<number, Stated>,
  numbers: ReadonlyMap<CidText, number>,
): JudgedTurn[] {
  const steps = new Map(
    [...states].map(([number, { body, entry }]) => {
      const all = new Set(entry.parents.map((cid) => numbers.get(cid) ?? -1))
      const behind = [...all].filter((other) => states.has(other))
      return [number, { body, behind, isCut: behind.length < all.size }]
    }),
  )
  const ordered = orderBehind([...steps.keys()], steps).numbers
  const places = new Map(ordered.map((number, place) => [number, place]))
  return ordered.map((number) => {
    const { behind, isCut } = steps.get(number)!
    const { entry, facts } = states.get(number)!
    return { cid: entry.cid, facts, behind: behind.map((other) => places.get(other)!), isCut }
  })
}
