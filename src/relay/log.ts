import type { CidText } from '../../store/cid-text.ts'
import { readTurn } from '../contracts/turns/turn.ts'
import { runsOf } from '../contracts/turns/relay-body.ts'
import type { RelayState } from './state.ts'

/** A turn of a relay as a list shows it. */
export interface LoggedTurn {
  /** The entry of the turn. */
  readonly cid: CidText
  readonly number: string
  readonly agent: string
  /** Empty where the turn does not say. */
  readonly to: string
  readonly ask: string
  /** As the turn says; nothing vouches for a clock. */
  readonly at: string
  readonly relation: string
  readonly decision: string
  /** Whose entry it is. */
  readonly author: string
  /** Whether the author vouches for the bytes alone. */
  readonly witness: boolean
  /** Why the entry may not say this; absent where it may. */
  readonly problem?: string
  /** The file that has it. */
  readonly file: 'archive' | 'relay'
}

/** Returns the turns of a relay, the last first. */
export function logTurns({ chain, note }: RelayState): readonly LoggedTurn[] {
  const archived = new Set(
    runsOf(note?.archive ?? []).flatMap(({ first, count }) =>
      Array.from({ length: count }, (_, i) => first + i),
    ),
  )
  return chain
    .map(({ entry, turn, fault }, place): LoggedTurn => {
      const values = new Map(readTurn(turn).fields.map(({ key, value }) => [key, value]))
      const valueOf = (key: string): string => values.get(key) ?? ''
      return {
        cid: entry.cid,
        number: turn.number,
        agent: turn.agent,
        to: valueOf('to'),
        ask: valueOf('ask'),
        at: valueOf('at'),
        relation: valueOf('relation'),
        decision: valueOf('decision'),
        author: entry.author,
        witness: entry.witness,
        ...(fault === undefined ? {} : { problem: fault }),
        file: archived.has(place) ? 'archive' : 'relay',
      }
    })
    .toReversed()
}
