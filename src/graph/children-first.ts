import type { CidText } from '../../store/cid-text.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { Heap } from '../kernel/heap.ts'
import type { Node } from './nodes.ts'
import { nodesOf } from './nodes.ts'

/** A node in its place among others. */
export interface Placed {
  readonly node: Node
  /** The nodes that it follows, as far as they are known. */
  readonly below: readonly Placed[]
}

/** A node on its way into the order. */
interface Place extends Placed {
  readonly at: number
  readonly below: Place[]
  /** Links of the node that lead to what was not read. */
  open: number[]
  children: number
}

const none: never[] = []

/** More open links than that are not told apart: more has to be read. */
const maxOpen = 1024

/**
 * Returns the nodes of a history, children before parents; of those that are free the one with the largest seq, then the
 * least CID. While links are open only the beginning is returned: what comes first whatever they lead to. Nodes that are
 * ancestors of themselves come last, once all is read.
 */
export function childrenFirst(
  entries: ReadonlyMap<CidText, VerifiedEntry>,
  open: readonly CidText[],
): readonly Placed[] {
  const places = placesOf(entries, open)
  if (open.length === 0) {
    const order = inOrder(places, () => true)
    if (order.length === places.length) return order
    const placed = new Set(order)
    return [...order, ...places.filter((place) => !placed.has(place))]
  }
  if (open.length > maxOpen) return []
  const reach = reachOf(places)
  const all = (1n << BigInt(open.length)) - 1n
  // What leads to every open link has nothing above it that was not read; whose own link is open is not whole yet.
  return inOrder(places, (place) => place.open.length === 0 && reach.get(place) === all)
}

function placesOf(
  entries: ReadonlyMap<CidText, VerifiedEntry>,
  open: readonly CidText[],
): readonly Place[] {
  const places: Place[] = []
  const byEntry = new Map<CidText, Place>()
  for (const node of nodesOf(entries.values())) {
    const place: Place = { node, at: places.length, below: [], open: none, children: 0 }
    places.push(place)
    for (const { cid } of node.entries) byEntry.set(cid, place)
  }
  const links = new Map(open.map((cid, i) => [cid, i]))
  for (const place of places) {
    const { parents } = place.node
    const known = parents.map((cid) => byEntry.get(cid)).filter((found) => found !== undefined)
    for (const parent of parents.length > 1 ? new Set(known) : known) {
      place.below.push(parent)
      parent.children += 1
    }
    if (known.length === parents.length) continue
    place.open = parents.map((cid) => links.get(cid)).filter((link) => link !== undefined)
  }
  return places
}

/** Kahn's order, until `mayTake` says no of what comes next. */
function inOrder(places: readonly Place[], mayTake: (place: Place) => boolean): readonly Place[] {
  const left = Uint32Array.from(places, ({ children }) => children)
  const free = new Heap<Place>(isBefore)
  for (const place of places) if (place.children === 0) free.add(place)
  const order: Place[] = []
  for (let next = free.peek(); next !== undefined && mayTake(next); next = free.peek()) {
    free.take()
    order.push(next)
    for (const parent of next.below) {
      left[parent.at]! -= 1
      if (left[parent.at] === 0) free.add(parent)
    }
  }
  return order
}

function isBefore({ node: { entry: a } }: Place, { node: { entry: b } }: Place): boolean {
  return a.seq === b.seq ? a.cid < b.cid : a.seq > b.seq
}

/** Which open links each node leads to, one bit for each. */
function reachOf(places: readonly Place[]): ReadonlyMap<Place, bigint> {
  const reach = new Map<Place, bigint>()
  const order = inOrder(places, () => true)
  for (const place of order.toReversed()) {
    let bits = 0n
    for (const link of place.open) bits |= 1n << BigInt(link)
    for (const parent of place.below) bits |= reach.get(parent) ?? 0n
    reach.set(place, bits)
  }
  return reach
}
