import { compareUtf8 } from '../src/kernel/bytes.ts'
import { MAX_BLOCK_DEPTH } from './canonical-scan.ts'
import { MAX_BLOCK_BYTES, isDenseList } from './canonical-write.ts'

const encoder = new TextEncoder()

/**
 * Returns the canonical bytes of a tree for which the native `JSON.stringify` is known to give them, else undefined.
 *
 * That is plain data with its keys in order and without links, bytes or faults: most bodies. It takes half the time of
 * the writer, which decides on all others and names what is wrong.
 */
export function encodePlainTree(root: unknown): Uint8Array | undefined {
  const walk = { room: MAX_BLOCK_BYTES }
  if (typeof root !== 'object' || root === null || Array.isArray(root)) return undefined
  if (!isPlainObject(root, 1, walk)) return undefined
  const text = JSON.stringify(root)
  // A lone surrogate comes out as an escape; where these letters stand for something else the writer finds out.
  if (text.includes('\\ud')) return undefined
  const bytes = encoder.encode(text)
  return bytes.length <= MAX_BLOCK_BYTES ? bytes : undefined
}

/** `room` bounds the text that shared parts of a tree may multiply to. */
interface Walk {
  room: number
}

function isPlain(value: unknown, depth: number, walk: Walk): boolean {
  switch (typeof value) {
    case 'string':
      walk.room -= value.length
      return walk.room >= 0
    case 'number':
      return Number.isSafeInteger(value) && !Object.is(value, -0)
    case 'boolean':
      return true
    case 'object':
      return value === null || isPlainObject(value, depth, walk)
    default:
      return false
  }
}

function isPlainObject(value: object, depth: number, walk: Walk): boolean {
  if (depth > MAX_BLOCK_DEPTH) return false
  return Array.isArray(value) ? isPlainList(value, depth, walk) : isPlainMap(value, depth, walk)
}

function isPlainList(list: readonly unknown[], depth: number, walk: Walk): boolean {
  walk.room -= list.length + 1
  if (walk.room < 0 || !isDenseList(list)) return false
  for (let i = 0; i < list.length; i++) {
    if (!isPlainProperty(list, i, depth, walk)) return false
  }
  return true
}

function isPlainMap(map: object, depth: number, walk: Walk): boolean {
  const prototype: unknown = Object.getPrototypeOf(map)
  if (prototype !== Object.prototype && prototype !== null) return false
  const keys = Reflect.ownKeys(map)
  walk.room -= keys.length + 1
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]
    if (typeof key !== 'string' || key === '/') return false
    if (i > 0 && compareUtf8(keys[i - 1] as string, key) >= 0) return false
    walk.room -= key.length
    if (walk.room < 0) return false
    if (!isPlainProperty(map, key, depth, walk)) return false
  }
  return true
}

function isPlainProperty(
  container: object,
  key: number | string,
  depth: number,
  walk: Walk,
): boolean {
  const property = Object.getOwnPropertyDescriptor(container, key)
  if (property === undefined || property.enumerable !== true || !('value' in property)) return false
  return isPlain(property.value, depth + 1, walk)
}
