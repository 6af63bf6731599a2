import { randomInt } from 'node:crypto'
import type { CidText, Codec } from './cid-text.ts'
import { cidTextOfDigest, findDigest } from './cid-text.ts'

const wordsEach = 8
const codecs: readonly Codec[] = ['dag-json', 'raw']

/**
 * CIDs numbered from 0 on, in the order in which they came: about 50 bytes each, outside of the heap, where a set of texts
 * takes 150 on it.
 */
export class CidTable {
  /** The digests, eight words each, by number. */
  #words = new Uint32Array(64 * wordsEach)
  /** The places of their codecs in `codecs`. */
  #codecs = new Uint8Array(64)
  /** 1 + a number, or 0 for none, in the slot that the digest gives or the next free one behind it. */
  #slots = new Uint32Array(128)
  #size = 0
  // nobody can choose CIDs that all want one slot without it
  readonly #seed = randomInt(2 ** 32)
  readonly #wanted = new Uint32Array(wordsEach)
  readonly #wantedBytes = new Uint8Array(this.#wanted.buffer)

  /** How many CIDs there are. */
  get size(): number {
    return this.#size
  }

  /** Returns the number of a CID; it is given the next one where it has none. */
  add(cid: CidText): number {
    const codec = this.#want(cid)
    if (codec < 0) throw new RangeError(`cid: wanted the text of a CID, got ${String(cid)}`)
    const slot = this.#slotOf(codec)
    const found = this.#slots[slot]!
    if (found > 0) return found - 1
    const number = this.#size++
    if (number === this.#codecs.length) this.#growNumbers()
    this.#words.set(this.#wanted, number * wordsEach)
    this.#codecs[number] = codec
    this.#slots[slot] = this.#size
    if (2 * this.#size > this.#slots.length) this.#growSlots()
    return number
  }

  /** Returns the number of a CID, or undefined where it has none, as whatever is no CID. */
  find(cid: CidText): number | undefined {
    // a row of an index may hold a second spelling of a digest that has a number
    const codec = this.#want(cid)
    if (codec < 0) return undefined
    const found = this.#slots[this.#slotOf(codec)]!
    return found > 0 ? found - 1 : undefined
  }

  /** Returns the CID of a number. */
  at(number: number): CidText {
    if (!(number < this.#size))
      throw new RangeError(`number: wanted one that was given, got ${number}`)
    const bytes = new Uint8Array(this.#words.buffer, number * wordsEach * 4, wordsEach * 4)
    return cidTextOfDigest(bytes, codecs[this.#codecs[number]!]!)
  }

  /** Sets what is wanted; returns the place of its codec, or -1 for what is no CID. */
  #want(cid: CidText): number {
    const codec = findDigest(cid, this.#wantedBytes)
    return codec === undefined ? -1 : codecs.indexOf(codec)
  }

  /** Returns the slot of the CID that is wanted, or the one where it would stand. */
  #slotOf(codec: number): number {
    const words = this.#words
    const wanted = this.#wanted
    const slots = this.#slots
    const mask = slots.length - 1
    let slot = this.#hashOf(wanted, 0) & mask
    for (let found = slots[slot]!; found > 0; found = slots[slot]!) {
      if (this.#codecs[found - 1] === codec && isAt(words, (found - 1) * wordsEach, wanted)) break
      slot = (slot + 1) & mask
    }
    return slot
  }

  #hashOf(words: Uint32Array, at: number): number {
    let hash = Math.imul(words[at]! ^ this.#seed, 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 15) ^ words[at + 1]!, 0xc2b2ae35)
    return hash ^ (hash >>> 13)
  }

  #growNumbers(): void {
    const words = new Uint32Array(2 * this.#words.length)
    words.set(this.#words)
    this.#words = words
    const codecs = new Uint8Array(2 * this.#codecs.length)
    codecs.set(this.#codecs)
    this.#codecs = codecs
  }

  #growSlots(): void {
    const mask = 2 * this.#slots.length - 1
    this.#slots = new Uint32Array(mask + 1)
    for (let number = 0; number < this.#size; number++) {
      let slot = this.#hashOf(this.#words, number * wordsEach) & mask
      while (this.#slots[slot]! > 0) slot = (slot + 1) & mask
      this.#slots[slot] = number + 1
    }
  }
}

function isAt(words: Uint32Array, at: number, wanted: Uint32Array): boolean {
  for (let i = 0; i < wordsEach; i++) if (words[at + i] !== wanted[i]) return false
  return true
}
