import type { CidText } from '../store/cid-text.ts'
import type { Context } from './context.ts'
import { getEntry } from './context.ts'
import type { VerifiedEntry } from './entry/entry.ts'
import { familyOf, nodeKey } from './entry/kinds.ts'
import type { Node } from './graph/nodes.ts'
import { nodesOf } from './graph/nodes.ts'
import { headsOf, streamsOf } from './graph/ref.ts'
import type { Standing } from './trust/standing.ts'

/** A node as `log` shows it: the entry that names it, and its parents by the entries that name them. */
export interface Logged {
  readonly entry: VerifiedEntry
  readonly parents: readonly CidText[]
  readonly standing: Standing['standing']
}

/** Returns nodes and their ancestors, children before parents; of those that are free the one with the largest seq. */
export async function logOf(
  context: Context,
  starts: readonly CidText[],
  limit: number,
): Promise<readonly Logged[]> {
  const entries = new Map<CidText, VerifiedEntry>()
  let wave: readonly CidText[] = starts
  while (wave.length > 0) {
    const next = new Set<CidText>()
    for (const cid of wave) {
      for (const entry of await nodeEntries(context, cid)) {
        entries.set(entry.cid, entry)
        for (const parent of entry.parents) next.add(parent)
      }
    }
    wave = [...next].filter((cid) => !entries.has(cid))
  }
  return childrenFirst(entries)
    .slice(0, limit)
    .map(({ node, parents }) => ({
      entry: node.entry,
      parents: parents.map((parent) => parent.entry.cid),
      standing: context.trust.standingOf(node.entry).standing,
    }))
}

/** Returns an entry with the others of its node. */
async function nodeEntries(context: Context, cid: CidText): Promise<readonly VerifiedEntry[]> {
  const entry = await getEntry(context, cid)
  if (nodeKey(entry) === cid) return [entry]
  const carriers: VerifiedEntry[] = []
  for (const other of (context.db.readRow('bodies', entry.body) ?? []) as CidText[]) {
    carriers.push(await getEntry(context, other))
  }
  return [entry, ...carriers.filter((other) => nodeKey(other) === nodeKey(entry))]
}

interface Placed {
  readonly node: Node
  readonly parents: readonly Node[]
}

/** Kahn's order from the start down. Nodes that are ancestors of themselves come last: `verify` names them. */
function childrenFirst(entries: ReadonlyMap<CidText, VerifiedEntry>): readonly Placed[] {
  const nodes = nodesOf(entries.values())
  const parentsOf = ({ parents }: Node): Node[] => {
    const keys = new Set([...parents].map((cid) => nodeKey(entries.get(cid)!)))
    return [...keys].map((key) => nodes.get(key)!)
  }
  const placed = new Map(
    [...nodes.values()].map((node) => [node, { node, parents: parentsOf(node) }]),
  )
  const children = new Map<Node, number>()
  for (const { parents } of placed.values()) {
    for (const parent of parents) children.set(parent, (children.get(parent) ?? 0) + 1)
  }
  const free = [...placed.keys()].filter((node) => !children.has(node))
  const order = new Set<Placed>()
  while (free.length > 0) {
    free.sort((a, b) => a.entry.seq - b.entry.seq || (a.entry.cid < b.entry.cid ? 1 : -1))
    const next = placed.get(free.pop()!)!
    order.add(next)
    for (const parent of next.parents) {
      const left = children.get(parent)! - 1
      children.set(parent, left)
      if (left === 0) free.push(parent)
    }
  }
  return [...order, ...[...placed.values()].filter((node) => !order.has(node))]
}

/** A head of a stream. */
export interface Head {
  readonly stream: string
  readonly entry: VerifiedEntry
}

/** Returns the heads of every stream but the roster's; two of one stream are a fork. */
export async function allHeads(context: Context): Promise<readonly Head[]> {
  const heads: Head[] = []
  for (const stream of await streamsOf(context)) {
    if (familyOf(stream) === 'roster') continue
    for (const entry of await headsOf(context, stream)) heads.push({ stream, entry })
  }
  return heads
}
