import { asBuffer, compareUtf8 } from '../src/kernel/bytes.ts'
import { isBase64 } from './base64.ts'
import { quoted } from '../src/kernel/shown.ts'
import { blockInvalid, formatPointer } from './block-fault.ts'
import {
  escapeFault,
  numberFault,
  orderFault,
  rootFault,
  unexpectedByte,
} from './canonical-fault.ts'
import type { Fault } from './canonical-fault.ts'
import { isCidText } from './cid-text.ts'
import type { StoreError } from './errors.ts'

/** Levels of maps and lists that a block may have, the forms of links and bytes included. */
export const MAX_BLOCK_DEPTH = 64

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const SLASH = 0x2f
const COLON = 0x3a
const LIST = 0x5b
const BACKSLASH = 0x5c
const LIST_END = 0x5d
const MAP = 0x7b
const MAP_END = 0x7d

/** 1 for the bytes that stand for themselves inside a string. */
const plain = new Uint8Array(256).fill(1, 0x20)
plain[QUOTE] = 0
plain[BACKSLASH] = 0

/** 1 for the letters that make an escape of two bytes. */
const simpleEscape = new Uint8Array(256)
for (const letter of '"\\bfnrt') simpleEscape[letter.charCodeAt(0)] = 1

/** The controls that have no shorter escape. */
const controlEscape = /^u00(?:0[0-7be-f]|1[\da-f])$/

const slashFault: Fault = ['slash-key', 'key "/" outside the forms for links and bytes']

const bytesFormStart = Buffer.from('{"bytes":"')

/**
 * Asserts that `bytes` are the one spelling of a map in canonical DAG-JSON, the profile of docs/format.md.
 *
 * One pass over the bytes, without a value being built: what it lets through, the native parser reads as it is meant,
 * and encoding that again gives the same bytes.
 *
 * @param bytes - Well-formed UTF-8.
 * @throws {StoreError} `HSTORE_BLOCK_INVALID` for the first byte that does not fit.
 */
export function assertCanonical(bytes: Uint8Array): void {
  new CanonicalScanner(bytes).scan()
}

