import { asBytes, compareUtf8 } from '../src/kernel/bytes.ts'
import { RecentMap } from '../src/kernel/recent-map.ts'
import { encodeForm } from './canonical.ts'
import type { JsonForm, JsonMap } from './canonical.ts'
import { MAX_BLOCK_DEPTH } from './canonical-scan.ts'
import { MAX_BLOCK_BYTES } from './canonical-write.ts'

/** A value in canonical form, and its bytes. */
export interface CanonicalValue {
  /** A copy of the value, keys in order: nobody else can change it. */
  readonly form: JsonMap
  readonly bytes: Uint8Array
}

const encoder = new TextEncoder()

/**
 * Returns the canonical form and bytes of a value that holds plain JSON data and neither links nor bytes. Each property
 * is read once, so that the copy and the bytes are of one moment. Half the time of `encodeForm` and `decodeForm` in
 * turn; what it can't decide, those do.
 *
 * @throws {StoreError} `HSTORE_BLOCK_INVALID` as `encodeForm`.
 */
export function encodeValue(value: object): CanonicalValue {
  const form = sortedCopy(value, 1, { room: MAX_BLOCK_BYTES })
  if (form !== undefined && !Array.isArray(form)) {
    const text = JSON.stringify(form)
    // a lone surrogate comes out as an escape; where these letters stand for something else the writer finds out
    if (!text.includes('\\ud')) {
      const bytes = encoder.encode(text)
      if (bytes.length <= MAX_BLOCK_BYTES) return { form: form as JsonMap, bytes }
    }
  }
  const bytes = asBytes(encodeForm(value as JsonForm))
  return { form: JSON.parse(new TextDecoder().decode(bytes)) as JsonMap, bytes }
}

/** `room` bounds what shared parts of a tree may multiply to. */
interface Walk {
  room: number
}

/** Integer-like keys come first in an object, whatever the order of assignment; and `__proto__` is none to assign. */
const oddKey = /^\d|^__proto__$|^\/$/

/** Returns a copy with its keys in order, or undefined where the slow writer has to decide. */
function sortedCopy(value: object, depth: number, walk: Walk): JsonForm | undefined {
  if (depth > MAX_BLOCK_DEPTH) return undefined
  if (Array.isArray(value)) return copyList(value, depth, walk)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return undefined
  const keys = orderOf(Object.keys(value))
  if (keys === undefined || Object.getOwnPropertySymbols(value).length > 0) return undefined
  const copy: JsonMap = {}
  for (const key of keys) {
    walk.room -= key.length + 4
    const part = copyPart((value as JsonMap)[key], depth, walk)
    if (part === undefined) return undefined
    copy[key] = part
  }
  return walk.room < 0 ? undefined : copy
}

/** The keys of an object as they came, and in order; undefined where the slow writer has to decide. */
interface KeyOrder {
  readonly given: readonly string[]
  readonly sorted: readonly string[] | undefined
}

/** Documents are made of a few kinds of objects, so most orders are known. */
const orders = new RecentMap<KeyOrder>(512)
const maxKnownKeys = 32
const maxKnownLength = 1024

/** Returns keys in order, or undefined where one of them can't be assigned in that order. */
function orderOf(given: string[]): readonly string[] | undefined {
  if (given.length === 0 || given.length > maxKnownKeys) return sortedKeys(given)
  const name = `${given.length} ${given[0]} ${given.at(-1)}`
  const known = orders.get(name)
  if (known !== undefined && isSameList(known.given, given)) return known.sorted
  const sorted = sortedKeys(given.slice())
  if (given.join('').length <= maxKnownLength) orders.set(name, { given, sorted })
  return sorted
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  for (let i = 0; i < b.length; i++) if (a[i] !== b[i]) return false
  return a.length === b.length
}

function sortedKeys(keys: string[]): string[] | undefined {
  if (keys.some((key) => oddKey.test(key))) return undefined
  sortKeys(keys)
  return keys
}

/** In place where they are few: the sort of the language copies the list each time. */
function sortKeys(keys: string[]): void {
  if (keys.length > 32) {
    keys.sort(compareUtf8)
    return
  }
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i]!
    let at = i
    for (; at > 0 && compareUtf8(keys[at - 1]!, key) > 0; at--) keys[at] = keys[at - 1]!
    keys[at] = key
  }
}

function copyList(list: readonly unknown[], depth: number, walk: Walk): JsonForm | undefined {
  walk.room -= list.length + 1
  if (walk.room < 0 || Object.keys(list).length !== list.length) return undefined
  const copy: JsonForm[] = []
  for (const item of list) {
    const part = copyPart(item, depth, walk)
    if (part === undefined) return undefined
    copy.push(part)
  }
  return copy
}

function copyPart(part: unknown, depth: number, walk: Walk): JsonForm | undefined {
  switch (typeof part) {
    case 'string':
      walk.room -= part.length
      return walk.room < 0 ? undefined : part
    case 'number':
      return Number.isSafeInteger(part) && !Object.is(part, -0) ? part : undefined
    case 'boolean':
      return part
    case 'object':
      return part === null ? null : sortedCopy(part, depth + 1, walk)
    default:
      return undefined
  }
}
