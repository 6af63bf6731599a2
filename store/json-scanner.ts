import { quoted } from '../src/kernel/shown.ts'
import { judgeNumber } from './json-number.ts'
import type { NumberRemark } from './json-number.ts'
import { isWellFormed } from './utf8.ts'

/** What a plain `JSON.parse` hides about a text. */
export type JsonRemarkKind = 'duplicate-key' | 'lone-surrogate' | NumberRemark

/** Something that a JSON text says and its parsed value does not show. */
export interface JsonRemark {
  readonly kind: JsonRemarkKind
  /** JSON pointer (RFC 6901) of the member or item; a duplicate is named once for each repetition. */
  readonly pointer: string
  /** The literal as it stands in the text: the number, the quoted string or the quoted key. */
  readonly text: string
}

/** Where and why a text is not JSON. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault'
  /** Index into the text, in UTF-16 units. */
  readonly at: number

  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

/** Pointers of a hostile file are long and many: past this many characters only the first remark of a kind is kept. */
const REMARK_BUDGET = 8 * 1024 * 1024

/** Values that a text may hold: more than this takes gigabytes once it is parsed. */
const MAX_VALUES = 2_000_000

const PLAIN = 0
const ESCAPED = 1
const SURROGATE = 2

/**
 * Returns what is to be remarked about a JSON text, in order of appearance: the first of each kind always, of the
 * others as many as 8 Mi characters of pointers (64 more for each) admit.
 *
 * @param text - Well-formed Unicode, so a lone surrogate can only be an escape.
 * @throws {JsonFault} when `text` is not JSON (RFC 8259), nests deeper than `maxDepth` or holds over 2,000,000 values.
 */
export function scanJson(text: string, maxDepth: number): JsonRemark[] {
  return new JsonScanner(text, maxDepth).scan()
}

class JsonScanner {
  private readonly text: string
  private readonly maxDepth: number
  private readonly remarks: JsonRemark[] = []
  private readonly kinds = new Set<JsonRemarkKind>()
  /** Per level the key or index that is being read, and the pointer of the level itself once it was asked for. */
  private readonly segments: (number | string)[] = []
  private readonly pointers: (string | undefined)[] = ['']
  private budget = REMARK_BUDGET
  private values = 0
  private at = 0

  constructor(text: string, maxDepth: number) {
    this.text = text
    this.maxDepth = maxDepth
  }

  scan(): JsonRemark[] {
    this.skipSpace()
    this.value()
    this.skipSpace()
    if (this.at < this.text.length) throw this.unexpected('the end of the text')
    return this.remarks
  }

  private value(): void {
    this.values += 1
    if (this.values > MAX_VALUES) throw new JsonFault(this.at, `more than ${MAX_VALUES} values`)
    switch (this.text.charCodeAt(this.at)) {
      case 0x7b:
        return this.object()
      case 0x5b:
        return this.array()
      case 0x22:
        return this.stringValue()
      case 0x74:
        return this.literal('true')
      case 0x66:
        return this.literal('false')
      case 0x6e:
        return this.literal('null')
      default:
        return this.number()
    }
  }

  private object(): void {
    this.enter()
    if (this.skipTo(0x7d)) return this.leave()
    const keys = new Set<string>()
    for (;;) {
      this.member(keys)
      if (!this.next(0x7d, '"," or "}"')) return this.leave()
    }
  }

  private member(keys: Set<string>): void {
    const start = this.at
    const form = this.string('a key in double quotes')
    const quoted = this.text.slice(start, this.at)
    const key = form !== PLAIN ? (JSON.parse(quoted) as string) : quoted.slice(1, -1)
    this.place(key)
    if (form === SURROGATE && !isWellFormed(key)) this.remark('lone-surrogate', quoted)
    if (keys.has(key)) this.remark('duplicate-key', quoted)
    keys.add(key)
    this.skipSpace()
    if (this.text.charCodeAt(this.at) !== 0x3a) throw this.unexpected('":"')
    this.at += 1
    this.skipSpace()
    this.value()
  }

  private array(): void {
    this.enter()
    if (this.skipTo(0x5d)) return this.leave()
    for (let index = 0; ; index++) {
      this.place(index)
      this.value()
      if (!this.next(0x5d, '"," or "]"')) return this.leave()
    }
  }

  private enter(): void {
    if (this.segments.length >= this.maxDepth) {
      throw new JsonFault(this.at, `nested deeper than ${this.maxDepth} levels`)
    }
    this.segments.push('')
    this.at += 1
    this.skipSpace()
  }

  private leave(): void {
    this.segments.pop()
    this.pointers.length = this.segments.length + 1
  }

