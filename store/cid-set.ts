import { CidTable } from './cid-table.ts'
import type { CidText } from './cid-text.ts'

/** CIDs as a `Set` of them, in the order in which they came, in a third of its room. */
export class CidSet implements Iterable<CidText> {
  readonly #cids = new CidTable()

  get size(): number {
    return this.#cids.size
  }

  add(cid: CidText): void {
    this.#cids.add(cid)
  }

  has(cid: CidText): boolean {
    return this.#cids.find(cid) !== undefined
  }

  *[Symbol.iterator](): Generator<CidText> {
    for (let number = 0; number < this.size; number++) yield this.#cids.at(number)
  }
}
