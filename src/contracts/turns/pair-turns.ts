import type { Turn } from './turn.ts'

/** A turn of before and what it is now; one of both is absent for what was removed or put in between. */
export interface Pair {
  readonly old?: number
  readonly now?: number
  /** Whether it stands in another order than before. */
  readonly isMoved: boolean
}

/**
 * Pairs turns of before with those of now: first those that say the same, then, between two that stayed, those that may
 * be the same in other words. New turns behind all others are in no pair.
 */
export function pairTurns(old: readonly Turn[], now: readonly Turn[]): readonly Pair[] {
  const same = pairSame(old, now)
  const kept = new Set(longestRising(same))
  const pairs: Pair[] = []
  const taken = new Set(same.map((pair) => pair.now))
  let from = { old: 0, now: 0 }
  const known = new Map(same.map((pair) => [pair.old, pair]))
  const closeGap = (to: { old: number; now: number }, isLast: boolean): void => {
    const gone = range(from.old, to.old).filter((i) => !known.has(i))
    const come = range(from.now, to.now).filter((i) => !taken.has(i))
    pairs.push(...pairChanged(gone, come, old, now, isLast))
  }
  for (const [i] of old.entries()) {
    const pair = known.get(i)
    if (pair === undefined) continue
    if (!kept.has(pair)) {
      pairs.push({ ...pair, isMoved: true })
      continue
    }
    closeGap(pair, false)
    from = { old: pair.old + 1, now: pair.now + 1 }
  }
  closeGap({ old: old.length, now: now.length }, true)
  return pairs.sort((a, b) => (a.old ?? old.length) - (b.old ?? old.length))
}

interface Same {
  readonly old: number
  readonly now: number
}

/** Of turns that say the same the first is the first. */
function pairSame(old: readonly Turn[], now: readonly Turn[]): Same[] {
  const places = placesBy(now.keys(), (i) => now[i]!.folded)
  const taken = new Map<string, number>()
  return old.flatMap(({ folded }, i) => {
    const count = taken.get(folded) ?? 0
    taken.set(folded, count + 1)
    const place = places.get(folded)?.[count]
    return place === undefined ? [] : [{ old: i, now: place }]
  })
}

/** Returns as many pairs as can be that stand in one order in both (patience sorting). */
function longestRising(pairs: readonly Same[]): Same[] {
  const ends: Same[] = []
  const before = new Map<Same, Same | undefined>()
  for (const pair of pairs) {
    let from = 0
    let to = ends.length
    while (from < to) {
      const middle = (from + to) >> 1
      if (ends[middle]!.now < pair.now) from = middle + 1
      else to = middle
    }
    before.set(pair, ends[from - 1])
    ends[from] = pair
  }
  const rising: Same[] = []
  for (let at = ends.at(-1); at !== undefined; at = before.get(at)) rising.push(at)
  return rising
}

/**
 * What was rewritten keeps its number, or agent and text, or, where as many are gone as have come, its place. What comes
 * behind all others is new.
 */
function pairChanged(
  gone: readonly number[],
  come: readonly number[],
  old: readonly Turn[],
  now: readonly Turn[],
  isLast: boolean,
): Pair[] {
  const left = new Set(come)
  const found = new Map<number, number>()
  for (const likeness of likenesses) {
    const places = placesBy(left, (j) => likeness(now[j]!))
    for (const i of gone) {
      const j = found.has(i) ? undefined : places.get(likeness(old[i]!))?.shift()
      if (j === undefined) continue
      found.set(i, j)
      left.delete(j)
    }
  }
  const rest = [...left]
  if (!isLast && rest.length === gone.length - found.size) {
    for (const i of gone) if (!found.has(i)) found.set(i, rest.shift()!)
  }
  const inserted = isLast ? [] : rest.map((j): Pair => ({ now: j, isMoved: false }))
  return [...gone.map((i) => pairOf(i, found.get(i))), ...inserted]
}

function placesBy(
  places: Iterable<number>,
  keyOf: (place: number) => string,
): ReadonlyMap<string, number[]> {
  const found = new Map<string, number[]>()
  for (const place of places) {
    const known = found.get(keyOf(place))
    if (known === undefined) found.set(keyOf(place), [place])
    else known.push(place)
  }
  return found
}

function pairOf(old: number, now: number | undefined): Pair {
  return { old, ...(now !== undefined && { now }), isMoved: false }
}

/** What tells that two turns may be one, the surest first. */
const likenesses: readonly ((turn: Turn) => string)[] = [
  ({ number, agent }) => `${number} ${agent}`,
  ({ agent, text }) => `${agent}${text.slice(text.indexOf('\n'), text.lastIndexOf('<!--'))}`,
  ({ number }) => number,
]

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i)
}
