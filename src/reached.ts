import { CidTable } from '../store/cid-table.ts'
import type { CidText } from '../store/cid-text.ts'
import { Numbers } from './kernel/numbers.ts'

const isNeeded = 1
const isHeld = 2

/** Blocks, and which of them entries lead to, in less than a hundred bytes a block. */
export class Reached {
  readonly #cids = new CidTable()
  readonly #flags = new Numbers()
  readonly #sizes = new Numbers()
  /** For each block the place in `links` behind its own, which begin with their number; 0 for none. */
  readonly #linksAt = new Numbers()
  readonly #links = new Numbers()
  /** For what an entry is never without the number of one such entry plus one. */
  readonly #owners = new Numbers()
  readonly #waiting = new Numbers()

  /** Notes a block that is there. */
  hold(cid: CidText, sizeBytes: number): void {
    const number = this.#cids.add(cid)
    this.#mark(number, isHeld)
    this.#sizes.set(number, sizeBytes)
  }

  /** Notes what a block links to. */
  link(cid: CidText, links: readonly CidText[]): void {
    this.#linksAt.set(this.#cids.add(cid), this.#links.size + 1)
    this.#links.push(links.length)
    for (const link of links) this.#links.push(this.#cids.add(link))
  }

  /** Notes an entry, and what it is never without. */
  need(cid: CidText, parts: readonly CidText[]): void {
    const number = this.#cids.add(cid)
    this.#want(number)
    for (const part of parts) this.#owners.set(this.#cids.add(part), number + 1)
  }

  /** Finds, once all is noted, what the entries lead to. */
  follow(): void {
    for (let i = 0; i < this.#waiting.size; i++) {
      const at = this.#linksAt.at(this.#waiting.at(i)) - 1
      if (at < 0) continue
      const end = at + this.#links.at(at)
      for (let link = at + 1; link <= end; link++) this.#want(this.#links.at(link))
    }
  }

  isHeld(cid: CidText): boolean {
    return this.#has(cid, isHeld)
  }

  /** Returns whether a block is an entry, or one leads to it. */
  isNeeded(cid: CidText): boolean {
    return this.#has(cid, isNeeded)
  }

  /** Returns a block that an entry is never without and that is not there, with such an entry. */
  findLostPart(): { readonly part: CidText; readonly entry: CidText } | undefined {
    for (let number = 0; number < this.#owners.size; number++) {
      const owner = this.#owners.at(number) - 1
      if (owner < 0 || (this.#flags.at(number) & isHeld) !== 0) continue
      return { part: this.#cids.at(number), entry: this.#cids.at(owner) }
    }
    return undefined
  }

  /** Returns the blocks that are there and that no entry leads to, and how many bytes they have. */
  loose(): { readonly cids: readonly CidText[]; readonly sizeBytes: number } {
    const cids: CidText[] = []
    let sizeBytes = 0
    for (let number = 0; number < this.#flags.size; number++) {
      if (this.#flags.at(number) !== isHeld) continue
      cids.push(this.#cids.at(number))
      sizeBytes += this.#sizes.at(number)
    }
    return { cids, sizeBytes }
  }

  #want(number: number): void {
    if ((this.#flags.at(number) & isNeeded) !== 0) return
    this.#mark(number, isNeeded)
    this.#waiting.push(number)
  }

  #mark(number: number, flag: number): void {
    this.#flags.set(number, this.#flags.at(number) | flag)
  }

  #has(cid: CidText, flag: number): boolean {
    const number = this.#cids.find(cid)
    return number !== undefined && (this.#flags.at(number) & flag) !== 0
  }
}
