import { CidTable } from '../../store/cid-table.ts'
import type { CidText } from '../../store/cid-text.ts'
import { parseEntryKey } from '../../store/keyspace.ts'
import { orderByLinks } from '../../store/links-first.ts'
import type { Context } from '../context.ts'
import { getEntry } from '../context.ts'
import { EntryRows } from '../entry/entry-rows.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { Numbers } from '../kernel/numbers.ts'

/** The entries that go out of a store, packed. */
export class Outgoing implements Iterable<VerifiedEntry> {
  readonly #cids = new CidTable()
  readonly #entries = new EntryRows(this.#cids)
  /** The numbers of the entries, in the order in which they are read, and by number the place plus one. */
  readonly #queue = new Numbers()
  readonly #places = new Numbers()
  #goes = new Uint8Array(0)

  /** Reads all entries of a store. */
  static async all(context: Context): Promise<Outgoing> {
    const outgoing = new Outgoing()
    for await (const rows of context.db.rowBatches('entries', ''))
      for (const { key } of rows) outgoing.#add(parseEntryKey(key).cid)
    await outgoing.#read(context, false)
    return outgoing
  }

  /** Reads entries with all that they follow over `parents` and `prev`. */
  static async behind(context: Context, starts: Iterable<CidText>): Promise<Outgoing> {
    const outgoing = new Outgoing()
    for (const cid of starts) outgoing.#add(cid)
    await outgoing.#read(context, true)
    return outgoing
  }

  /** How many go. */
  get size(): number {
    return this.#goes.reduce((sum, goes) => sum + goes, 0)
  }

  has(cid: CidText): boolean {
    const place = this.#placeOf(cid)
    return place >= 0 && this.#goes[place] === 1
  }

  *[Symbol.iterator](): Generator<VerifiedEntry> {
    for (let place = 0; place < this.#entries.size; place++)
      if (this.#goes[place] === 1) yield this.#entries.entryAt(place)
  }

  /** Returns the entries that none of the others follows or has before it, sorted. */
  tips(): readonly CidText[] {
    const isFollowed = new Uint8Array(this.#entries.size)
    for (const [place, goes] of this.#goes.entries())
      if (goes === 1) for (const link of this.#linksOf(place)) isFollowed[link] = 1
    const tips: CidText[] = []
    for (const [place, goes] of this.#goes.entries())
      if (goes === 1 && isFollowed[place] === 0) tips.push(this.#entries.cidOf(place))
    return tips.sort()
  }

  #add(cid: CidText): void {
    const number = this.#cids.add(cid)
    if (this.#places.at(number) > 0) return
    this.#queue.push(number)
    this.#places.set(number, this.#queue.size)
  }

  async #read(context: Context, follows: boolean): Promise<void> {
    for (let place = 0; place < this.#queue.size; place++) {
      const entry = await getEntry(context, this.#cids.at(this.#queue.at(place)))
      this.#entries.add(entry)
      if (follows) for (const link of [...entry.parents, ...entry.prev]) this.#add(link)
    }
    this.#sort(context)
  }

  /** Valid and held entries go that follow no others. */
  #sort({ trust }: Context): void {
    const { size } = this.#entries
    this.#goes = new Uint8Array(size)
    for (const place of orderByLinks(size, (at) => this.#linksOf(at))) {
      const { standing } = trust.standingOf(this.#entries.entryAt(place))
      const isFit = standing === 'valid' || standing === 'held'
      if (isFit && this.#linksOf(place).every((link) => this.#goes[link] === 1))
        this.#goes[place] = 1
    }
  }

  #linksOf(place: number): readonly number[] {
    const links = [...this.#entries.parentsOf(place), ...this.#entries.prevOf(place)]
    return links.map((link) => this.#placeOf(link))
  }

  #placeOf(cid: CidText): number {
    const number = this.#cids.find(cid)
    return number === undefined ? -1 : this.#places.at(number) - 1
  }
}
