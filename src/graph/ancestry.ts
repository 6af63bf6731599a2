import { CidTable } from '../../store/cid-table.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import type { LoadedGraph } from './loaded.ts'
import { NodeTable } from './nodes.ts'

/**
 * Returns the entries of the head's node and of all nodes that it follows. A loaded graph holds more: the signers'
 * chains lead to entries beside the ancestry, which say nothing about the head.
 */
export function ancestryOf(graph: LoadedGraph, head: CidText): readonly VerifiedEntry[] {
  const nodes = new NodeTable(graph.entries)
  const seen = new CidTable()
  const found: VerifiedEntry[] = []
  const waiting = [head]
  for (let cid = waiting.pop(); cid !== undefined; cid = waiting.pop()) {
    const node = nodes.get(cid)
    if (node === undefined || seen.find(node.entry.cid) !== undefined) continue
    seen.add(node.entry.cid)
    for (const entry of node.entries) found.push(entry)
    for (const parent of node.parents) waiting.push(parent)
  }
  return found
}
