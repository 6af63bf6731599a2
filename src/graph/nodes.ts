import type { Entry, VerifiedEntry } from '../entry/entry.ts'
import { kindOf, nodeKey } from '../entry/kinds.ts'
import type { CidText } from '../../store/cid-text.ts'

/** Entries that are one node, and what they follow together. */
export interface Node {
  /** The entry that names the node: fewest shallow names, no witness's where there is another, then least CID. */
  readonly entry: VerifiedEntry
  readonly entries: readonly VerifiedEntry[]
  /** Every parent that one of the entries links, each once. */
  readonly parents: readonly CidText[]
}

/** Returns the nodes that entries form, by node key. */
export function nodesOf(entries: Iterable<VerifiedEntry>): ReadonlyMap<string, Node> {
  const nodes = new Map<string, Node>()
  const groups = new Map<string, VerifiedEntry[]>()
  for (const entry of entries) {
    if (!kindOf(entry.kind).isNode) continue
    const key = nodeKey(entry)
    const other = nodes.get(key)
    if (other === undefined) nodes.set(key, { entry, entries: [entry], parents: entry.parents })
    else addTo(groups, key, entry, other)
  }
  // nearly every node has one entry: only the others are worth a second look
  for (const [key, group] of groups) nodes.set(key, nodeOf(group))
  return nodes
}

function addTo(
  groups: Map<string, VerifiedEntry[]>,
  key: string,
  entry: VerifiedEntry,
  first: Node,
): void {
  const group = groups.get(key)
  if (group === undefined) groups.set(key, [first.entry, entry])
  else group.push(entry)
}

function nodeOf(group: VerifiedEntry[]): Node {
  const entries = group.sort(byShallowThenCid)
  const parents = [...new Set(entries.flatMap(({ parents }) => parents))]
  return { entry: entries[0]!, entries, parents }
}

/** Orders the entries of one node: the one that names it comes first. */
export function byShallowThenCid(a: Entry, b: Entry): number {
  return (
    a.shallow.length - b.shallow.length ||
    Number(a.witness) - Number(b.witness) ||
    (a.cid < b.cid ? -1 : a.cid > b.cid ? 1 : 0)
  )
}

/**
 * Returns the keys of nodes that are ancestors of themselves. Entries name each other by hash, so each circle goes
 * through a node that was restated, and is looked for from those alone. Iterative (Tarjan's strongly connected
 * components), so that long histories do not exhaust the stack.
 */
export function cyclicNodes(
  nodes: ReadonlyMap<string, Node>,
  keyOf: (parent: CidText) => string | undefined,
): ReadonlySet<string> {
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const open = new Set<string>()
  const stack: string[] = []
  const cyclic = new Set<string>()
  const parentsOf = (key: string): string[] =>
    [...(nodes.get(key)?.parents ?? [])]
      .map(keyOf)
      .filter((parent) => parent !== undefined && nodes.has(parent)) as string[]
  for (const [root, { entries }] of nodes) {
    if (entries.length === 1 || order.has(root)) continue
    const path = [enter(root)]
    while (path.length > 0) {
      const at = path.at(-1)!
      const parent = at.parents.pop()
      if (parent === undefined) {
        path.pop()
        leave(at.key, path.at(-1)?.key)
      } else if (!order.has(parent)) path.push(enter(parent))
      else if (open.has(parent)) {
        low.set(at.key, Math.min(low.get(at.key)!, order.get(parent)!))
        if (parent === at.key) cyclic.add(parent)
      }
    }
  }
  return cyclic

  function enter(key: string): { key: string; parents: string[] } {
    order.set(key, order.size)
    low.set(key, order.get(key)!)
    open.add(key)
    stack.push(key)
    return { key, parents: parentsOf(key) }
  }

  function leave(key: string, child: string | undefined): void {
    if (child !== undefined) low.set(child, Math.min(low.get(child)!, low.get(key)!))
    if (low.get(key) !== order.get(key)) return
    const group = stack.splice(stack.lastIndexOf(key))
    for (const member of group) {
      open.delete(member)
      if (group.length > 1) cyclic.add(member)
    }
  }
}
