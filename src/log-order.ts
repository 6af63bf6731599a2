import { CidTable } from '../store/cid-table.ts'
import type { CidText } from '../store/cid-text.ts'
import type { Context } from './context.ts'
import { getEntry } from './context.ts'
import { EntryRows } from './entry/entry-rows.ts'
import type { VerifiedEntry } from './entry/entry.ts'
import type { NodeOrder } from './graph/children-first.ts'
import { childrenFirst } from './graph/children-first.ts'
import { History } from './graph/history.ts'
import { Numbers } from './kernel/numbers.ts'

/** The entries of a log in their order, packed: each is an object only while somebody looks at it. */
export interface LogOrder {
  /** How many entries there are. */
  readonly size: number
  entryAt(index: number): VerifiedEntry
  cidAt(index: number): CidText
  /** Returns the CIDs of what an entry follows. */
  parentsAt(index: number): readonly CidText[]
  /** Returns the indexes of what it follows; a number from `size` on stands for an entry that the log does not have. */
  indexesAt(index: number): readonly number[]
}

/**
 * Returns nodes and their ancestors, children before parents; of those that are free the one with the largest seq, then
 * the least CID.
 *
 * @param limit - How many at most: no more of the history is read than it takes to be sure of their order.
 * @throws {HstoreError} what `getEntry` throws of an entry on the way.
 */
export async function orderNodes(
  context: Context,
  starts: readonly CidText[],
  limit: number,
): Promise<LogOrder> {
  const history = new History(context, starts)
  for (let count = 2 * limit + 16; ; count *= 2) {
    await history.read(count)
    const order = childrenFirst(history)
    if (order.nodes.length >= limit || history.open.length === 0)
      return new NodeLog(history, order, limit)
  }
}

/**
 * Returns notes and what stands before them in their signers' chains, the largest seq first. Notes have no parents: what
 * they follow is `prev`.
 *
 * @throws {HstoreError} what `getEntry` throws.
 */
export async function orderNotes(
  context: Context,
  starts: readonly CidText[],
  limit: number,
): Promise<LogOrder> {
  const notes = new NoteLog(starts)
  await notes.read(context)
  notes.sort(limit)
  return notes
}

class NodeLog implements LogOrder {
  readonly size: number
  readonly #history: History
  readonly #order: NodeOrder
  /** By place: the index plus one. */
  readonly #indexes = new Numbers()

  constructor(history: History, order: NodeOrder, limit: number) {
    this.#history = history
    this.#order = order
    this.size = Math.min(limit, order.nodes.length)
    for (let index = 0; index < this.size; index++)
      this.#indexes.set(order.nodes[index]!, index + 1)
  }

  entryAt(index: number): VerifiedEntry {
    return this.#history.entryAt(this.#order.nodes[index]!)
  }

  cidAt(index: number): CidText {
    return this.#history.cidAt(this.#order.nodes[index]!)
  }

  parentsAt(index: number): readonly CidText[] {
    return this.#parentsOf(index).map((node) => this.#history.cidAt(node))
  }

  indexesAt(index: number): readonly number[] {
    return this.#parentsOf(index).map((node) => indexIn(this.#indexes, node, this.size))
  }

  #parentsOf(index: number): readonly number[] {
    return this.#order.parentsOf(this.#order.nodes[index]!)
  }
}

class NoteLog implements LogOrder {
  size = 0
  /** The notes and what they name; by place, the notes. */
  readonly #cids = new CidTable()
  readonly #entries = new EntryRows(this.#cids)
  /** The numbers of the notes, in the order in which they are read, and by number the place plus one. */
  readonly #queue = new Numbers()
  readonly #places = new Numbers()
  /** By place: the index plus one. */
  readonly #indexes = new Numbers()
  #order = new Uint32Array(0)

  constructor(starts: readonly CidText[]) {
    for (const cid of starts) this.#add(cid)
  }

  async read(context: Context): Promise<void> {
    for (let at = 0; at < this.#queue.size; at++) {
      const entry = await getEntry(context, this.#cids.at(this.#queue.at(at)))
      this.#entries.add(entry)
      for (const cid of entry.prev) this.#add(cid)
    }
  }

  sort(limit: number): void {
    const places = Uint32Array.from({ length: this.#queue.size }, (_, place) => place)
    this.#order = places.sort((a, b) => this.#compare(a, b)).slice(0, limit)
    this.size = this.#order.length
    for (const [index, place] of this.#order.entries()) this.#indexes.set(place, index + 1)
  }

  entryAt(index: number): VerifiedEntry {
    return this.#entries.entryAt(this.#order[index]!)
  }

  cidAt(index: number): CidText {
    return this.#entries.cidOf(this.#order[index]!)
  }

  parentsAt(index: number): readonly CidText[] {
    return this.#entries.prevOf(this.#order[index]!)
  }

  indexesAt(index: number): readonly number[] {
    return this.parentsAt(index).map((cid) => {
      const place = this.#places.at(this.#cids.find(cid)!) - 1
      return indexIn(this.#indexes, place, this.size)
    })
  }

  #add(cid: CidText): void {
    const number = this.#cids.add(cid)
    if (this.#places.at(number) > 0) return
    this.#queue.push(number)
    this.#places.set(number, this.#queue.size)
  }

  #compare(a: number, b: number): number {
    const entries = this.#entries
    const bySeq = entries.seqOf(b) - entries.seqOf(a)
    return bySeq || (entries.cidOf(a) < entries.cidOf(b) ? -1 : 1)
  }
}

function indexIn(indexes: Numbers, place: number, size: number): number {
  const index = indexes.at(place) - 1
  return index < 0 ? size + place : index
}
