import type { Budget } from './budget.ts'

const unitsPerEntry = 12
const maxKeyBytes = 64 * 1024

/** How many bytes follow a user key in a table: the type of the row, then its number. */
export const keyTrailerBytes = 8

/** The entries of a block of a LevelDB table, one by one, up to the first that can't be one. */
export class TableEntries {
  readonly #bytes: Uint8Array
  readonly #budget: Budget
  #end = 0
  #at = 0
  #count = 0

  /** How many bytes of the key are those of the key before. */
  shared = 0
  /** Length of the key, with its trailer. */
  keyLength = 0
  /** Where the rest of the key begins; it ends where the value begins. */
  keyAt = 0
  valueAt = 0

  constructor(bytes: Uint8Array, budget: Budget) {
    this.#bytes = bytes
    this.#budget = budget
  }

  /** Begins with a block at `start`, whose entries end before `end`. */
  open(start: number, end: number): this {
    this.#at = start
    this.#end = end
    this.#count = 0
    this.keyLength = 0
    return this
  }

  /** Where the entry ends that was read last. */
  get at(): number {
    return this.#at
  }

  /** How many have been read. */
  get count(): number {
    return this.#count
  }

  /** Reads the next entry; false where there is none. */
  next(): boolean {
    const start = this.#at
    if (this.#budget.spend(unitsPerEntry) && this.#read()) {
      this.#count += 1
      return true
    }
    this.#at = start
    return false
  }

  #read(): boolean {
    const shared = this.#varint()
    const fresh = this.#varint()
    const valueLength = this.#varint()
    const keyLength = shared + fresh
    if (shared > this.keyLength || keyLength < keyTrailerBytes || keyLength > maxKeyBytes)
      return false
    this.keyAt = this.#at
    this.valueAt = this.keyAt + fresh
    this.#at = this.valueAt + valueLength
    // the trailer begins with the type: a deletion or a value
    const isOdd = fresh >= keyTrailerBytes && this.#bytes[this.valueAt - keyTrailerBytes]! > 1
    if (isOdd || this.#at > this.#end) return false
    this.shared = shared
    this.keyLength = keyLength
    return true
  }

  #varint(): number {
    let value = 0
    for (let scale = 1; scale <= 2 ** 28; scale *= 128) {
      const byte = this.#bytes[this.#at++] ?? 255
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
    return Infinity
  }
}

/**
 * Returns where a block's contents end whose entries have been read: after them stand the places of some of these, and
 * how many places there are.
 */
export function findContentsEnd(
  bytes: Uint8Array,
  start: number,
  { at, count }: TableEntries,
): number | undefined {
  let last = -1
  for (let i = 0; i <= Math.max(1, count) && at + 4 * i + 4 <= bytes.length; i++) {
    const number = uint32At(bytes, at + 4 * i)
    // an entry takes 11 bytes or more, so that how many there are is never one of the places
    if (i > 0 && number === i) return at + 4 * i + 4
    const isPlace = i === 0 ? number === 0 : number > last && number < at - start
    if (!isPlace) return undefined
    last = number
  }
  return undefined
}

/** Returns the four bytes at `at`, the lowest first, as a number; what is past the end is 0. */
export function uint32At(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16)
  return (low | ((bytes[at + 3] ?? 0) << 24)) >>> 0
}
