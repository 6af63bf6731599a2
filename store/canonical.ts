import { asBuffer } from '../src/kernel/bytes.ts'
import { decodeBase64, encodeBase64, isBase64 } from './base64.ts'
import { blockInvalid } from './block-fault.ts'
import { encodePlainTree } from './canonical-fast.ts'
import { assertCanonical } from './canonical-scan.ts'
import { MAX_BLOCK_BYTES, writeCanonical } from './canonical-write.ts'
import { isCidText } from './cid-text.ts'
import type { CidText } from './cid-text.ts'
import { decodeUtf8, findMalformedUtf8 } from './utf8.ts'

/**
 * The JSON tree of a block as it is spelt: a link is `{"/": "<CID>"}`, bytes are `{"/": {"bytes": "<base64>"}}`.
 *
 * Keys come from others, so look them up with `Object.hasOwn` or `Object.keys`: `__proto__` is a key like any other.
 */
export type JsonForm = JsonForm[] | boolean | null | number | string | { [key: string]: JsonForm }

/** The root of a block. */
export interface JsonMap {
  [key: string]: JsonForm
}

/** A decoded block: the tree, and the text that it was read from. */
export interface DecodedForm {
  readonly form: JsonMap
  readonly text: string
}

/**
 * Returns the form of a block of codec dag-json, if its bytes are the one canonical spelling.
 *
 * @param limitBytes - Most bytes that the block may have; 2 MiB unless said.
 * @throws {StoreError} `HSTORE_BLOCK_INVALID` for bytes outside the profile; `details` has `reason`, `offset` and
 *   `pointer` of the first fault.
 * @see docs/format.md, «Canonical DAG-JSON»
 */
export function decodeForm(bytes: Uint8Array, limitBytes: number = MAX_BLOCK_BYTES): DecodedForm {
  const text = readCanonicalText(bytes, limitBytes)
  return { form: JSON.parse(text) as JsonMap, text }
}

/**
 * Returns the form of a block that `decodeForm` or the encoder is known to have passed: of the same bytes, which their hash
 * tells, so that they need no second look.
 */
export function parsePassed(bytes: Uint8Array): JsonMap {
  return JSON.parse(asBuffer(bytes).toString('utf8')) as JsonMap
}

/**
 * Returns the text of a block of codec dag-json, checked as {@link decodeForm} does but not built.
 *
 * @throws {StoreError} `HSTORE_BLOCK_INVALID` as {@link decodeForm}.
 */
export function readCanonicalText(bytes: Uint8Array, limitBytes: number = MAX_BLOCK_BYTES): string {
  if (bytes.length > limitBytes) {
    throw blockInvalid('too-large', `${bytes.length} bytes, at most ${limitBytes} are admitted`)
  }
  const text = decodeUtf8(bytes)
  if (text === undefined) {
    throw blockInvalid('not-utf8', 'not well-formed UTF-8', { offset: findMalformedUtf8(bytes) })
  }
  assertCanonical(bytes)
  return text
}

/**
 * Returns the canonical bytes of a form; keys may stand in any order.
 *
 * @returns At most 2 MiB.
 * @throws {StoreError} `HSTORE_BLOCK_INVALID` when `form` is no plain data or lies outside the profile; `details` has
 *   `reason` and `pointer`.
 * @see docs/format.md, «Canonical DAG-JSON»
 */
export function encodeForm(form: JsonForm): Uint8Array {
  return encodePlainTree(form) ?? writeCanonical(form)
}

/**
 * Returns the canonical text of a form.
 *
 * @throws {StoreError} `HSTORE_BLOCK_INVALID` as {@link encodeForm}.
 */
export function encodeFormText(form: JsonForm): string {
  return asBuffer(encodeForm(form)).toString('utf8')
}

/** Returns the form of a link. */
export function linkForm(cid: CidText): JsonForm {
  return { '/': cid }
}

/** Returns the form of bytes. */
export function bytesForm(bytes: Uint8Array): JsonForm {
  return { '/': { bytes: encodeBase64(bytes) } }
}

/** Returns the CID that a form links to, or undefined when it is no link. */
export function findLink(form: JsonForm | undefined): CidText | undefined {
  const target = slashOf(form)
  return isCidText(target) ? target : undefined
}

/** Returns the bytes that a form holds, or undefined when it is not the form of bytes. */
export function findBytes(form: JsonForm | undefined): Uint8Array | undefined {
  const target = slashOf(form)
  if (!isMap(target) || !hasOnly(target, 'bytes')) return undefined
  const text = target['bytes']
  return typeof text === 'string' && isBase64(text) ? decodeBase64(text) : undefined
}

function slashOf(form: JsonForm | undefined): JsonForm | undefined {
  return isMap(form) && hasOnly(form, '/') ? form['/'] : undefined
}

function isMap(form: JsonForm | undefined): form is JsonMap {
  return typeof form === 'object' && form !== null && !Array.isArray(form)
}

function hasOnly(map: JsonMap, key: string): boolean {
  return Object.hasOwn(map, key) && Object.keys(map).length === 1
}
