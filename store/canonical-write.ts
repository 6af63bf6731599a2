import { compareUtf8 } from '../src/kernel/bytes.ts'
import { isBase64 } from './base64.ts'
import { quoted } from '../src/kernel/shown.ts'
import { blockInvalid, formatPointer } from './block-fault.ts'
import type { BlockReason } from './block-fault.ts'
import type { Fault } from './canonical-fault.ts'
import { MAX_BLOCK_DEPTH } from './canonical-scan.ts'
import { isCidText } from './cid-text.ts'
import type { StoreError } from './errors.ts'
import { isWellFormed } from './utf8.ts'

/** Bytes that a block may have, whatever it holds. */
export const MAX_BLOCK_BYTES: number = 2 * 1024 * 1024

/** Gives the form of an object that stands for a link or for bytes, undefined for others. */
export type LeafOf = (value: object) => Leaf | undefined

/** The canonical text of a link or of bytes and the levels that it has, or what is wrong with it. */
export type Leaf = { readonly text: string; readonly depth: 1 | 2 } | { readonly fault: Fault }

/**
 * Returns the canonical DAG-JSON of a tree of plain data.
 *
 * Each property is read once. Cycles end at the limit of depth, and shared parts that multiply end at that of size.
 *
 * @param leafOf - When given, the key "/" is refused everywhere and links and bytes come from here; else the literal
 *   forms are written.
 * @throws {StoreError} `HSTORE_BLOCK_INVALID` when `root` has no canonical form within the limits.
 */
export function writeCanonical(root: unknown, leafOf?: LeafOf): Uint8Array {
  return new CanonicalWriter(leafOf).write(root)
}

const QUOTE = 0x22

