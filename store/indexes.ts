import type { CidText } from './cid-text.ts'
import type { RowChange } from './commit.ts'
import type { IndexName } from './keyspace.ts'
import {
  entryKey,
  nameKey,
  nodeKey,
  rangeFan,
  rangeNodeKey,
  rangeOf,
  rowKey,
  tipKey,
} from './keyspace.ts'
import { linksFirst } from './links-first.ts'
import { includesSorted, placeIn } from './sorted.ts'

/** What the indexes need to know of an entry. */
export interface EntryRow {
  readonly cid: CidText
  readonly stream: string
  readonly signer: string
  readonly name: string | undefined
  readonly body: CidText
  readonly parents: readonly CidText[]
  readonly prev: readonly CidText[]
  readonly seq: number
  readonly isNode: boolean
  /**
   * What makes entries of a stream one node; those of one node have one body. In csag streams body and author, of turns
   * body and parents, else the entry's own CID.
   */
  readonly node: string
}

/** Reads the values of a row, undefined when there is none. */
export type ReadRow = (index: IndexName, key: string) => readonly string[] | undefined

/**
 * Returns the changes of rows that adding `entry` makes; none when it is indexed already.
 *
 * A node is a head as long as no indexed node entry has a parent in it, and `heads` lists all entries of head nodes. An
 * entry of a node that is followed already does not make it a head again. A tip is an entry in no `prev` of its signer.
 *
 * Whatever the entry links to in `parents` and `prev` must be indexed before it, if the store holds it at all: rows do
 * not say what an absent entry is followed by. Where one turns up later, use `planAll`.
 *
 * @param read - Must see the changes of every entry planned before.
 */
export function planRows(read: ReadRow, entry: EntryRow): RowChange[] {
  const { cid, stream, name, body, signer, seq } = entry
  const twins = read('bodies', body) ?? []
  if (twins.includes(cid)) return []
  const key = tipKey(stream, signer)
  const tips = (read('tips', key) ?? []).filter((tip) => !holds(entry.prev, tip))
  const rows: RowChange[] = [
    { index: 'entries', key: entryKey(stream, seq, cid), values: [signer] },
    { index: 'bodies', key: body, values: insert(twins, cid) },
    { index: 'tips', key, values: insert(tips, cid) },
  ]
  rows.push(...unfingerprint(read, stream, seq))
  if (name !== undefined) {
    const key = nameKey(stream, name)
    const values = insert(read('names', key) ?? [], cid)
    rows.push({ index: 'names', key, values })
    if (values.length > 1) rows.push({ index: 'doubles', key, values })
  }
  if (entry.isNode) rows.push(...planNode(read, entry, twins))
  return rows
}

/** Where a node of the tree of ranges has a row, all below it have theirs: none is left above the first that has none. */
function unfingerprint(read: ReadRow, stream: string, seq: number): RowChange[] {
  const rows: RowChange[] = []
  for (let level = 0, at = rangeOf(seq); ; level++, at = Math.floor(at / rangeFan)) {
    const key = rangeNodeKey(stream, level, at)
    if (read('ranges', key) === undefined) return rows
    rows.push({ index: 'ranges', key, values: undefined })
  }
}

/**
 * Returns the rows that the given entries make, whatever order they come in: what a store's indexes are rebuilt from.
 *
 * Links to entries that are not among them count as absent.
 */
export function planAll(entries: readonly EntryRow[]): RowChange[] {
  const rows = new Map<string, RowChange>()
  const read: ReadRow = (index, key) => rows.get(rowKey(index, key))?.values
  for (const entry of linksFirst(entries)) {
    for (const row of planRows(read, entry)) rows.set(rowKey(row.index, row.key), row)
  }
  return [...rows.values()].filter(({ values }) => values !== undefined)
}

/** @param twins - The indexed entries with the same body. */
function planNode(read: ReadRow, entry: EntryRow, twins: readonly string[]): RowChange[] {
  const { cid, stream, node, body } = entry
  const before = read('heads', stream) ?? []
  const gone = new Set<string>()
  for (const parent of entry.parents) unhead(read, stream, parent, before, gone)
  const left = gone.size === 0 ? before : before.filter((head) => !gone.has(head))
  // Entries of a node are heads together or not at all, so one that is there tells for all.
  const sibling = twins.find((twin) => nodeOf(read, stream, twin) === node)
  const isHead = sibling === undefined || includesSorted(left, sibling)
  const after = isHead ? insert(left, cid) : left
  const rows: RowChange[] = []
  if (node !== cid) rows.push({ index: 'nodes', key: nodeKey(stream, cid), values: [node, body] })
  const values = after.length === 0 ? undefined : after
  if (after !== before) rows.push({ index: 'heads', key: stream, values })
  return rows
}

/** Adds all entries of the node of `parent` to those that are no heads any more. */
function unhead(
  read: ReadRow,
  stream: string,
  parent: CidText,
  heads: readonly string[],
  gone: Set<string>,
): void {
  if (!includesSorted(heads, parent)) return
  gone.add(parent)
  const [node, body] = read('nodes', nodeKey(stream, parent)) ?? []
  if (node === undefined || body === undefined) return
  for (const twin of read('bodies', body) ?? []) {
    if (nodeOf(read, stream, twin) === node && includesSorted(heads, twin)) gone.add(twin)
  }
}

/** Returns the node of an indexed entry; for a note something that is no node's name. */
function nodeOf(read: ReadRow, stream: string, cid: string): string {
  return read('nodes', nodeKey(stream, cid as CidText))?.[0] ?? cid
}

/** Returns the sorted list with `cid` in its place. */
function insert(sorted: readonly string[], cid: CidText): readonly string[] {
  const at = placeIn(sorted, cid)
  return sorted[at] === cid ? sorted : sorted.toSpliced(at, 0, cid)
}

function holds(cids: readonly CidText[], text: string): boolean {
  return cids.includes(text as CidText)
}
