import { CidTable } from './cid-table.ts'
import type { CidText } from './cid-text.ts'
import { codecOf } from './cid-text.ts'

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

  /** Yields them by text; a part at a time is held as texts. */
  *sorted(): Generator<CidText> {
    const parts = new Uint8Array(this.size)
    for (let number = 0; number < this.size; number++) parts[number] = partOf(this.#cids.at(number))
    for (const part of new Set(parts.toSorted())) {
      const cids: CidText[] = []
      for (const [number, of] of parts.entries()) if (of === part) cids.push(this.#cids.at(number))
      yield* cids.sort()
    }
  }

  *[Symbol.iterator](): Generator<CidText> {
    for (let number = 0; number < this.size; number++) yield this.#cids.at(number)
  }
}

/** Parts that are in the order of texts: by codec, then by the first character that differs. */
function partOf(cid: CidText): number {
  return codecOf(cid) === 'raw' ? cid.charCodeAt(7) : 128 + cid.charCodeAt(9)
}
