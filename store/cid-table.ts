import { randomInt } from 'node:crypto'
import { asBuffer } from '../src/kernel/bytes.ts'
import type { CidText } from './cid-text.ts'
import { cidTextOfDigest, codecOf, digestOf } from './cid-text.ts'

// the codec, then the digest
const recordBytes = 33

/**
 * CIDs, each with a number: 0, 1, 2 … in the order in which they came first. A CID takes 33 bytes and a slot or two of
 * four, where a text in a Set takes 130: for what has to know every block of a store.
 */
export class CidTable {
  #records: Buffer = Buffer.alloc(1024 * recordBytes)
  /** Numbers plus one, at the place that the digest gives or the next that was free. */
  #slots = new Int32Array(2048)
  #shift = 21
  // drawn for each table: who makes blocks can't choose digests that meet in one place
  readonly #odd = [2 * randomInt(2 ** 31) + 1, 2 * randomInt(2 ** 31) + 1] as const
  #size = 0

  /** How many there are. */
  get size(): number {
    return this.#size
  }

  /** Returns the number of a CID, which it is given now where it is new. */
  add(cid: CidText): number {
    const digest = asBuffer(digestOf(cid))
    const codec = codecByte(cid)
    const slot = this.#slotOf(codec, digest)
    const found = this.#slots[slot]! - 1
    return found >= 0 ? found : this.#take(slot, codec, digest)
  }

  /** Returns the number of a CID; undefined for one that is not there. */
  find(cid: CidText): number | undefined {
    const found = this.#slots[this.#slotOf(codecByte(cid), asBuffer(digestOf(cid)))]! - 1
    return found < 0 ? undefined : found
  }

  /** Returns the CID that has a number. */
  cidAt(number: number): CidText {
    if (!(number >= 0 && number < this.#size)) {
      throw new RangeError(`number: wanted less than ${this.#size}, got ${number}`)
    }
    const at = number * recordBytes
    const digest = this.#records.subarray(at + 1, at + recordBytes)
    return cidTextOfDigest(digest, this.#records[at] === 0 ? 'raw' : 'dag-json')
  }

  #take(slot: number, codec: number, digest: Buffer): number {
    const number = this.#size
    if ((number + 1) * recordBytes > this.#records.length)
      this.#records = Buffer.concat([this.#records], 2 * this.#records.length)
    const at = number * recordBytes
    this.#records[at] = codec
    digest.copy(this.#records, at + 1)
    this.#slots[slot] = number + 1
    this.#size += 1
    if (4 * this.#size > 3 * this.#slots.length) this.#respread()
    return number
  }

  /** Returns where a CID is, or where it would be. */
  #slotOf(codec: number, digest: Buffer): number {
    const last = this.#slots.length - 1
    for (let slot = this.#homeOf(digest, 0); ; slot = (slot + 1) & last) {
      const at = (this.#slots[slot]! - 1) * recordBytes
      if (at < 0) return slot
      if (this.#records[at] !== codec) continue
      if (this.#records.compare(digest, 0, 32, at + 1, at + recordBytes) === 0) return slot
    }
  }

  #homeOf(bytes: Buffer, at: number): number {
    const [a, b] = this.#odd
    const mixed = Math.imul(bytes.readInt32LE(at), a) + Math.imul(bytes.readInt32LE(at + 4), b)
    return mixed >>> this.#shift
  }

  #respread(): void {
    const slots = new Int32Array(2 * this.#slots.length)
    this.#shift -= 1
    const last = slots.length - 1
    for (let number = 0; number < this.#size; number++) {
      let slot = this.#homeOf(this.#records, number * recordBytes + 1)
      while (slots[slot] !== 0) slot = (slot + 1) & last
      slots[slot] = number + 1
    }
    this.#slots = slots
  }
}

function codecByte(cid: CidText): number {
  return codecOf(cid) === 'raw' ? 0 : 1
}
