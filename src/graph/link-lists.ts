import type { CidTable } from '../../store/cid-table.ts'
import type { CidText } from '../../store/cid-text.ts'
import { Numbers } from '../kernel/numbers.ts'
import { PackedBytes } from '../kernel/packed-bytes.ts'
import type { Lists } from './loaded.ts'

/** Keeps lists of links as packed numbers, outside of the heap. */
export class LinkLists implements Lists {
  readonly #cids: CidTable
  /** By the number of a list's CID: 1 + where it lies; 0 for what is none. */
  readonly #places = new Numbers()
  readonly #bytes = new PackedBytes()

  /** @param cids - Where CIDs have their numbers. */
  constructor(cids: CidTable) {
    this.#cids = cids
  }

  /** Keeps a list under its CID. */
  set(cid: CidText, links: readonly CidText[]): void {
    this.#bytes.writeNumber(links.length)
    for (const link of links) this.#bytes.writeNumber(this.#cids.add(link))
    this.#places.set(this.#cids.add(cid), 1 + this.#bytes.end())
  }

  get(cid: CidText): readonly CidText[] | undefined {
    const place = this.#placeOf(cid)
    if (place === 0) return undefined
    const reader = this.#bytes.reader(place - 1)
    return Array.from({ length: reader.readNumber() }, () => this.#cids.at(reader.readNumber()))
  }

  has(cid: CidText): boolean {
    return this.#placeOf(cid) > 0
  }

  /** Returns the lists that are there, by the numbers of their CIDs. */
  *numbers(): Generator<number> {
    for (let number = 0; number < this.#places.size; number++)
      if (this.#places.at(number) > 0) yield number
  }

  #placeOf(cid: CidText): number {
    const number = this.#cids.find(cid)
    return number === undefined ? 0 : this.#places.at(number)
  }
}
