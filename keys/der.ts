import { equalBytes } from '../src/kernel/bytes.ts'
import { KeyError } from './errors.ts'

/** The DER tags that key files need. */
export const TAG = { integer: 0x02, octets: 0x04, null: 0x05, oid: 0x06, sequence: 0x30 } as const

/** Returns one DER element around `parts`, joined; at most 65,535 bytes of content. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const content = Buffer.concat(parts)
  const { length } = content
  if (length > 0xffff)
    throw new RangeError(`DER content: wanted at most 65535 bytes, got ${length}`)
  const head =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Uint8Array.from([tag, ...head, ...content])
}

/** Returns the DER form of a whole number from 0 to 2^31 - 1. */
export function derInteger(value: number): Uint8Array {
  const bytes = [value & 0xff]
  for (let rest = value >> 8; rest > 0; rest >>= 8) bytes.unshift(rest & 0xff)
  // A top bit that is set would make the number negative.
  if (bytes[0]! > 0x7f) bytes.unshift(0)
  return der(TAG.integer, Uint8Array.from(bytes))
}

/**
 * Reads DER elements one after the other, by the strict rules: definite lengths in their shortest form, nothing that
 * reaches past the end. Each method throws {KeyError} `HSTORE_KEY_INVALID` where the bytes are otherwise.
 */
export class DerReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Whether all is read. */
  get done(): boolean {
    return this.#at === this.#bytes.length
  }

  /** Whether the next element has this tag. */
  has(tag: number): boolean {
    return this.#bytes[this.#at] === tag
  }

  /** Returns the content of the next element, which must have this tag. */
  read(tag: number): Uint8Array {
    if (!this.has(tag)) throw invalid(`element ${hex(tag)} missing at byte ${this.#at}`)
    this.#at += 1
    const length = this.#length()
    if (length > this.#bytes.length - this.#at) throw invalid('cut off')
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  /** Returns a reader over the sequence that comes next. */
  sequence(): DerReader {
    return new DerReader(this.read(TAG.sequence))
  }

  /** Returns the whole number that comes next, from 0 to 2^31 - 1. */
  integer(): number {
    const content = this.read(TAG.integer)
    const [first = 0xff, second = 0xff] = content
    const isShortest = content.length === 1 || first !== 0 || second > 0x7f
    if (first > 0x7f || !isShortest || content.length > 4) throw invalid('number out of range')
    return content.reduce((sum, byte) => sum * 256 + byte, 0)
  }

  /** Passes over the object identifier that comes next when it is `oid`, given as its content bytes. */
  expectOid(oid: Uint8Array, name: string): void {
    if (!equalBytes(this.read(TAG.oid), oid)) throw invalid(`not ${name}`)
  }

  /** Passes over the NULL that comes next. */
  expectNull(): void {
    if (this.read(TAG.null).length > 0) throw invalid('NULL with content')
  }

  /** Throws unless all is read. */
  expectEnd(): void {
    if (!this.done) throw invalid(`something follows at byte ${this.#at}`)
  }

  #length(): number {
    const first = this.#byte()
    if (first < 0x80) return first
    if (first === 0x81) {
      const length = this.#byte()
      if (length >= 0x80) return length
    }
    if (first === 0x82) {
      const length = this.#byte() * 256 + this.#byte()
      if (length >= 0x100) return length
    }
    throw invalid('length in a form that DER does not have, or too long')
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw invalid('cut off')
    return byte
  }
}

function invalid(what: string): KeyError {
  return new KeyError('HSTORE_KEY_INVALID', `no key of a form that hstore reads (DER: ${what})`)
}

function hex(tag: number): string {
  return `0x${tag.toString(16).padStart(2, '0')}`
}
