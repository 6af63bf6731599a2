import type { Appended } from '../contracts/turns/append.ts'
import { appendTurn, lastTurnText } from '../contracts/turns/append.ts'
import type { TurnDraft } from '../contracts/turns/draft.ts'
import { readRelay } from '../contracts/turns/markdown.ts'
import { readTurn, valueOf } from '../contracts/turns/turn.ts'
import type { RelayFile } from '../contracts/turns/validate.ts'
import { HandoffError } from '../errors.ts'
import type { RelayState } from './state.ts'
import { aheadOf } from './state.ts'

/** A turn that an earlier call put into the store. */
export interface DoneTurn extends Appended {
  /** Whether the file has it: the call ended after it was written. */
  readonly isWritten: boolean
}

/** Returns what an earlier call with the same draft put into the store, while no file is known to have it. */
export function findDone(
  state: RelayState,
  draft: TurnDraft,
  living: RelayFile,
): DoneTurn | undefined {
  const last = state.chain.at(-1)
  if (last === undefined || last.entry.witness || aheadOf(state) !== 1) return undefined
  const at = valueOf(readTurn(last.turn), 'at')
  if (at === undefined) return undefined
  const { number, text } = last.turn
  try {
    if (readRelay(living.bytes).turns.at(-1)?.turn.text === text) {
      const isSame = lastTurnText(living.bytes, { ...draft, at }, living.name) === text
      return isSame ? { bytes: living.bytes, number, text, isWritten: true } : undefined
    }
    const again = appendTurn(living.bytes, { ...draft, at }, living.name)
    return again.text === text ? { ...again, isWritten: false } : undefined
  } catch (error) {
    if (error instanceof HandoffError) return undefined // told where it is appended in earnest
    throw error
  }
}
