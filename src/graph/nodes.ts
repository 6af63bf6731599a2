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

/** The nodes of entries, by any of their entries; in the order in which these came. */
export type NodeTable = ReadonlyMap<CidText, Node>

/** Returns the nodes that entries form, each once, in the order in which their first entries come. */
export function nodesOf(entries: Iterable<VerifiedEntry>): readonly Node[] {
  return [...new Set(nodeTable(entries).values())]
}

/** Returns the nodes that entries form, by the CIDs of the entries. */
export function nodeTable(entries: Iterable<VerifiedEntry>): NodeTable {
  const nodes = new Map<CidText, Node>()
  // entries of one node have one body, and nearly every body has one entry: only the others are worth a second look
  const bodies = new Map<CidText, VerifiedEntry>()
  const shared = new Map<CidText, VerifiedEntry[]>()
  for (const entry of entries) {
    if (!kindOf(entry.kind).isNode) continue
    const { body, cid, parents } = entry
    nodes.set(cid, { entry, entries: [entry], parents })
    const other = bodies.get(body)
    if (other === undefined) bodies.set(body, entry)
    else addTo(shared, other, entry)
  }
  for (const group of shared.values()) join(group, nodes)
  return nodes
}

function addTo(
  shared: Map<CidText, VerifiedEntry[]>,
  first: VerifiedEntry,
  entry: VerifiedEntry,
): void {
  const group = shared.get(entry.body)
  if (group === undefined) shared.set(entry.body, [first, entry])
  else group.push(entry)
}

function join(sameBody: readonly VerifiedEntry[], nodes: Map<CidText, Node>): void {
  const groups = new Map<string, VerifiedEntry[]>()
  for (const entry of sameBody) {
    const key = nodeKey(entry)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [entry])
    else group.push(entry)
  }
  for (const group of groups.values()) {
    if (group.length === 1) continue
    const node = nodeOf(group)
    for (const { cid } of group) nodes.set(cid, node)
  }
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
 * Returns the nodes that are ancestors of themselves. Entries name each other by hash, so each circle goes through a node
 * that was restated, and is looked for from those alone. Iterative (Tarjan's strongly connected components), so that long
 * histories do not exhaust the stack.
 */
export function cyclicNodes(nodes: NodeTable): ReadonlySet<Node> {
  const order = new Map<Node, number>()
  const low = new Map<Node, number>()
  const open = new Set<Node>()
  const stack: Node[] = []
  const cyclic = new Set<Node>()
  const parentsOf = ({ parents }: Node): Node[] =>
    parents.map((cid) => nodes.get(cid)).filter((parent) => parent !== undefined)
  for (const root of nodes.values()) {
    if (root.entries.length === 1 || order.has(root)) continue
    const path = [enter(root)]
    while (path.length > 0) {
      const at = path.at(-1)!
      const parent = at.parents.pop()
      if (parent === undefined) {
        path.pop()
        leave(at.node, path.at(-1)?.node)
      } else if (!order.has(parent)) path.push(enter(parent))
      else if (open.has(parent)) {
        low.set(at.node, Math.min(low.get(at.node)!, order.get(parent)!))
        if (parent === at.node) cyclic.add(parent)
      }
    }
  }
  return cyclic

  function enter(node: Node): { node: Node; parents: Node[] } {
    order.set(node, order.size)
    low.set(node, order.get(node)!)
    open.add(node)
    stack.push(node)
    return { node, parents: parentsOf(node) }
  }

  function leave(node: Node, child: Node | undefined): void {
    if (child !== undefined) low.set(child, Math.min(low.get(child)!, low.get(node)!))
    if (low.get(node) !== order.get(node)) return
    const group = stack.splice(stack.lastIndexOf(node))
    for (const member of group) {
      open.delete(member)
      if (group.length > 1) cyclic.add(member)
    }
  }
}
