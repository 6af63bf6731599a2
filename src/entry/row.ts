import type { EntryRow } from '../../store/indexes.ts'
import type { Entry } from './entry.ts'
import { kindOf, nodeKey } from './kinds.ts'

/** Returns what the indexes of the store need to know of an entry. */
export function rowOf(entry: Entry): EntryRow {
  const { cid, stream, signer, name, body, parents, prev, seq } = entry
  const { isNode } = kindOf(entry.kind)
  return { cid, stream, signer, name, body, parents, prev, seq, isNode, node: nodeKey(entry) }
}