class CanonicalScanner {
  private readonly bytes: Uint8Array
  private readonly buffer: Buffer
  /** Per level the offset of the key, 0 while it is read, −1−index in a list: enough to name the place of a fault. */
  private readonly places = new Int32Array(MAX_BLOCK_DEPTH + 1)
  private level = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.buffer = asBuffer(bytes)
  }

  scan(): void {
    const { bytes } = this
    if (bytes[0] !== MAP) throw this.fault(rootFault(bytes), 0)
    const end = this.map(0, 1)
    if (end < bytes.length) throw this.unexpected(end, 'the end')
  }

  private value(at: number, depth: number): number {
    const byte = this.bytes[at] as number
    if (byte === QUOTE) return this.string(at)
    if (byte === MAP) return this.map(at, depth)
    if (byte === LIST) return this.list(at, depth)
    if (byte === MINUS || isDigit(byte)) return this.integer(at)
    return this.word(at)
  }

  private map(start: number, depth: number): number {
    this.enter(start, depth)
    const { bytes } = this
    let at = start + 1
    if (bytes[at] === MAP_END) return this.leave(at)
    let previous = 0
    for (;;) {
      this.places[depth] = 0
      if (bytes[at] !== QUOTE) throw this.unexpected(at, 'a key')
      const end = this.string(at)
      this.places[depth] = at
      if (previous > 0) this.checkOrder(previous, at)
      if (end === at + 3 && bytes[at + 1] === SLASH) return this.slash(start, at, depth)
      if (bytes[end] !== COLON) throw this.unexpected(end, '":"')
      previous = at
      at = this.value(end + 1, depth + 1)
      if (bytes[at] === MAP_END) return this.leave(at)
      if (bytes[at] !== COMMA) throw this.unexpected(at, '"," or "}"')
      at += 1
    }
  }

  private list(start: number, depth: number): number {
    this.enter(start, depth)
    const { bytes } = this
    let at = start + 1
    if (bytes[at] === LIST_END) return this.leave(at)
    for (let place = -1; ; place--) {
      this.places[depth] = place
      at = this.value(at, depth + 1)
      if (bytes[at] === LIST_END) return this.leave(at)
      if (bytes[at] !== COMMA) throw this.unexpected(at, '"," or "]"')
      at += 1
    }
  }

  private enter(at: number, depth: number): void {
    if (depth > MAX_BLOCK_DEPTH) {
      throw this.fault(['too-deep', `nested deeper than ${MAX_BLOCK_DEPTH} levels`], at)
    }
    this.level = depth
  }

  private leave(at: number): number {
    this.level -= 1
    return at + 1
  }

  private string(start: number): number {
    const { bytes } = this
    let at = start + 1
    for (;;) {
      while (plain[bytes[at] as number] === 1) at += 1
      if (bytes[at] === QUOTE) return at + 1
      if (bytes[at] !== BACKSLASH) {
        const what = at < bytes.length ? 'raw control character in a string' : 'string without end'
        throw this.fault(['not-json', what], at)
      }
      at = this.escape(at)
    }
  }

  private escape(at: number): number {
    const { bytes } = this
    if (simpleEscape[bytes[at + 1] as number] === 1) return at + 2
    if (controlEscape.test(this.buffer.toString('latin1', at + 1, at + 6))) return at + 6
    throw this.fault(escapeFault(bytes, at), at)
  }

  /** Offsets are those of the opening quotes. */
  private checkOrder(previous: number, key: number): void {
    const { bytes } = this
    for (let i = 1; ; i++) {
      const a = bytes[previous + i] as number
      const b = bytes[key + i] as number
      if (a === BACKSLASH || b === BACKSLASH) {
        return this.checkOrderOfText(previous, key)
      }
      if (a !== b) {
        if (a === QUOTE || (b !== QUOTE && a < b)) return
        return this.checkOrderOfText(previous, key)
      }
      if (a === QUOTE) return this.checkOrderOfText(previous, key)
    }
  }

  private checkOrderOfText(previous: number, key: number): void {
    const before = this.key(previous)
    const after = this.key(key)
    if (compareUtf8(before, after) >= 0) throw this.fault(orderFault(before, after), key)
  }

  private integer(start: number): number {
    const { bytes } = this
    const first = bytes[start] === MINUS ? start + 1 : start
    let at = first
    while (isDigit(bytes[at] as number)) at += 1
    const plainEnd = isDelimiter(bytes[at] as number)
    if (plainEnd && (at === start + 1 ? at > first : this.isCanonicalInteger(start, first, at))) {
      return at
    }
    throw this.fault(numberFault(bytes, start), start)
  }

  /** Of more than one byte: no leading zero, so no -0 either, and within ±(2^53−1). */
  private isCanonicalInteger(start: number, first: number, end: number): boolean {
    const digits = end - first
    if (digits === 0 || this.bytes[first] === 0x30) return false
    return digits <= 15 || (digits === 16 && Number.isSafeInteger(this.number(start, end)))
  }

  private number(start: number, end: number): number {
    return Number(this.buffer.toString('latin1', start, end))
  }

  private word(at: number): number {
    const start = this.buffer.toString('latin1', at, at + 5)
    if (start.startsWith('true') || start.startsWith('null')) return at + 4
    if (start === 'false') return at + 5
    throw this.unexpected(at, 'a value')
  }

  /** A map with the key "/" is a link or bytes, and nothing else stands in it. */
  private slash(start: number, key: number, depth: number): number {
    const { bytes } = this
    if (key !== start + 1) throw this.fault(slashFault, key)
    const at = key + 4
    if (bytes[key + 3] !== COLON) throw this.unexpected(key + 3, '":"')
    if (depth === 1) throw this.fault(['root-not-map', 'the root is a link or bytes'], 0)
    const end = bytes[at] === QUOTE ? this.link(at) : this.bytesForm(at, depth)
    if (bytes[end] === COMMA) throw this.fault(slashFault, key)
    if (bytes[end] !== MAP_END) throw this.unexpected(end, '"}"')
    return this.leave(end)
  }

  private link(at: number): number {
    const end = this.string(at)
    const cid = this.text(at + 1, end - 1)
    if (!isCidText(cid)) {
      throw this.fault(
        ['invalid-link', `key "/" links to ${quoted(cid)}, no CID that hstore admits`],
        at,
      )
    }
    return end
  }

  private bytesForm(at: number, depth: number): number {
    const { bytes } = this
    const start = at + bytesFormStart.length
    if (!bytesFormStart.equals(bytes.subarray(at, start))) throw this.fault(slashFault, at - 4)
    this.enter(at, depth + 1)
    this.level = depth
    const end = this.string(start - 1)
    if (bytes[end] !== MAP_END) throw this.fault(slashFault, at - 4)
    if (!isBase64(this.buffer.toString('latin1', start, end - 1))) {
      throw this.fault(['invalid-bytes', 'bytes that are no base64 without padding'], start)
    }
    return end + 1
  }

  private text(start: number, end: number): string {
    return this.buffer.toString('utf8', start, end)
  }

  private key(at: number): string {
    return JSON.parse(this.text(at, this.string(at))) as string
  }

  private unexpected(at: number, wanted: string): StoreError {
    return this.fault(unexpectedByte(this.bytes, at, wanted), at)
  }

  private fault([reason, what]: Fault, offset: number): StoreError {
    return blockInvalid(reason, what, { offset, pointer: this.pointer() })
  }

  private pointer(): string {
    const path: (number | string)[] = []
    for (let level = 1; level <= this.level; level++) {
      const place = this.places[level] as number
      if (place !== 0) path.push(place < 0 ? -1 - place : this.key(place))
    }
    return formatPointer(path)
  }
}

function isDelimiter(byte: number): boolean {
  return byte === COMMA || byte === MAP_END || byte === LIST_END
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}
