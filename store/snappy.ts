import type { Budget } from './budget.ts'

const unitsPerElement = 8

/**
 * The elements of a snappy stream, one by one: so that a stream's end can be found, and what stands before a fault be
 * read.
 *
 * @see https://github.com/google/snappy/blob/main/format_description.txt
 */
export class SnappyStream {
  readonly #bytes: Uint8Array
  readonly #limit: number
  readonly #budget: Budget
  #length = 0
  #made = 0
  #at = 0
  // of the element last read: how many bytes it gives, and how far back they stand; 0 where they stand right before #at
  #size = 0
  #back = 0

  /** @param limit - How many bytes a stream may give at most. */
  constructor(bytes: Uint8Array, limit: number, budget: Budget) {
    this.#bytes = bytes
    this.#limit = limit
    this.#budget = budget
  }

  /** Returns where the stream that begins at `start` ends; undefined where there is none, or it is damaged. */
  findEnd(start: number): number | undefined {
    if (!this.#open(start)) return undefined
    while (this.#made < this.#length) if (!this.#next()) return undefined
    return this.#at
  }

  /** Returns what the stream at `start` gives, up to the first element that can't be. */
  read(start: number): Uint8Array {
    if (!this.#open(start) || !this.#budget.spend(this.#length)) return new Uint8Array()
    const output = new Uint8Array(this.#length)
    while (this.#made < this.#length) {
      const to = this.#made
      if (!this.#next()) return output.subarray(0, to)
      if (this.#back === 0) output.set(this.#bytes.subarray(this.#at - this.#size, this.#at), to)
      // byte by byte: a copy may reach into what it makes
      else for (let i = to; i < this.#made; i++) output[i] = output[i - this.#back]!
    }
    return output
  }

  #open(start: number): boolean {
    this.#at = start
    this.#made = 0
    this.#length = 0
    for (let scale = 1; scale <= 2 ** 28; scale *= 128) {
      const byte = this.#bytes[this.#at++] ?? 255
      this.#length += (byte & 127) * scale
      if (byte < 128) return this.#length > 0 && this.#length <= this.#limit
    }
    return false
  }

  #next(): boolean {
    const tag = this.#bytes[this.#at++]
    if (tag === undefined || !this.#budget.spend(unitsPerElement)) return false
    if ((tag & 3) === 0) this.#readLiteral(tag)
    else this.#readCopy(tag)
    if (this.#back > this.#made || this.#at > this.#bytes.length) return false
    this.#made += this.#size
    return this.#made <= this.#length
  }

  #readLiteral(tag: number): void {
    const short = tag >>> 2
    this.#back = 0
    this.#size = 1 + (short < 60 ? short : this.#number(short - 59))
    this.#at += this.#size
  }

  #readCopy(tag: number): void {
    if ((tag & 3) === 1) {
      this.#size = 4 + ((tag >>> 2) & 7)
      this.#back = (tag >>> 5) * 256 + this.#number(1)
    } else {
      this.#size = 1 + (tag >>> 2)
      this.#back = this.#number((tag & 3) === 2 ? 2 : 4)
    }
    // none stands no way back
    if (this.#back === 0) this.#back = Infinity
  }

  #number(size: number): number {
    let value = 0
    for (let i = 0, scale = 1; i < size; i++, scale *= 256)
      value += (this.#bytes[this.#at++] ?? 0) * scale
    return value
  }
}
