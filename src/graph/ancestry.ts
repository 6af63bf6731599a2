import type { CidText } from '../../store/cid-text.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import type { LoadedGraph } from './loaded.ts'
import type { Node } from './nodes.ts'
import { nodeTable } from './nodes.ts'

/**
 * Returns the entries of the head's node and of all nodes that it follows. A loaded graph holds more: the signers'
 * chains lead to entries beside the ancestry, which say nothing about the head.
 */
export function ancestryOf(graph: LoadedGraph, head: CidText): readonly VerifiedEntry[] {
  const nodes = nodeTable(graph.entries.values())
  const seen = new Set<Node>()
  const found: VerifiedEntry[] = []
  const waiting = [head]
  for (let cid = waiting.pop(); cid !== undefined; cid = waiting.pop()) {
    const node = nodes.get(cid)
    if (node === undefined || seen.has(node)) continue
    seen.add(node)
    for (const entry of node.entries) found.push(entry)
    for (const parent of node.parents) waiting.push(parent)
  }
  return found
}
