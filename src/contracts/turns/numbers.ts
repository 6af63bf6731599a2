import { bounded } from '../../kernel/shown.ts'
import type { PlacedTurn } from './markdown.ts'
import type { Oddity } from './oddities.ts'
import { compareDecimals, decimalOf, nextDecimal } from './text.ts'

/** What the numbers seen so far say of the next one. */
interface Sequence {
  readonly seen: Set<string>
  before: string | undefined
}

/**
 * Returns where the numbers of turns repeat, leave some out or step back. Turn 0 stays in the relay when its followers
 * are archived, and a fresh relay over an old archive starts at 1 again: neither is odd.
 */
export function numberOddities(
  living: readonly PlacedTurn[],
  archive: readonly PlacedTurn[],
): { readonly living: Oddity[]; readonly archive: Oddity[] } {
  const sequence: Sequence = { seen: new Set(), before: undefined }
  const inArchive = archive.flatMap((placed) => oddityOf(sequence, placed, isFirst(placed)))
  const [first] = living
  const followers = first?.turn.number === '0' ? living.slice(1) : living
  const inLiving = followers.flatMap((placed, i) =>
    oddityOf(sequence, placed, i === 0 && isFirst(placed)),
  )
  return { living: inLiving, archive: inArchive }
}

function isFirst({ turn }: PlacedTurn): boolean {
  return decimalOf(turn.number) === '1'
}

function oddityOf(sequence: Sequence, { turn, line }: PlacedTurn, isRestart: boolean): Oddity[] {
  const value = decimalOf(turn.number)
  if (isRestart) {
    sequence.before = undefined
    sequence.seen.clear()
  }
  const { before, seen } = sequence
  const isSeen = seen.has(`${value} ${turn.agent}`)
  sequence.before = value
  seen.add(`${value} ${turn.agent}`)
  if (isSeen)
    return [['HS4305', line, `there is a turn ${bounded(value)} of ${bounded(turn.agent)} already`]]
  if (before === undefined) return []
  if (compareDecimals(value, before) <= 0) {
    return [['HS4307', line, `turn ${bounded(value)} comes after turn ${bounded(before)}`]]
  }
  const isNext = value === nextDecimal(before)
  return isNext ? [] : [['HS4306', line, `turn ${bounded(value)} follows turn ${bounded(before)}`]]
}
