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
  const all = new Map<string, T>()
  for (const entry of entries) if (!all.has(entry.cid)) all.set(entry.cid, entry)
  const ordered: T[] = []
  const placed = new Set<string>()
  for (const entry of all.values()) placeWithLinks(entry, all, placed, ordered)
  return ordered
}

/** Depth first with a stack of its own: histories are longer than the call stack is deep. */
function placeWithLinks<T extends Linked>(
  first: T,
  all: ReadonlyMap<string, T>,
  placed: Set<string>,
  ordered: T[],
): void {
  if (placed.has(first.cid)) return
  placed.add(first.cid)
  const stack = [{ entry: first, links: linksOf(first) }]
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    const link = top.links.pop()
    if (link === undefined) {
      stack.pop()
      ordered.push(top.entry)
      continue
    }
    const entry = all.get(link)
    if (entry === undefined || placed.has(link)) continue
    placed.add(link)
    stack.push({ entry, links: linksOf(entry) })
  }
}

function linksOf(entry: Linked): CidText[] {
  return [...entry.parents, ...entry.prev]
}
