import { CidTable } from '../../store/cid-table.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { BegunEntry, Context } from '../context.ts'
import { beginEntry } from '../context.ts'
import { EntryRows } from '../entry/entry-rows.ts'
import type { Entry, VerifiedEntry } from '../entry/entry.ts'
import { kindOf, nodeKey } from '../entry/kinds.ts'
import { Numbers } from '../kernel/numbers.ts'
import { cidsIn } from './index-row.ts'
import { byShallowThenCid } from './nodes.ts'

/** Signatures under way at once, at most. */
const underWay = 512

/** An entry that was read, by its place among those read: 0, 1, 2 … */
export type Place = number

/** Nodes and their ancestors, as far down as was asked for, in some 220 bytes an entry. */
export class History {
  readonly #context: Context
  /** Of entries, and of what they name. */
  readonly #cids = new CidTable()
  /** By place. */
  readonly #entries = new EntryRows(this.#cids)
  #begun = 0
  /** By CID: the place of the entry plus one, 0 while it was not read. */
  readonly #places = new Numbers()
  /** By CID: whether it was in a wave. */
  readonly #queued = new Numbers()
  /** By body: the place plus one of the entry that was read last of those that have it; by place the one before. */
  readonly #lastWith = new Numbers()
  readonly #before = new Numbers()
  /** The last entries with bodies that others have as well. */
  readonly #sharing = new Set<Place>()
  /** By place: where in `links` the parents are, their number first. */
  readonly #linksAt = new Numbers()
  readonly #links = new Numbers()
  #wave: readonly number[]
  #pending: Promise<VerifiedEntry>[] = []

  constructor(context: Context, starts: readonly CidText[]) {
    this.#context = context
    this.#wave = [...new Set(starts)].map((cid) => this.#queue(this.#cids.add(cid)))
  }

  /** How many entries were read. */
  get size(): number {
    return this.#entries.size
  }

  /** Links that lead on, by number; nothing is known of what they name. */
  get open(): readonly number[] {
    return this.#wave
  }

  /** Returns the entry at a place. */
  entryAt(place: Place): VerifiedEntry {
    return this.#entries.entryAt(place)
  }

  cidAt(place: Place): CidText {
    return this.#entries.cidOf(place)
  }

  seqAt(place: Place): number {
    return this.#entries.seqOf(place)
  }

  isNodeAt(place: Place): boolean {
    return kindOf(this.#entries.kindOf(place)).isNode
  }

  /** Returns the parents of an entry, by number. */
  parentsAt(place: Place): readonly number[] {
    const at = this.#linksAt.at(place)
    return Array.from({ length: this.#links.at(at) }, (_, i) => this.#links.at(at + 1 + i))
  }

  /** Returns the place of the entry whose CID has a number; undefined while it was not read. */
  placeOf(number: number): Place | undefined {
    const place = this.#places.at(number) - 1
    return place < 0 ? undefined : place
  }

  /** Returns the entries that are one node together, the one first that names it. */
  *groups(): Generator<readonly Place[]> {
    for (const last of this.#sharing) {
      const nodes = new Map<string, VerifiedEntry[]>()
      const places = new Map<CidText, Place>()
      for (let place = last; place >= 0; place = this.#before.at(place) - 1) {
        if (!this.isNodeAt(place)) continue
        const entry = this.entryAt(place)
        places.set(entry.cid, place)
        const node = nodes.get(nodeKey(entry))
        if (node === undefined) nodes.set(nodeKey(entry), [entry])
        else node.push(entry)
      }
      for (const node of nodes.values())
        if (node.length > 1) yield node.sort(byShallowThenCid).map(({ cid }) => places.get(cid)!)
    }
  }

  /**
   * Reads on, children before parents, until `count` entries are there or nothing is open.
   *
   * @throws {HstoreError} what `getEntry` throws.
   */
  async read(count: number): Promise<void> {
    while (this.#wave.length > 0 && this.#begun < count) {
      const next: number[] = []
      for (const number of this.#wave)
        if (this.#places.at(number) === 0) await this.#readNode(this.#cids.at(number), next)
      this.#wave = next.filter((number) => this.#places.at(number) === 0)
    }
    await this.#settle(0)
  }

  async #readNode(cid: CidText, next: number[]): Promise<void> {
    const begun = await beginEntry(this.#context, cid)
    await this.#take(begun, next)
    const key = nodeKey(begun.stated)
    if (key === cid) return
    for (const other of cidsIn(this.#context, { index: 'bodies', body: begun.stated.body })) {
      const number = this.#cids.find(other)
      if (number !== undefined && this.#places.at(number) > 0) continue
      const sibling = await beginEntry(this.#context, other)
      if (nodeKey(sibling.stated) === key && this.#isValid(sibling.stated))
        await this.#take(sibling, next)
    }
  }

  async #take({ stated, verified }: BegunEntry, next: number[]): Promise<void> {
    const place = this.#begun++
    this.#places.set(this.#cids.add(stated.cid), place + 1)
    this.#noteBody(this.#cids.add(stated.body), place)
    this.#linksAt.set(place, this.#links.size)
    this.#links.push(stated.parents.length)
    for (const parent of stated.parents) {
      const number = this.#cids.add(parent)
      this.#links.push(number)
      if (this.#queued.at(number) === 0) next.push(this.#queue(number))
    }
    this.#pending.push(verified)
    if (this.#pending.length > underWay) await this.#settle(underWay / 2)
  }

  #noteBody(body: number, place: Place): void {
    const before = this.#lastWith.at(body)
    this.#lastWith.set(body, place + 1)
    this.#before.set(place, before)
    if (before === 0) return
    this.#sharing.delete(before - 1)
    this.#sharing.add(place)
  }

  #queue(number: number): number {
    this.#queued.set(number, 1)
    return number
  }

  /** What somebody without a right says of a document changes nothing about it. */
  #isValid(entry: Entry): boolean {
    return this.#context.trust.standingOf(entry).standing === 'valid'
  }

  /** Waits until at most `most` signatures are still being checked, those begun first, and takes those entries in. */
  async #settle(most: number): Promise<void> {
    const begun = this.#pending.splice(0, this.#pending.length - most)
    for (const entry of await Promise.all(begun)) this.#entries.add(entry)
  }
}
