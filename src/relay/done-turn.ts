import type { CidText } from '../../store/cid-text.ts'
import { isSame } from '../contracts/turns/align.ts'
import { formatTurn } from '../contracts/turns/append.ts'
import type { TurnDraft } from '../contracts/turns/draft.ts'
import { bodyOf, headerOf } from '../contracts/turns/draft.ts'
import { readRelay } from '../contracts/turns/markdown.ts'
import type { Turn } from '../contracts/turns/turn.ts'
import { readTurn, valueOf } from '../contracts/turns/turn.ts'
import type { RelayFiles } from './files.ts'
import type { RelayState } from './state.ts'
import type { Author } from './write.ts'

/** A turn that an earlier call put into the store. */
export interface DoneTurn {
  readonly cid: CidText
  readonly turn: Turn
  /** What it was made from. */
  readonly draft: TurnDraft
}

/**
 * Returns what an earlier call of the author with the same draft put into the store, while no file was seen to have it.
 * Time, model and effort are of that call.
 *
 * @param parents - The heads that the turn is to join.
 * @throws {HandoffError} `HSTORE_TURN_REFUSED` for a draft that is none.
 */
export function findDone(
  { chain, unseen }: RelayState,
  given: TurnDraft,
  { agent }: Author,
  parents: readonly string[] | undefined,
): DoneTurn | undefined {
  for (const place of unseen) {
    const { entry, turn } = chain[place]!
    if (entry.witness || entry.author !== agent || turn.agent !== given.agent) continue
    if (parents !== undefined && !areSame(parents, entry.parents)) continue
    const content = readTurn(turn)
    const of = (key: string): string => valueOf(content, key) ?? ''
    const draft = { ...given, at: of('at'), model: of('model'), effort: of('effort') }
    const text = formatTurn(turn.number, draft.agent, headerOf(draft), bodyOf(draft))
    if (text === turn.text) return { cid: entry.cid, turn, draft }
  }
  return undefined
}

/** Returns whether a relay's files have a turn. */
export function haveTurn({ archive, living }: RelayFiles, turn: Turn): boolean {
  return [archive, living].some(
    (file) => file && readRelay(file.bytes).turns.some((one) => isSame(one.turn, turn)),
  )
}

function areSame(a: readonly string[], b: readonly string[]): boolean {
  return new Set(a).size === new Set(b).size && a.every((cid) => b.includes(cid))
}
