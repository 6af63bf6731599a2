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
  readonly #cut = new Set<CidText>()
  /** The walk that last wanted an entry, and the one that last left it out. */
  readonly #wanted: Int32Array
  readonly #left: Int32Array
  #walk = 0

  /**
   * @param linksOf - The links to follow.
   */
  constructor(entries: Iterable<Linked>, linksOf: (entry: Linked) => readonly CidText[]) {
    const all = [...new Map([...entries].map((entry) => [entry.cid, entry])).values()]
    const indexes = new Map(all.map(({ cid }, index) => [cid, index]))
    const stated = all.map(linksOf)
    const links = stated.map((cids) => numbersOf(cids, indexes))
    const generations = generationsOf(links)
    const ordered = [...all.keys()]
      .filter((index) => generations[index]! > 0)
      .sort((a, b) => generations[a]! - generations[b]! || (all[a]!.cid < all[b]!.cid ? -1 : 1))
    this.order = ordered.map((index) => all[index]!.cid)
    this.#places = new Map(this.order.map((cid, place) => [cid, place]))
    this.#links = ordered.map((index) => numbersOf(stated[index]!, this.#places))
    for (const [place, index] of ordered.entries())
      if (!stated[index]!.every((link) => this.#places.has(link))) this.#cut.add(this.order[place]!)
    this.#wanted = new Int32Array(this.order.length)
    this.#left = new Int32Array(this.order.length)
  }

  has(cid: CidText): boolean {
    return this.#places.has(cid)
  }

  /** Returns whether an entry links to one that is not here. */
  isCut(cid: CidText): boolean {
    return this.#cut.has(cid)
  }

  /** Returns the places in the order of what an entry links to. */
  linksAt(place: number): readonly number[] {
    return this.#links[place]!
  }

  /** Returns where entries stand in the order; those that are not here are left out. */
  placesOf(cids: readonly CidText[]): readonly number[] {
    return cids.map((cid) => this.#places.get(cid)).filter((place) => place !== undefined)
  }

  /**
   * Returns what is reached from `starts`, these included, in order, without what is reached from `without`. Looks no
   * further back than to where all that is left is left out.
   */
  reach(starts: readonly CidText[], without: readonly CidText[] = []): readonly CidText[] {
    const found: number[] = []
    this.#back(this.placesOf(starts), this.placesOf(without), 0, (place) => found.push(place))
    return found.toReversed().map((place) => this.order[place]!)
  }

  /** Returns those among `cids` that are reached from `starts`. Looks no further back than to the first of them. */
  reached(starts: readonly CidText[], cids: readonly CidText[]): ReadonlySet<CidText> {
    const places = this.placesOf(cids)
    const first = places.reduce((least, place) => Math.min(least, place), this.order.length)
    this.#back(this.placesOf(starts), [], first, () => undefined)
    const isReached = (place: number): boolean => this.#wanted[place] === this.#walk
    return new Set(places.filter(isReached).map((place) => this.order[place]!))
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

  /** Goes back from the last place to `first`, and calls `found` with what is wanted and not left out. */
  #back(
    starts: readonly number[],
    without: readonly number[],
    first: number,
    found: (place: number) => void,
  ): void {
    this.#walk += 1
    const [wanted, left, walk] = [this.#wanted, this.#left, this.#walk]
    let open = 0
    const want = (place: number): void => {
      if (wanted[place] === walk || left[place] === walk) return
      wanted[place] = walk
      open += 1
    }
    const leave = (place: number): void => {
      if (left[place] === walk) return
      left[place] = walk
      if (wanted[place] === walk) open -= 1
    }
    for (const place of without) leave(place)
    for (const place of starts) want(place)
    const last = [...starts, ...without].reduce((most, place) => Math.max(most, place), -1)
    for (let place = last; place >= first && open > 0; place--) {
      if (left[place] === walk) for (const link of this.#links[place]!) leave(link)
      else if (wanted[place] === walk) {
        open -= 1
        found(place)
        for (const link of this.#links[place]!) want(link)
      }
    }
  }
}

/** Returns the numbers of what is linked to, each once; what has none is left out. */
function numbersOf(cids: readonly CidText[], numbers: ReadonlyMap<CidText, number>): number[] {
  const found: number[] = []
  for (const cid of cids) {
    const number = numbers.get(cid)
    if (number !== undefined) found.push(number)
  }
  return found.length > 1 ? [...new Set(found)] : found
}

/** Returns how far each is from those that link to none, from 1 on; 0 for what is in a circle or behind one. */
function generationsOf(links: readonly (readonly number[])[]): Int32Array {
  const generations = new Int32Array(links.length)
  const open = Int32Array.from(links, ({ length }) => length)
  const followers: number[][] = links.map(() => [])
  for (const [index, all] of links.entries()) for (const link of all) followers[link]!.push(index)
  const ready = [...links.keys()].filter((index) => open[index] === 0)
  for (const index of ready) {
    generations[index] =
      1 + links[index]!.reduce((most, one) => Math.max(most, generations[one]!), 0)
    for (const follower of followers[index]!) {
      open[follower]! -= 1
      if (open[follower] === 0) ready.push(follower)
    }
  }
  return generations
}
