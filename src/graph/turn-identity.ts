import type { CidText } from '../../store/cid-text.ts'
import type { Entry, VerifiedEntry } from '../entry/entry.ts'
import type { Trust } from '../trust/standing.ts'
import type { LoadedGraph } from './loaded.ts'

/** What makes a turn the turn that it is. */
export type TurnEntry = Pick<Entry, 'body' | 'parents' | 'stream'>

/**
 * Returns a number for each entry of a turn, the same for entries that state one turn: the same text behind the same
 * turns of a stream, whoever states it. So what two stores took in of one relay, each for itself, is one line of turns. A parent
 * that is not among the entries is known by its CID alone.
 */
export function identifyTurns(
  entries: ReadonlyMap<CidText, TurnEntry>,
): ReadonlyMap<CidText, number> {
  const numbers = new Map<string, number>()
  const found = new Map<CidText, number>()
  for (const start of entries.keys()) {
    const path = [start]
    for (let cid = path.at(-1); cid !== undefined; cid = path.at(-1)) {
      const { body, parents, stream } = entries.get(cid)!
      const open = parents.filter((parent) => entries.has(parent) && !found.has(parent))
      if (found.has(cid) || open.length === 0) {
        path.pop()
        const behind = new Set(parents.map((parent) => String(found.get(parent) ?? parent)))
        const key = [body, ...[...behind].sort(), stream].join(' ')
        const number = numbers.get(key) ?? numbers.size
        numbers.set(key, number)
        found.set(cid, number)
      } else path.push(...open)
    }
  }
  return found
}

/** Returns the witness entries of turns that their own agent states too: those are the agent's word by now. */
export function claimedTurns(graph: LoadedGraph, trust: Trust): ReadonlySet<CidText> {
  const turns = new Map([...graph.entries].filter(([, { kind }]) => kind === 'turn'))
  const numbers = identifyTurns(turns)
  const owned = new Set<number>()
  for (const [cid, entry] of turns) if (isOwn(graph, trust, entry)) owned.add(numbers.get(cid)!)
  const witnessed = [...turns].filter(
    ([cid, { witness }]) => witness && owned.has(numbers.get(cid)!),
  )
  return new Set(witnessed.map(([cid]) => cid))
}

function isOwn({ bodies }: LoadedGraph, trust: Trust, entry: VerifiedEntry): boolean {
  if (entry.witness || trust.standingOf(entry).standing !== 'valid') return false
  const body = bodies.get(entry.body)
  return body?.kind === 'turn' && trust.isNameOf(entry.author, body.facts.agent)
}