  private place(segment: number | string): void {
    const level = this.segments.length
    this.segments[level - 1] = segment
    this.pointers[level] = undefined
  }

  /** Returns whether the container ends at once, and steps over its end. */
  private skipTo(close: number): boolean {
    if (this.text.charCodeAt(this.at) !== close) return false
    this.at += 1
    return true
  }

  /** Returns whether another member follows. */
  private next(close: number, wanted: string): boolean {
    this.skipSpace()
    const unit = this.text.charCodeAt(this.at)
    if (unit !== 0x2c && unit !== close) throw this.unexpected(wanted)
    this.at += 1
    if (unit === close) return false
    this.skipSpace()
    return true
  }

  /** Steps over a string; returns `PLAIN`, `ESCAPED` or `SURROGATE`. */
  private string(wanted: string): number {
    const { text } = this
    let at = this.at
    if (text.charCodeAt(at) !== 0x22) throw this.unexpected(wanted)
    let form = PLAIN
    for (;;) {
      const unit = text.charCodeAt(++at)
      if (unit === 0x22) break
      if (unit === 0x5c) {
        form = Math.max(form, escapeForm(text, at))
        at += text.charCodeAt(at + 1) === 0x75 ? 5 : 1
      } else if (!(unit >= 0x20)) {
        this.at = at
        throw this.unexpected('a string without raw control characters that ends in a quote')
      }
    }
    this.at = at + 1
    return form
  }

  private stringValue(): void {
    const start = this.at
    if (this.string('a string') !== SURROGATE) return
    const quoted = this.text.slice(start, this.at)
    if (!isWellFormed(JSON.parse(quoted) as string)) this.remark('lone-surrogate', quoted)
  }

  private literal(word: string): void {
    if (!this.text.startsWith(word, this.at)) throw this.unexpected('a value')
    this.at += word.length
  }

  private number(): void {
    const { text } = this
    const start = this.at
    let at = text.charCodeAt(start) === 0x2d ? start + 1 : start
    if (text.charCodeAt(at) === 0x30) at += 1
    else at = this.digits(at)
    if (text.charCodeAt(at) === 0x2e) at = this.digits(at + 1)
    if ((text.charCodeAt(at) | 0x20) === 0x65) {
      const sign = text.charCodeAt(at + 1)
      at = this.digits(sign === 0x2b || sign === 0x2d ? at + 2 : at + 1)
    }
    this.at = at
    const literal = text.slice(start, at)
    const kind = judgeNumber(literal)
    if (kind !== undefined) this.remark(kind, literal)
  }

  private digits(start: number): number {
    let at = start
    while (isDigit(this.text.charCodeAt(at))) at += 1
    if (at > start) return at
    this.at = at
    throw this.unexpected(/[-+.eE]/.test(this.text.charAt(at - 1)) ? 'a digit' : 'a value')
  }

  private skipSpace(): void {
    const { text } = this
    let at = this.at
    for (;;) {
      const unit = text.charCodeAt(at)
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) break
      at += 1
    }
    this.at = at
  }

  private remark(kind: JsonRemarkKind, text: string): void {
    const pointer = this.pointer(this.segments.length)
    this.budget -= pointer.length + 64
    if (this.budget < 0 && this.kinds.has(kind)) return
    this.kinds.add(kind)
    this.remarks.push({ kind, pointer, text })
  }

  /** Grown from the pointer of the level above, so that long keys are not copied for each item below them. */
  private pointer(level: number): string {
    const known = this.pointers[level]
    if (known !== undefined) return known
    const segment = String(this.segments[level - 1])
      .replaceAll('~', '~0')
      .replaceAll('/', '~1')
    const pointer = `${this.pointer(level - 1)}/${segment}`
    this.pointers[level] = pointer
    return pointer
  }

  private unexpected(wanted: string): JsonFault {
    const point = this.text.codePointAt(this.at)
    const got = point === undefined ? 'the end of the text' : quoted(String.fromCodePoint(point))
    return new JsonFault(this.at, `expected ${wanted}, got ${got}`)
  }
}

/** Returns `ESCAPED`, or `SURROGATE` for a `\\u` escape of half a surrogate pair. */
function escapeForm(text: string, at: number): number {
  const letter = text.charAt(at + 1)
  if (letter !== '' && '"\\/bfnrt'.includes(letter)) return ESCAPED
  const hex = letter === 'u' ? text.slice(at + 2, at + 6) : ''
  if (!/^[\da-fA-F]{4}$/.test(hex)) throw new JsonFault(at, 'unknown escape in a string')
  return /^[dD][89a-fA-F]/.test(hex) ? SURROGATE : ESCAPED
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39
}
