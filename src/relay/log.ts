import type { CidText } from '../../store/cid-text.ts'
import { readTurn } from '../contracts/turns/turn.ts'
import { filePlaces } from './file-places.ts'
import type { ChainedTurn } from './line.ts'
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

/** Returns the turns of a relay as its files have them, the last first. */
export function logTurns(state: RelayState): readonly LoggedTurn[] {
  const { chain } = state
  const { archive, living } = filePlaces(state)
  const of = (places: readonly number[], file: LoggedTurn['file']): LoggedTurn[] =>
    places.map((place) => logged(chain[place]!, file))
  return [...of(archive, 'archive'), ...of(living, 'relay')].toReversed()
}

function logged({ entry, turn, fault }: ChainedTurn, file: LoggedTurn['file']): LoggedTurn {
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
    file,
  }
}
