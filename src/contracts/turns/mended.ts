import type { Aligned } from './align.ts'
import { withoutFinalLineFeeds } from './draft.ts'
import { readRelay } from './markdown.ts'
import type { Placement, TurnsNow } from './placement.ts'
import type { Turn } from './turn.ts'
import { foldBlankLines } from './turn.ts'

/** Turns of now without those that have got their END since, and what puts these back. */
export interface WithoutMended {
  readonly now: TurnsNow
  /** Returns where turns stand with them: as new ones, each where it was begun. */
  putBack(aligned: Aligned): Aligned
}

/**
 * Sets aside the turns whose text, up to the END, stood in no turn before: they were begun, never closed, and so nothing
 * that was closed is changed by them. Undefined where there are none.
 */
export function setMendedAside(before: Placement, now: TurnsNow): WithoutMended | undefined {
  const begun = begunIn(before.loose)
  if (begun.size === 0) return undefined
  const isMended = ({ number, agent, text }: Turn): boolean => {
    const open = withoutFinalLineFeeds(foldBlankLines(text.slice(0, text.lastIndexOf('<!--'))))
    return [...(begun.get(`${number} ${agent}`) ?? [])].some((one) => one.includes(open))
  }
  const mended = new Set([...now.archive, ...now.living].filter(isMended))
  if (mended.size === 0) return undefined
  const others = (turns: readonly Turn[]): Turn[] => turns.filter((turn) => !mended.has(turn))
  return {
    now: { archive: others(now.archive), living: others(now.living) },
    putBack: (aligned) => putBack(aligned, before.chain.length, now, mended),
  }
}

/** Returns the texts in which a turn was begun, by its number and agent. */
function begunIn(loose: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const texts = new Map<string, Set<string>>()
  for (const one of loose) {
    const folded = foldBlankLines(one)
    for (const { number, agent } of readRelay(new TextEncoder().encode(one)).unclosed) {
      const known = texts.get(`${number} ${agent}`)
      if (known === undefined) texts.set(`${number} ${agent}`, new Set([folded]))
      else known.add(folded)
    }
  }
  return texts
}

/** In the chain they come behind all that is known, and before what is new besides. */
function putBack(
  aligned: Aligned,
  known: number,
  now: TurnsNow,
  mended: ReadonlySet<Turn>,
): Aligned {
  let next = known
  const placesOf = (turns: readonly Turn[], places: readonly number[]): number[] => {
    let at = 0
    return turns.map((turn) => {
      if (mended.has(turn)) return next++
      const place = places[at++]!
      return place < known ? place : place + mended.size
    })
  }
  const archive = placesOf(now.archive, aligned.archive)
  const living = placesOf(now.living, aligned.living)
  return { ...aligned, archive, living, added: [...mended, ...aligned.added] }
}
