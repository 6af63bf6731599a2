import type { Breach } from './breaches.ts'
import { listBreaches } from './breaches.ts'
import { findBehind } from './behind.ts'
import { setMendedAside } from './mended.ts'
import type { Placement, TurnsNow } from './placement.ts'
import { compareDecimals, decimalOf } from './text.ts'
import type { Turn } from './turn.ts'
import { foldBlankLines } from './turn.ts'

/** Where turns stand now, and what is new of them. */
export interface Aligned {
  readonly kind: 'aligned'
  /** Places in the chain with `added` behind it, in the order of the file. */
  readonly archive: readonly number[]
  readonly living: readonly number[]
  readonly added: readonly Turn[]
  /** How many old ones have blank lines folded, as M8Shift's `archive` leaves them. */
  readonly folded: number
  /** How many old ones have other blank lines than before, and not as M8Shift's `archive` leaves them. */
  readonly respaced: number
  /** How many went from the relay to the archive. */
  readonly archived: number
  /** How many new ones an archive that was not known begins with: nothing but their numbers says that they are older. */
  readonly older: number
}

/** What was done to closed turns, against M8Shift's own rule; one or more. */
export interface Broken {
  readonly kind: 'broken'
  readonly breaches: readonly Breach[]
  /** Whether nothing was done to turns that were seen in the files: others stand not as the chain has them. */
  readonly isUnseen: boolean
}

/** A relay that lacks turns which no file was seen to have. */
export interface Behind {
  readonly kind: 'behind'
  /** Places in the chain. */
  readonly lacking: readonly number[]
  /** What the chain has not. */
  readonly others: readonly Turn[]
  /** What stands where the first of them should; undefined for the end of the file. */
  readonly next: Turn | undefined
  /** Whether the turns that are there do not stand as the chain has them. */
  readonly isMixed: boolean
}

/**
 * Returns where turns stand now, or what is wrong. Turns are known by what they say. Only new ones may come behind all
 * others, and M8Shift's `archive` may have moved the first of the relay behind those of the archive, but for turns with
 * the number `0`. An archive where none was known may begin with turns that are older than all others, and a turn that was
 * begun may have got its END.
 */
export function alignTurns(before: Placement, now: TurnsNow): Aligned | Behind | Broken {
  const aligned = alignKnown(before, now)
  return aligned.kind === 'aligned' ? aligned : findBehind(before, now, aligned, alignKnown)
}

function alignKnown(before: Placement, now: TurnsNow): Aligned | Broken {
  const aligned = alignClosed(before, now)
  if (aligned.kind === 'aligned') return aligned
  const aside = setMendedAside(before, now)
  const without = aside && alignClosed(before, aside.now)
  return without?.kind === 'aligned' ? aside!.putBack(without) : aligned
}

function alignClosed(before: Placement, now: TurnsNow): Aligned | Broken {
  const wanted = wantedOf(before, now)
  const { chain } = before
  const atArchive = firstOther(chain, wanted.archive, now.archive.slice(wanted.older))
  const atLiving = firstOther(chain, wanted.living, now.living)
  if (atArchive < 0 && atLiving < 0) return findAligned(before, now, wanted)
  return { kind: 'broken', breaches: listBreaches(before, now), isUnseen: false }
}

/** What the files should hold of the chain. */
interface Wanted {
  /** How many new turns the archive begins with. */
  readonly older: number
  readonly archive: readonly number[]
  readonly living: readonly number[]
  readonly moved: number
  /** Whether all that `archive` could move was moved. */
  readonly isDrained: boolean
}

function wantedOf(before: Placement, now: TurnsNow): Wanted {
  const { chain } = before
  const movable = before.living.filter((place) => chain[place]!.number !== '0')
  const older = before.hadArchive ? 0 : olderTurns(chain, movable, now)
  const room = now.archive.length - older - before.archive.length
  const count = Math.max(0, Math.min(room, movable.length))
  const moved = new Set(movable.slice(0, count))
  return {
    older,
    archive: [...before.archive, ...moved],
    living: before.living.filter((place) => !moved.has(place)),
    moved: count,
    isDrained: count === movable.length,
  }
}

/**
 * Returns how many turns an archive that was not known begins with which came before all that is known. By their numbers
 * they have to: each below the first of the relay, and no turn 0, which M8Shift never moves.
 */
function olderTurns(chain: readonly Turn[], movable: readonly number[], now: TurnsNow): number {
  const first = movable[0]
  if (first === undefined) return 0
  const left = now.living.find(({ number }) => number !== '0')
  const isMoved = left === undefined || !isSame(chain[first]!, left)
  const count = isMoved
    ? now.archive.findIndex((turn) => isSame(chain[first]!, turn))
    : now.archive.length
  if (count <= 0) return 0
  const begin = decimalOf(chain[first]!.number)
  const isOlder = ({ number }: Turn): boolean =>
    number !== '0' && compareDecimals(decimalOf(number), begin) < 0
  return now.archive.slice(0, count).every(isOlder) ? count : 0
}

function findAligned(before: Placement, now: TurnsNow, wanted: Wanted): Aligned | Broken {
  const { chain } = before
  const older = now.archive.slice(0, wanted.older)
  // the archive may go on with new turns only when all that could be moved was, and M8Shift never moves a turn 0
  const late = now.archive.slice(wanted.older + wanted.archive.length)
  const isKnown = chain.length > 0
  const strange = wanted.isDrained ? late.filter(({ number }) => isKnown && number === '0') : late
  if (strange.length > 0) {
    const what = 'inserted' as const
    const breaches = strange.map((turn): Breach => ({ what, file: 'archive', now: turn }))
    return { kind: 'broken', breaches, isUnseen: false }
  }
  const added = [...older, ...late, ...now.living.slice(wanted.living.length)]
  const places = added.map((_, i) => chain.length + i)
  const inArchive = wanted.older + late.length
  const archive = [
    ...places.slice(0, wanted.older),
    ...wanted.archive,
    ...places.slice(wanted.older, inArchive),
  ]
  const living = [...wanted.living, ...places.slice(inArchive)]
  const spacings = [
    ...spacingsOf(chain, wanted.archive, now.archive.slice(wanted.older)),
    ...spacingsOf(chain, wanted.living, now.living),
  ]
  return {
    kind: 'aligned',
    archive,
    living,
    added,
    folded: spacings.filter((isFolded) => isFolded).length,
    respaced: spacings.filter((isFolded) => !isFolded).length,
    archived: wanted.moved,
    older: wanted.older,
  }
}

/** Returns whether two turns say the same but for how many blank lines follow each other. */
export function isSame(a: Turn, b: Turn): boolean {
  return a.folded === b.folded
}

function firstOther(
  chain: readonly Turn[],
  places: readonly number[],
  turns: readonly Turn[],
): number {
  return places.findIndex((place, i) => {
    const found = turns[i]
    return found === undefined || !isSame(chain[place]!, found)
  })
}

/** Returns, for each turn that has other blank lines than in the chain, whether M8Shift's `archive` leaves it so. */
function spacingsOf(
  chain: readonly Turn[],
  places: readonly number[],
  turns: readonly Turn[],
): boolean[] {
  return places.flatMap((place, i) => {
    const [old, now] = [chain[place]!.text, turns[i]!.text]
    return old === now ? [] : [now === foldBlankLines(old)]
  })
}
