import type { CidText } from '../../store/cid-text.ts'

/** Which facts an entry knows of, a bit for each; shared by entries that know of the same ones. */
export type Facts = Uint32Array

/** No facts. */
export const noFacts: Facts = new Uint32Array(0)

/** Gives the few entries that others are asked about a bit each, in order. */
export class FactBits {
  readonly #bits: ReadonlyMap<CidText, number>

  constructor(cids: Iterable<CidText>) {
    this.#bits = new Map([...cids].map((cid, bit) => [cid, bit]))
  }

  /** Returns the facts with an entry; the same where it is none. */
  with(facts: Facts, cid: CidText): Facts {
    const bit = this.#bits.get(cid)
    if (bit === undefined) return facts
    const more = new Uint32Array(Math.max(facts.length, (bit >>> 5) + 1))
    more.set(facts)
    more[bit >>> 5]! |= 1 << (bit & 31)
    return more
  }

  /** Returns whether an entry is among the facts. */
  has(facts: Facts, cid: CidText): boolean {
    const bit = this.#bits.get(cid)
    if (bit === undefined || bit >>> 5 >= facts.length) return false
    return (facts[bit >>> 5]! & (1 << (bit & 31))) !== 0
  }
}

/** Returns all facts of two; one of them itself where it has all. */
export function joinFacts(a: Facts, b: Facts): Facts {
  if (a === b) return a
  const [long, short] = a.length < b.length ? [b, a] : [a, b]
  if (short.every((word, i) => (word & ~long[i]!) === 0)) return long
  if (long.length === short.length && long.every((word, i) => (word & ~short[i]!) === 0))
    return short
  const all = Uint32Array.from(long)
  for (let i = 0; i < short.length; i++) all[i]! |= short[i]!
  return all
}
