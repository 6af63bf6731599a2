import type { CidText } from '../../store/cid-text.ts'

/** An entry with the links that order it. */
export interface Linked {
  readonly cid: CidText
  readonly parents: readonly CidText[]
  readonly prev: readonly CidText[]
  readonly refs: readonly CidText[]
}

/** Entries of a stream in an order of their own: each behind all that it links to. */
export class LinkGraph {
  /** By generation, then CID: whatever order the entries came in. An entry that is its own ancestor is left out. */
  readonly order: readonly CidText[]
  readonly #places: ReadonlyMap<CidText, number>
  readonly #links: readonly (readonly number[])[]
  readonly #cut: ReadonlySet<CidText>
  readonly #stamps: Int32Array
  #stamp = 0

  /**
   * @param linksOf - The links to follow.
   */
  constructor(entries: Iterable<Linked>, linksOf: (entry: Linked) => readonly CidText[]) {
    const links = new Map<CidText, readonly CidText[]>()
    for (const entry of entries) links.set(entry.cid, linksOf(entry))
    const generations = generationsOf(links)
    this.order = [...generations.keys()].sort(
      (a, b) => generations.get(a)! - generations.get(b)! || (a < b ? -1 : 1),
    )
    const places = new Map(this.order.map((cid, i) => [cid, i]))
    this.#places = places
    this.#cut = new Set(
      this.order.filter((cid) => links.get(cid)!.some((link) => !places.has(link))),
    )
    this.#links = this.order.map((cid) =>
      links
        .get(cid)!
        .map((link) => places.get(link))
        .filter((place) => place !== undefined),
    )
    this.#stamps = new Int32Array(this.order.length)
  }

  has(cid: CidText): boolean {
    return this.#places.has(cid)
  }

  /** Returns whether an entry links to one that is not here. */
  isCut(cid: CidText): boolean {
    return this.#cut.has(cid)
  }

  /** Returns what is reached from `starts`, these included, in order, without what is reached from `without`. */
  reach(starts: readonly CidText[], without: readonly CidText[] = []): readonly CidText[] {
    this.#stamp += 1
    this.#walk(without)
    const found = Int32Array.from(this.#walk(starts)).sort()
    return Array.from(found, (place) => this.order[place]!)
  }

  /** Returns those among `cids` that are reached from `starts`. */
  reached(starts: readonly CidText[], cids: readonly CidText[]): ReadonlySet<CidText> {
    this.#stamp += 1
    this.#walk(starts)
    return new Set(
      cids.filter((cid) => {
        const place = this.#places.get(cid)
        return place !== undefined && this.#stamps[place] === this.#stamp
      }),
    )
  }

  /** Returns the entries among `cids` that no other of them leads to, sorted. */
  ends(cids: readonly CidText[]): readonly CidText[] {
    const among = new Set(cids)
    const followed = new Set<CidText>()
    for (const cid of among) {
      const place = this.#places.get(cid)
      for (const link of place === undefined ? [] : this.#links[place]!)
        followed.add(this.order[link]!)
    }
    return [...among].filter((cid) => !followed.has(cid)).sort()
  }

  #walk(starts: readonly CidText[]): number[] {
    const stamps = this.#stamps
    const found: number[] = []
    const enter = (place: number | undefined): void => {
      if (place === undefined || stamps[place] === this.#stamp) return
      stamps[place] = this.#stamp
      found.push(place)
    }
    for (const cid of starts) enter(this.#places.get(cid))
    for (let at = 0; at < found.length; at++)
      for (const link of this.#links[found[at]!]!) enter(link)
    return found
  }
}

/** Returns how far each entry is from those that link to none; nothing for what is in a circle or behind one. */
function generationsOf(
  links: ReadonlyMap<CidText, readonly CidText[]>,
): ReadonlyMap<CidText, number> {
  const generations = new Map<CidText, number>()
  const open = new Map<CidText, number>()
  const followers = new Map<CidText, CidText[]>()
  const ready: CidText[] = []
  for (const [cid, all] of links) {
    const known = new Set(all.filter((link) => links.has(link)))
    open.set(cid, known.size)
    if (known.size === 0) ready.push(cid)
    for (const link of known) {
      const list = followers.get(link)
      if (list === undefined) followers.set(link, [cid])
      else list.push(cid)
    }
  }
  for (const cid of ready) {
    const below = links.get(cid)!.map((link) => generations.get(link) ?? 0)
    generations.set(cid, 1 + below.reduce((most, one) => Math.max(most, one), 0))
    for (const follower of followers.get(cid) ?? []) {
      const left = open.get(follower)! - 1
      open.set(follower, left)
      if (left === 0) ready.push(follower)
    }
  }
  return generations
}
