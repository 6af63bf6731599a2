import type { RelayNote } from '../contracts/turns/relay-body.ts'
import { runsOf } from '../contracts/turns/relay-body.ts'
import type { RelayState } from './state.ts'

/** Where the turns of a relay stand in its files: places in the chain, in the order of the file. */
export interface FilePlaces {
  readonly archive: readonly number[]
  /** Turns that no note has placed come last. */
  readonly living: readonly number[]
}

/** Returns where the turns of a relay stand in its files. */
export function filePlaces({
  chain,
  note,
  places,
}: Pick<RelayState, 'chain' | 'note' | 'places'>): FilePlaces {
  const placed = (parts: RelayNote['living']): number[] =>
    runsOf(parts).flatMap(({ first, count }) =>
      Array.from({ length: count }, (_, i) => places[first + i]!),
    )
  const noted = new Set(places)
  const rest = chain.map((_, place) => place).filter((place) => !noted.has(place))
  return {
    archive: placed(note?.archive ?? []),
    living: [...placed(note?.living ?? []), ...rest],
  }
}
