import { bounded } from '../src/kernel/shown.ts'
import { blockInvalid } from './block-fault.ts'
import type { BlockReason } from './block-fault.ts'
import { encodeForm } from './canonical.ts'
import type { JsonMap } from './canonical.ts'
import { MAX_BLOCK_DEPTH, assertCanonical } from './canonical-scan.ts'
import { MAX_BLOCK_BYTES } from './canonical-write.ts'
import { StoreError } from './errors.ts'
import { JsonFault, scanJson } from './json-scanner.ts'
import type { JsonRemark, JsonRemarkKind } from './json-scanner.ts'
import { decodeUtf8, findMalformedUtf8 } from './utf8.ts'

export type { JsonRemark } from './json-scanner.ts'

/** A JSON file as it was read. */
export interface JsonInput {
  /**
   * What `JSON.parse` gives: of equal keys the last one counts, numbers are the nearest doubles, `__proto__` is an own
   * key.
   */
  readonly value: unknown
  /** What `value` does not show, in order of appearance; empty for nearly every file. */
  readonly remarks: readonly JsonRemark[]
}

/** Bounds for a JSON file. */
export interface JsonLimits {
  /** Bytes, 64 MiB unless said. */
  readonly maxBytes?: number
  /** Levels of maps and lists, 512 unless said, at most 1,000. */
  readonly maxDepth?: number
}

const MAX_FILE_BYTES = 64 * 1024 * 1024
const MAX_FILE_DEPTH = 512
const DEEPEST = 1000

/**
 * Returns the value of an ordinary JSON file (RFC 8259) and what the value hides.
 *
 * @throws {StoreError} `HSTORE_JSON_INVALID` when the bytes are not JSON in well-formed UTF-8 without a byte order mark,
 *   or exceed a limit; `details` has `line` and `column` (in characters, from 1) and `offset` (in bytes).
 */
export function parseJson(bytes: Uint8Array, limits: JsonLimits = {}): JsonInput {
  const { maxBytes = MAX_FILE_BYTES, maxDepth = MAX_FILE_DEPTH } = limits
  if (!(maxDepth >= 1 && maxDepth <= DEEPEST)) {
    throw new RangeError(`maxDepth: wanted 1 to ${DEEPEST}, got ${maxDepth}`)
  }
  if (bytes.length > maxBytes) {
    throw jsonInvalid(`${bytes.length} bytes, at most ${maxBytes} are admitted`, '', 0)
  }
  const text = decodeText(bytes)
  if (maxDepth >= MAX_BLOCK_DEPTH && isCanonical(bytes)) {
    return { value: JSON.parse(text) as unknown, remarks: [] }
  }
  const remarks = scan(text, maxDepth)
  return { value: JSON.parse(text) as unknown, remarks }
}

/**
 * Returns the form of a block for a JSON file: the same value, numbers like `1.0` and `1e2` as the integers that they
 * are.
 *
 * @throws {StoreError} `HSTORE_BLOCK_INVALID` when the file has no block form; `details` has the `reason` and the
 *   `pointer` of the first part that has none.
 * @see docs/format.md, «Canonical DAG-JSON»
 */
export function toBlockForm(input: JsonInput): JsonMap {
  for (const { kind, pointer, text } of input.remarks) {
    const refusal = refusals[kind]
    if (refusal !== undefined) {
      throw blockInvalid(refusal.reason, `${refusal.what} ${bounded(text)}`, { pointer })
    }
  }
  encodeForm(input.value as JsonMap)
  return input.value as JsonMap
}

const refusals: Readonly<
  Record<JsonRemarkKind, { readonly reason: BlockReason; readonly what: string } | undefined>
> = {
  'duplicate-key': { reason: 'duplicate-key', what: 'duplicate key' },
  fraction: { reason: 'fraction', what: 'no integer:' },
  'integral-float': undefined,
  'lone-surrogate': { reason: 'lone-surrogate', what: 'lone surrogate in' },
  'long-integer': { reason: 'unsafe-integer', what: 'integer beyond ±(2^53−1):' },
  'negative-zero': { reason: 'negative-zero', what: 'no integer has the form' },
  'unsafe-integer': { reason: 'unsafe-integer', what: 'integer beyond ±(2^53−1):' },
}

function decodeText(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes)
  if (text === undefined) {
    const offset = findMalformedUtf8(bytes)
    const before = decodeUtf8(bytes.subarray(0, offset)) ?? ''
    throw jsonInvalid('not well-formed UTF-8, save the file as UTF-8', before, offset)
  }
  if (text.startsWith('\uFEFF')) {
    throw jsonInvalid('byte order mark, save the file without it', '', 0)
  }
  return text
}

function isCanonical(bytes: Uint8Array): boolean {
  if (bytes.length > MAX_BLOCK_BYTES) return false
  try {
    assertCanonical(bytes)
    return true
  } catch (error) {
    if (error instanceof StoreError) return false
    throw error
  }
}

function scan(text: string, maxDepth: number): JsonRemark[] {
  try {
    return scanJson(text, maxDepth)
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error
    const before = text.slice(0, error.at)
    throw jsonInvalid(error.message, before, Buffer.byteLength(before), error)
  }
}

/** `before` is the text up to the fault. */
function jsonInvalid(what: string, before: string, offset: number, cause?: unknown): StoreError {
  const start = before.lastIndexOf('\n') + 1
  const column = before.slice(start).replaceAll(/[\u{10000}-\u{10ffff}]/gu, '_').length + 1
  let line = 1
  for (let at = before.indexOf('\n'); at >= 0; at = before.indexOf('\n', at + 1)) line += 1
  return new StoreError(
    'HSTORE_JSON_INVALID',
    `not JSON: ${what} at line ${line} column ${column}`,
    { cause, details: { line, column, offset } },
  )
}
