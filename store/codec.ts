import { ArgumentError } from '../src/kernel/errors.ts'
import { isUint8Array } from 'node:util/types'
import { CID } from 'multiformats/cid'
import { encodeBase64 } from './base64.ts'
import { decodeForm, findBytes, findLink } from './canonical.ts'
import type { JsonForm } from './canonical.ts'
import { MAX_BLOCK_BYTES, writeCanonical } from './canonical-write.ts'
import type { Leaf } from './canonical-write.ts'
import { cidOfText, textOfCid } from './cid.ts'

/**
 * Returns the block of codec dag-json that holds `value`: the same bytes for the same value, whatever the order of keys.
 *
 * @param value - A map of plain data: null, booleans, integers within ±(2^53−1), well-formed strings, lists, maps, bytes
 *   as Uint8Array, links as CID objects that hstore admits. The key "/" is refused: only a CID or bytes give one.
 * @returns At most 2 MiB.
 * @throws {StoreError} `HSTORE_BLOCK_INVALID` for everything else; `details` has `reason` and `pointer`.
 * @example
 *   encodeBlock({ text: 'tests pass', parents: [cidOf(bytes, 'dag-json')] })
 * @see docs/format.md, «Canonical DAG-JSON»
 */
export function encodeBlock(value: unknown): Uint8Array {
  return writeCanonical(value, leafOf)
}

/**
 * Returns the value of a block of codec dag-json: links are CID objects, bytes Uint8Array, maps plain objects whose keys
 * are all own (`__proto__` too, no prototype is touched).
 *
 * @throws {StoreError} `HSTORE_BLOCK_INVALID` for bytes that {@link encodeBlock} never gives; `details` has `reason`,
 *   `offset` and `pointer`.
 */
export function decodeBlock(bytes: Uint8Array): unknown {
  if (!isUint8Array(bytes)) {
    throw new ArgumentError(`bytes: wanted a Uint8Array, got ${typeof bytes}`)
  }
  return revive(decodeForm(bytes).form)
}

function leafOf(value: object): Leaf | undefined {
  if (isUint8Array(value)) return bytesLeaf(value)
  const cid = asCid(value)
  if (cid === undefined) return undefined
  const text = textOfCid(cid)
  if (typeof text === 'string') {
    return { fault: ['invalid-link', `link that hstore does not admit: ${text}`] }
  }
  return { text: `{"/":"${text.text}"}`, depth: 1 }
}

function bytesLeaf(bytes: Uint8Array): Leaf {
  if (bytes.length > MAX_BLOCK_BYTES) {
    return { fault: ['too-large', `${bytes.length} bytes in one value`] }
  }
  return { text: `{"/":{"bytes":"${encodeBase64(bytes)}"}}`, depth: 2 }
}

/** Objects that only look like a CID make the constructor throw; they are refused as what else they are. */
function asCid(value: object): CID | undefined {
  try {
    const cid = CID.asCID(value)
    return isUint8Array(cid?.bytes) ? (cid ?? undefined) : undefined
  } catch {
    return undefined
  }
}

function revive(form: JsonForm): unknown {
  if (typeof form !== 'object' || form === null) return form
  if (Array.isArray(form)) return form.map(revive)
  const link = findLink(form)
  if (link !== undefined) return cidOfText(link)
  const bytes = findBytes(form)
  if (bytes !== undefined) return bytes
  for (const key of Object.keys(form)) {
    const value = form[key] as JsonForm
    if (typeof value === 'object' && value !== null) setOwn(form, key, revive(value))
  }
  return form
}

/** Assigning to `__proto__` would do on an own key as well, but only there. */
function setOwn(map: object, key: string, value: unknown): void {
  Object.defineProperty(map, key, { value, configurable: true, enumerable: true, writable: true })
}
