import { CidTable } from '../../store/cid-table.ts'
import type { CidText } from '../../store/cid-text.ts'
import { Numbers } from '../kernel/numbers.ts'
import type { Entry, VerifiedEntry } from './entry.ts'
import { EntryRows } from './entry-rows.ts'
import { RowEntry } from './row-entry.ts'

/** Verified entries by CID, in the order in which they came; what judges go through. */
export interface Entries extends Iterable<readonly [CidText, VerifiedEntry]> {
  readonly size: number
  get(cid: CidText): VerifiedEntry | undefined
  has(cid: CidText): boolean
  keys(): Iterable<CidText>
  values(): Iterable<VerifiedEntry>
}

/** So many views are kept: a short history is read as objects are, a long one costs no more for it. */
const mostViews = 4096

/**
 * Keeps verified entries in about 130 bytes each, outside of the heap, where objects with their texts take 560: what holds
 * a whole history holds it so. What it gives are views.
 */
export class EntryTable implements Entries {
  readonly #cids: CidTable
  readonly #rows: EntryRows
  /** By the number of an entry's CID: 1 + its row; 0 for what is none. */
  readonly #places = new Numbers()
  readonly #views: RowEntry[] = []

  /** @param cids - Where CIDs have their numbers: one table may serve all that is known of a store. */
  constructor(cids: CidTable = new CidTable()) {
    this.#cids = cids
    this.#rows = new EntryRows(cids)
  }

  get size(): number {
    return this.#rows.size
  }

  /** Takes in an entry, unless it is there. */
  add(entry: VerifiedEntry): void {
    const number = this.#cids.add(entry.cid)
    if (this.#places.at(number) > 0) return
    this.#rows.add(entry)
    this.#places.set(number, this.#rows.size)
  }

  get(cid: CidText): VerifiedEntry | undefined {
    const place = this.#placeOf(cid)
    return place === 0 ? undefined : this.#view(place - 1)
  }

  has(cid: CidText): boolean {
    return this.#placeOf(cid) > 0
  }

  *keys(): Generator<CidText> {
    for (let row = 0; row < this.size; row++) yield this.#view(row).cid
  }

  *values(): Generator<VerifiedEntry> {
    for (let row = 0; row < this.size; row++) yield this.#view(row)
  }

  *[Symbol.iterator](): Generator<readonly [CidText, VerifiedEntry]> {
    for (const entry of this.values()) yield [entry.cid, entry]
  }

  /** Returns 1 + the row of an entry, or 0 where there is none. */
  #placeOf(cid: CidText): number {
    const number = this.#cids.find(cid)
    return number === undefined ? 0 : this.#places.at(number)
  }

  // a row was made of a verified entry, and nothing else makes one
  #view(row: number): VerifiedEntry {
    const slot = row % mostViews
    let view = this.#views[slot]
    if (view === undefined || !view.isOf(row))
      this.#views[slot] = view = new RowEntry(this.#rows, row)
    return view satisfies Entry as unknown as VerifiedEntry
  }
}
