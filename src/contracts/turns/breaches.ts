import type { Pair } from './pair-turns.ts'
import { pairTurns } from './pair-turns.ts'
import type { Placement, TurnsNow } from './placement.ts'
import type { Turn } from './turn.ts'

/** What was done to a closed turn, against M8Shift's own rule. */
export interface Breach {
  readonly what: 'inserted' | 'removed' | 'renumbered' | 'reordered' | 'rewritten'
  readonly file: 'archive' | 'living'
  /** The place of the old turn in the chain; absent for one that was put in between. */
  readonly place?: number
  /** What stands in its place; absent where nothing does. */
  readonly now?: Turn
}

/** A turn where it stood, or stands. */
interface Standing {
  readonly turn: Turn
  readonly file: Breach['file']
  /** Absent for a turn of now. */
  readonly place?: number
}

/**
 * Returns everything that was done to closed turns; at least one breach, for files that are no legal continuation.
 * Archive and relay are taken as one, which an archive run leaves in order, but for turns with the number `0`.
 */
export function listBreaches(before: Placement, now: TurnsNow): readonly Breach[] {
  const old = standingsBefore(before)
  const found = standingsNow(now)
  const isZero = ({ turn }: Standing): boolean => turn.number === '0'
  const breaches = [
    ...breachesOf(old.filter(isZero), found.filter(isZero)),
    ...breachesOf(
      old.filter((one) => !isZero(one)),
      found.filter((one) => !isZero(one)),
    ),
  ]
  return breaches.length > 0 ? breaches : strayed(old, found)
}

function standingsBefore({ chain, archive, living }: Placement): Standing[] {
  const of = (places: readonly number[], file: Breach['file']): Standing[] =>
    places.map((place) => ({ turn: chain[place]!, file, place }))
  return [...of(archive, 'archive'), ...of(living, 'living')]
}

function standingsNow(now: TurnsNow): Standing[] {
  return (['archive', 'living'] as const).flatMap((file) =>
    now[file].map((turn) => ({ turn, file })),
  )
}

function breachesOf(old: readonly Standing[], found: readonly Standing[]): Breach[] {
  const pairs = pairTurns(
    old.map(({ turn }) => turn),
    found.map(({ turn }) => turn),
  )
  return pairs.flatMap((pair) => breachOf(pair, old, found))
}

function breachOf(
  { old: at, now: to, isMoved }: Pair,
  old: readonly Standing[],
  found: readonly Standing[],
): Breach[] {
  const was = at === undefined ? undefined : old[at]
  const is = to === undefined ? undefined : found[to]
  if (was === undefined) return [{ what: 'inserted', file: is!.file, now: is!.turn }]
  const { file, place, turn } = was
  const of = { file, ...(place !== undefined && { place }) }
  if (is === undefined) return [{ what: 'removed', ...of }]
  if (isMoved) {
    const instead = found[at!]?.turn
    return [{ what: 'reordered', ...of, ...(instead !== undefined && { now: instead }) }]
  }
  if (is.turn.folded === turn.folded) return []
  const what = withNumber(turn, is.turn.number) === is.turn.text ? 'renumbered' : 'rewritten'
  return [{ what, ...of, now: is.turn }]
}

/** Where all turns are there in their order, some stand in the wrong file, or behind a turn 0 that they stood before. */
function strayed(old: readonly Standing[], found: readonly Standing[]): Breach[] {
  return old.flatMap(({ file, place, turn }, i): Breach[] => {
    const now = found[i]
    if (now?.file === file && now.turn.folded === turn.folded) return []
    const of = { file, ...(place !== undefined && { place }) }
    return [{ what: 'reordered', ...of, ...(now !== undefined && { now: now.turn }) }]
  })
}

/** Returns a turn's text with another number in its markers. */
function withNumber({ text, number, agent }: Turn, other: string): string {
  const marker = (value: string): string => `<!-- M8SHIFT:TURN ${value} ${agent} `
  const begin = marker(number).length
  const end = text.lastIndexOf(marker(number))
  return `${marker(other)}${text.slice(begin, end)}${marker(other)}${text.slice(end + begin)}`
}
