import type { CidText } from '../../store/cid-text.ts'
import type { TurnFacts } from '../contracts/turns/turn-facts.ts'

/** A turn among others, as the rules see it. */
export interface JudgedTurn {
  readonly cid: CidText
  readonly facts: TurnFacts
  /** The places in the list of the turns that it follows, each before its own. */
  readonly behind: readonly number[]
  /** Whether it follows turns that are not in the list. */
  readonly isCut?: boolean
}
