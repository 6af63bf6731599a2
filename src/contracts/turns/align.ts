import type { Turn } from './turn.ts'

/** Which turns of a chain stood where. */
export interface Placement {
  readonly chain: readonly Turn[]
  /** Places in the chain, in the order of the file. */
  readonly archive: readonly number[]
  readonly living: readonly number[]
}

/** The closed turns of a relay and its archive as they are now. */
export interface TurnsNow {
  readonly archive: readonly Turn[]
  readonly living: readonly Turn[]
}

/** Where turns stand now, and what is new of them. */
export interface Aligned {
  /** Places in the chain with `added` behind it, in the order of the file. */
  readonly archive: readonly number[]
  readonly living: readonly number[]
  readonly added: readonly Turn[]
  /** How many old ones have fewer or more blank lines than before: M8Shift's `archive` folds them. */
  readonly folded: number
  /** How many went from the relay to the archive. */
  readonly archived: number
}

/** What was done to a closed turn, against M8Shift's own rule. */
export interface Breach {
  readonly what: 'inserted' | 'removed' | 'renumbered' | 'reordered' | 'rewritten'
  readonly file: 'archive' | 'living'
  /** The place of the old turn in the chain; undefined for one that was put in between. */
  readonly place: number | undefined
  /** What stands in its place; undefined where nothing does. */
  readonly now: Turn | undefined
}

/**
 * Returns where turns stand now, or the first breach. Turns are known by what they say. Only new ones may come behind
 * all others, and M8Shift's `archive` may have moved the first of the relay behind those of the archive, but for turns
 * with the number `0`.
 */
export function alignTurns(before: Placement, now: TurnsNow): Aligned | Breach {
  const { chain } = before
  const movable = before.living.filter((place) => chain[place]!.number !== '0')
  const isMoved = Math.max(0, Math.min(now.archive.length - before.archive.length, movable.length))
  const moved = new Set(movable.slice(0, isMoved))
  const wanted = {
    archive: [...before.archive, ...moved],
    living: before.living.filter((place) => !moved.has(place)),
  }
  for (const file of ['archive', 'living'] as const) {
    const breach = findBreach(before, now, file, wanted[file])
    if (breach !== undefined) return breach
  }
  // the archive may go on with new turns only when all that could be moved was
  const isDrained = moved.size === movable.length
  const late = now.archive.slice(wanted.archive.length)
  if (late.length > 0 && !isDrained) {
    return { what: 'inserted', file: 'archive', place: undefined, now: late[0] }
  }
  const added = [...late, ...now.living.slice(wanted.living.length)]
  const places = added.map((_, i) => chain.length + i)
  return {
    archive: [...wanted.archive, ...places.slice(0, late.length)],
    living: [...wanted.living, ...places.slice(late.length)],
    added,
    folded:
      countFolded(chain, wanted.archive, now.archive) +
      countFolded(chain, wanted.living, now.living),
    archived: moved.size,
  }
}

function isSame(a: Turn, b: Turn): boolean {
  return a.folded === b.folded
}

function countFolded(
  chain: readonly Turn[],
  places: readonly number[],
  turns: readonly Turn[],
): number {
  return places.filter((place, i) => chain[place]!.text !== turns[i]!.text).length
}

function findBreach(
  { chain }: Placement,
  now: TurnsNow,
  file: 'archive' | 'living',
  wanted: readonly number[],
): Breach | undefined {
  const turns = now[file]
  const at = wanted.findIndex((place, i) => {
    const found = turns[i]
    return found === undefined || !isSame(chain[place]!, found)
  })
  if (at < 0) return undefined
  const place = wanted[at]!
  const found = turns[at]
  const what = nameBreach(chain, now, chain[place]!, found)
  return { what, file, place: what === 'inserted' ? undefined : place, now: found }
}

function nameBreach(
  chain: readonly Turn[],
  now: TurnsNow,
  old: Turn,
  found: Turn | undefined,
): Breach['what'] {
  const isThere = [...now.archive, ...now.living].some((turn) => isSame(turn, old))
  const isKnown = found !== undefined && chain.some((turn) => isSame(turn, found))
  if (isThere) return found === undefined || isKnown ? 'reordered' : 'inserted'
  if (found === undefined || isKnown) return 'removed'
  return withNumber(old, found.number) === found.text ? 'renumbered' : 'rewritten'
}

/** Returns a turn's text with another number in its markers. */
function withNumber({ text, number, agent }: Turn, other: string): string {
  const marker = (value: string): string => `<!-- M8SHIFT:TURN ${value} ${agent} `
  const begin = marker(number).length
  const end = text.lastIndexOf(marker(number))
  return `${marker(other)}${text.slice(begin, end)}${marker(other)}${text.slice(end + begin)}`
}