/** 1 for the units that a string holds as themselves, in one byte. */
const plain = new Uint8Array(128).fill(1, 0x20)
plain[QUOTE] = 0
plain[0x5c] = 0
const notPlain = /[^ !#-[\]-\u007f]/

/** Units up to which a loop beats the native search and copy. */
const SHORT = 20

// One buffer for all calls: a new one for each costs more in garbage than the writing. Never in two hands: whoever
// takes it while a leaf is being asked for gets another.
let scratch: Buffer | undefined

function takeScratch(): Buffer {
  const taken = scratch ?? Buffer.allocUnsafeSlow(64 * 1024)
  scratch = undefined
  return taken
}

class CanonicalWriter {
  private readonly leafOf: LeafOf | undefined
  private readonly path: (number | string)[] = []
  private buffer: Buffer = takeScratch()
  private at = 0

  constructor(leafOf: LeafOf | undefined) {
    this.leafOf = leafOf
  }

  write(root: unknown): Uint8Array {
    if (typeof root !== 'object' || root === null || Array.isArray(root)) {
      throw this.fault('root-not-map', 'the root is no map')
    }
    if (this.leafOf?.(root) !== undefined || (!this.leafOf && isSlashForm(root))) {
      throw this.fault('root-not-map', 'the root is a link or bytes')
    }
    this.object(root, 1)
    if (this.at > MAX_BLOCK_BYTES) throw this.tooLarge()
    const bytes = new Uint8Array(this.buffer.subarray(0, this.at))
    if (this.buffer.length <= 1024 * 1024) scratch = this.buffer
    return bytes
  }

  private value(value: unknown, depth: number): void {
    switch (typeof value) {
      case 'string':
        return this.string(value)
      case 'number':
        return this.ascii(this.integer(value))
      case 'boolean':
        return this.ascii(value ? 'true' : 'false')
      case 'object':
        return value === null ? this.ascii('null') : this.object(value, depth)
      default:
        throw this.fault('not-plain-data', `a value of type ${typeof value}`)
    }
  }

  private object(value: object, depth: number): void {
    const leaf = this.leafOf?.(value)
    if (leaf !== undefined && 'fault' in leaf) throw this.fault(...leaf.fault)
    const levels = leaf === undefined ? 1 : leaf.depth
    if (depth + levels - 1 > MAX_BLOCK_DEPTH) {
      throw this.tooDeep()
    }
    if (leaf !== undefined) this.ascii(leaf.text)
    else if (Array.isArray(value)) this.list(value, depth)
    else this.map(value, depth)
  }

  private list(list: readonly unknown[], depth: number): void {
    if (Object.getPrototypeOf(list) !== Array.prototype) throw this.foreign(list)
    if (!isDenseList(list)) {
      throw this.fault('not-plain-data', 'a list with holes or with named members')
    }
    this.byte(0x5b)
    for (let i = 0; i < list.length; i++) {
      if (i > 0) this.byte(0x2c)
      this.path[depth - 1] = i
      this.value(this.read(list, i), depth + 1)
    }
    this.path.length = depth - 1
    this.byte(0x5d)
  }

  private map(map: object, depth: number): void {
    const prototype: unknown = Object.getPrototypeOf(map)
    if (prototype !== Object.prototype && prototype !== null) throw this.foreign(map)
    if (this.leafOf === undefined && Object.hasOwn(map, '/')) this.checkSlash(map, depth)
    const keys = this.keys(map)
    this.byte(0x7b)
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string
      if (i > 0) this.byte(0x2c)
      this.path[depth - 1] = key
      if (this.leafOf !== undefined && key === '/') throw this.slashFault()
      this.string(key)
      this.byte(0x3a)
      this.value(this.read(map, key), depth + 1)
    }
    this.path.length = depth - 1
    this.byte(0x7d)
  }

  /** Returns the keys in the order of their UTF-8 bytes. */
  private keys(map: object): readonly string[] {
    const keys = Reflect.ownKeys(map)
    let ascends = true
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]
      if (typeof key !== 'string') throw this.fault('not-plain-data', 'a key that is a symbol')
      if (i > 0 && ascends) ascends = compareUtf8(keys[i - 1] as string, key) < 0
    }
    return ascends ? (keys as string[]) : (keys as string[]).sort(compareUtf8)
  }

  private read(container: object, key: number | string): unknown {
    const property = Object.getOwnPropertyDescriptor(container, key)
    if (property === undefined || !('value' in property) || property.enumerable !== true) {
      throw this.fault('not-plain-data', 'an accessor or a hidden property')
    }
    return property.value
  }

  /** A literal map with the key "/" has to be the form of a link or of bytes. */
  private checkSlash(map: object, depth: number): void {
    const target = this.read(map, '/')
    if (Reflect.ownKeys(map).length > 1) throw this.slashFault()
    if (typeof target === 'string') {
      if (isCidText(target)) return
      throw this.fault(
        'invalid-link',
        `key "/" links to ${quoted(target)}, no CID that hstore admits`,
      )
    }
    if (typeof target !== 'object' || target === null) throw this.slashFault()
    if (depth === MAX_BLOCK_DEPTH) throw this.tooDeep()
    const text = Object.hasOwn(target, 'bytes') ? this.read(target, 'bytes') : undefined
    if (typeof text !== 'string' || Reflect.ownKeys(target).length > 1) throw this.slashFault()
    if (!isBase64(text)) {
      throw this.fault('invalid-bytes', 'bytes that are no base64 without padding')
    }
  }

  private integer(value: number): string {
    if (Object.is(value, -0)) throw this.fault('negative-zero', '-0 has no canonical form')
    if (Number.isSafeInteger(value)) return String(value)
    if (Number.isInteger(value)) throw this.fault('unsafe-integer', `${value} is beyond ±(2^53−1)`)
    throw this.fault('fraction', `${value} is no integer`)
  }

  private string(text: string): void {
    const { length } = text
    if (length > SHORT) return this.longString(text)
    const start = this.reserve(length + 2)
    const { buffer } = this
    let at = start
    buffer[at++] = QUOTE
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i)
      if (plain[unit] !== 1) return this.escaped(text)
      buffer[at++] = unit
    }
    buffer[at++] = QUOTE
    this.at = at
  }

  private longString(text: string): void {
    if (notPlain.test(text)) return this.escaped(text)
    const at = this.reserve(text.length + 2)
    this.buffer[at] = QUOTE
    this.at = at + 1
    this.ascii(text)
    this.byte(QUOTE)
  }

  /** The escapes of JSON.stringify are the canonical ones, but for those of lone surrogates. */
  private escaped(text: string): void {
    if (!isWellFormed(text)) throw this.fault('lone-surrogate', `lone surrogate in ${quoted(text)}`)
    const literal = JSON.stringify(text)
    const at = this.reserve(literal.length * 3)
    this.at = at + this.buffer.write(literal, at, 'utf8')
  }

  private ascii(text: string): void {
    const at = this.reserve(text.length)
    this.at = at + this.buffer.write(text, at, 'latin1')
  }

  private byte(byte: number): void {
    const at = this.reserve(1)
    this.buffer[at] = byte
    this.at = at + 1
  }

  /** Returns where to write, with room for `size` bytes; a block past its limit ends here. */
  private reserve(size: number): number {
    const { at, buffer } = this
    if (at + size <= buffer.length) return at
    if (at > MAX_BLOCK_BYTES || size > 6 * MAX_BLOCK_BYTES) throw this.tooLarge()
    this.buffer = Buffer.allocUnsafeSlow(Math.max(2 * buffer.length, at + size))
    buffer.copy(this.buffer, 0, 0, at)
    return at
  }

  private foreign(value: object): StoreError {
    const name: unknown = Object.getPrototypeOf(value)?.constructor?.name
    const what = typeof name === 'string' ? quoted(name) : 'an unknown class'
    return this.fault('not-plain-data', `an instance of ${what}`)
  }

  private slashFault(): StoreError {
    return this.fault('slash-key', 'key "/" outside the forms for links and bytes')
  }

  private tooDeep(): StoreError {
    return this.fault('too-deep', `nested deeper than ${MAX_BLOCK_DEPTH} levels`)
  }

  private tooLarge(): StoreError {
    return blockInvalid('too-large', `more than ${MAX_BLOCK_BYTES} bytes`)
  }

  private fault(reason: BlockReason, what: string): StoreError {
    return blockInvalid(reason, what, { pointer: formatPointer(this.path) })
  }
}

/** Returns whether a list is an Array that has its items and nothing else; holes show when they are read. */
export function isDenseList(list: readonly unknown[]): boolean {
  return (
    Object.getPrototypeOf(list) === Array.prototype &&
    Object.keys(list).length === list.length &&
    Object.getOwnPropertySymbols(list).length === 0
  )
}

function isSlashForm(map: object): boolean {
  return Object.hasOwn(map, '/') && Reflect.ownKeys(map).length === 1
}
