import type { CidText } from './cid-text.ts'

/** What an order by links needs of an entry. */
export interface Linked {
  readonly cid: CidText
  readonly parents: readonly CidText[]
  readonly prev: readonly CidText[]
}

/**
 * Returns the entries in an order in which each follows whatever it names in `parents` and `prev`. Links that lead out
 * of the set do not count; of entries with one CID the first is kept.
 */
export function linksFirst<T extends Linked>(entries: Iterable<T>): T[] {
  const all: T[] = []
  const places = new Map<string, number>()
  for (const entry of entries) {
    if (places.has(entry.cid)) continue
    places.set(entry.cid, all.length)
    all.push(entry)
  }
  const placeOf = (link: CidText): number => places.get(link) ?? -1
  const order = orderByLinks(all.length, (at) => {
    const { parents, prev } = all[at]!
    return [...parents, ...prev].map(placeOf)
  })
  return Array.from(order, (at) => all[at]!)
}

/**
 * Returns the numbers from 0 to `size` - 1 in an order in which each follows those that it links to.
 *
 * @param linksOf - What a number links to; -1 for what does not count. Asked once for each.
 */
export function orderByLinks(
  size: number,
  linksOf: (number: number) => readonly number[],
): Uint32Array {
  const order = new Uint32Array(size)
  const isBegun = new Uint8Array(size)
  let placed = 0
  // Depth first with a stack of its own: histories are longer than the call stack is deep. Below its links stands
  // each number once more, as its complement.
  const stack: number[] = []
  for (let first = 0; first < size; first++) {
    stack.push(first)
    for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
      if (top < 0) order[placed++] = ~top
      else if (isBegun[top] === 0) {
        isBegun[top] = 1
        stack.push(~top)
        for (const link of linksOf(top)) if (link >= 0 && isBegun[link] === 0) stack.push(link)
      }
    }
  }
  return order
}
