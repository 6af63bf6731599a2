import type { Aligned, Behind, Broken } from './align.ts'
import type { Placement, TurnsNow } from './placement.ts'
import type { Turn } from './turn.ts'

type Align = (before: Placement, now: TurnsNow) => Aligned | Broken

/**
 * Returns what files are that are no legal continuation: without the turns that no file was seen to have they may be one,
 * and lack those, or only have them in another order.
 *
 * @param broken - What they are with all turns.
 */
export function findBehind(
  before: Placement,
  now: TurnsNow,
  broken: Broken,
  align: Align,
): Behind | Broken {
  if (before.unseen.size === 0) return broken
  const { lacking, others } = compare(before, now)
  const kept = lacking.size === 0 ? broken : align(without(before, lacking), now)
  if (kept.kind === 'aligned') {
    const next = nextOf(before, lacking, now, kept)
    return { kind: 'behind', lacking: [...lacking], others, next, isMixed: false }
  }
  if (align(without(before, before.unseen), now).kind !== 'aligned') return kept
  if (lacking.size === 0) return { ...broken, isUnseen: true }
  return { kind: 'behind', lacking: [...lacking], others, next: undefined, isMixed: true }
}

/** Returns the unseen places whose turns are nowhere now, and the turns of now that are of no place. */
function compare(
  { archive, chain, living, unseen }: Placement,
  now: TurnsNow,
): { readonly lacking: ReadonlySet<number>; readonly others: readonly Turn[] } {
  const left = new Map<string, Turn[]>()
  for (const turn of [...now.archive, ...now.living]) {
    const known = left.get(turn.folded)
    if (known === undefined) left.set(turn.folded, [turn])
    else known.push(turn)
  }
  const places = [...archive, ...living]
  const isThere = (place: number): boolean => left.get(chain[place]!.folded)?.shift() !== undefined
  for (const place of places) if (!unseen.has(place)) isThere(place)
  const lacking = places.filter((place) => unseen.has(place) && !isThere(place))
  const rest = new Set([...left.values()].flat())
  const others = [...now.archive, ...now.living].filter((turn) => rest.has(turn))
  return { lacking: new Set(lacking), others }
}

function without(before: Placement, places: ReadonlySet<number>): Placement {
  const kept = (list: readonly number[]): number[] => list.filter((place) => !places.has(place))
  return { ...before, archive: kept(before.archive), living: kept(before.living) }
}

function nextOf(
  { archive, living }: Placement,
  lacking: ReadonlySet<number>,
  now: TurnsNow,
  aligned: Aligned,
): Turn | undefined {
  const places = [...archive, ...living]
  const last = places.slice(
    0,
    places.findIndex((place) => lacking.has(place)),
  )
  const before = last.at(-1)
  if (before === undefined) return now.archive[0] ?? now.living[0]
  const archived = aligned.archive.indexOf(before)
  if (archived < 0) return now.living[aligned.living.indexOf(before) + 1]
  return now.archive[archived + 1] ?? now.living.find(({ number }) => number !== '0')
}
