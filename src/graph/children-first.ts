import { Heap } from '../kernel/heap.ts'
import { Numbers } from '../kernel/numbers.ts'
import type { History, Place } from './history.ts'

/** The order of nodes, each by the entry that names it. */
export interface NodeOrder {
  /** The nodes in their order. */
  readonly nodes: Uint32Array
  /** Returns the nodes that one follows, as far as they were read. */
  parentsOf(node: Place): readonly Place[]
}

/** More open links than that are not told apart: more has to be read. */
const maxOpen = 1024

/**
 * Returns the nodes of a history, children before parents; of those that are free the one with the largest seq, then the
 * least CID. While links are open only the beginning is returned: what comes first whatever they lead to. Nodes that are
 * ancestors of themselves come last, once all is read.
 */
export function childrenFirst(history: History): NodeOrder {
  const { open } = history
  const nodes = new Nodes(history)
  if (open.length > maxOpen) return nodes.ordered([])
  if (open.length > 0)
    return nodes.ordered(nodes.certain(new Map(open.map((link, i) => [link, i]))))
  const order = nodes.inOrder(() => true)
  if (order.length === nodes.all.length) return nodes.ordered(order)
  const placed = new Set(order)
  return nodes.ordered([...order, ...nodes.all.filter((node) => !placed.has(node))])
}

/** The nodes of a history, in the order in which their first entries were read. */
class Nodes {
  readonly #history: History
  /** By place: the node's own place, where that is another one. */
  readonly #namers = new Map<Place, Place>()
  readonly #entries = new Map<Place, readonly Place[]>()
  readonly all: Place[] = []

  constructor(history: History) {
    this.#history = history
    const firsts = new Map<Place, Place>()
    for (const entries of history.groups()) {
      const [named] = entries as readonly [Place]
      this.#entries.set(named, entries)
      for (const place of entries) this.#namers.set(place, named)
      firsts.set(
        entries.reduce((a, b) => Math.min(a, b)),
        named,
      )
    }
    for (let place = 0; place < history.size; place++) {
      if (!history.isNodeAt(place)) continue
      const node = this.#namers.has(place) ? firsts.get(place) : place
      if (node !== undefined) this.all.push(node)
    }
  }

  ordered(order: Iterable<Place>): NodeOrder {
    return { nodes: Uint32Array.from(order), parentsOf: (node) => this.parentsOf(node) }
  }

  parentsOf(node: Place): readonly Place[] {
    const links = this.#linksOf(node)
    const known = links.map((link) => this.#nodeOf(link)).filter((found) => found !== undefined)
    return links.length > 1 ? [...new Set(known)] : known
  }

  /** Kahn's order, until `mayTake` says no of what comes next. */
  inOrder(mayTake: (node: Place) => boolean): Place[] {
    const left = new Numbers()
    for (const node of this.all)
      for (const parent of this.parentsOf(node)) left.set(parent, left.at(parent) + 1)
    const free = new Heap<Place>((a, b) => this.#isBefore(a, b))
    for (const node of this.all) if (left.at(node) === 0) free.add(node)
    const order: Place[] = []
    for (let next = free.peek(); next !== undefined && mayTake(next); next = free.peek()) {
      free.take()
      order.push(next)
      for (const parent of this.parentsOf(next)) {
        left.set(parent, left.at(parent) - 1)
        if (left.at(parent) === 0) free.add(parent)
      }
    }
    return order
  }

  /**
   * Returns what comes first whatever the open links lead to. What leads to every open link has nothing above it that was
   * not read; whose own link is open is not whole yet.
   */
  certain(open: ReadonlyMap<number, number>): Place[] {
    const reach = new Map<Place, bigint>()
    const isWhole = new Set<Place>()
    for (const node of this.inOrder(() => true).toReversed()) {
      const own = this.#linksOf(node).flatMap((link) => open.get(link) ?? [])
      if (own.length === 0) isWhole.add(node)
      let bits = 0n
      for (const link of own) bits |= 1n << BigInt(link)
      for (const parent of this.parentsOf(node)) bits |= reach.get(parent) ?? 0n
      reach.set(node, bits)
    }
    const all = (1n << BigInt(open.size)) - 1n
    return this.inOrder((node) => isWhole.has(node) && reach.get(node) === all)
  }

  /** Every parent that one of the node's entries links, each once, by number. */
  #linksOf(node: Place): readonly number[] {
    const entries = this.#entries.get(node)
    if (entries === undefined) return this.#history.parentsAt(node)
    return [...new Set(entries.flatMap((place) => this.#history.parentsAt(place)))]
  }

  #nodeOf(link: number): Place | undefined {
    const place = this.#history.placeOf(link)
    if (place === undefined || !this.#history.isNodeAt(place)) return undefined
    return this.#namers.get(place) ?? place
  }

  #isBefore(a: Place, b: Place): boolean {
    const history = this.#history
    const [seqA, seqB] = [history.seqAt(a), history.seqAt(b)]
    return seqA === seqB ? history.cidAt(a) < history.cidAt(b) : seqA > seqB
  }
}
