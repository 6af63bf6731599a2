import type { CidText } from '../../store/cid-text.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { nodeKey } from '../entry/kinds.ts'
import type { LoadedGraph } from './loaded.ts'
import { nodesOf } from './nodes.ts'

/**
 * Returns the entries of the head's node and of all nodes that it follows. A loaded graph holds more: the signers'
 * chains lead to entries beside the ancestry, which say nothing about the head.
 */
export function ancestryOf(graph: LoadedGraph, head: CidText): readonly VerifiedEntry[] {
  const nodes = nodesOf(graph.entries.values())
  const start = graph.entries.get(head)
  const seen = new Set<string>()
  const found: VerifiedEntry[] = []
  const waiting = start === undefined ? [] : [nodeKey(start)]
  for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
    const node = seen.has(key) ? undefined : nodes.get(key)
    seen.add(key)
    if (node === undefined) continue
    found.push(...node.entries)
    for (const cid of node.parents) {
      const parent = graph.entries.get(cid)
      if (parent !== undefined) waiting.push(nodeKey(parent))
    }
  }
  return found
}
