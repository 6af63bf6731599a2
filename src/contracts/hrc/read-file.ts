import { StoreError } from '../../../store/errors.ts'
import { parseJson } from '../../../store/json-input.ts'
import type { JsonInput, JsonLimits } from '../../../store/json-input.ts'
import type { JsonRemark } from '../../../store/json-scanner.ts'
import { HandoffError } from '../../errors.ts'
import { assertArgument, assertBytes } from '../../kernel/errors.ts'
import { bounded } from '../../kernel/shown.ts'
import type { Finding } from '../../rules/rule.ts'
import { fault, findFaults } from './schema.ts'
import type { HrcKind } from './schema.ts'

/** A document of HRC-001 or ORC-001 as a file: JSON, at most 2 MiB. */
export interface HrcFile {
  readonly bytes: Uint8Array
  /** What messages call it. */
  readonly name: string
}

const limits = { maxBytes: 2 * 1024 * 1024, maxDepth: 64 }
const maxListBytes = 16 * 1024 * 1024
const maxFindings = 1000

/**
 * Returns a file's document; what is wrong with it goes to `faults`.
 *
 * @throws {StoreError} `HSTORE_JSON_INVALID` for a file that is no JSON, or over 2 MiB.
 */
export function readDocument(file: HrcFile, kind: HrcKind, faults: Finding[]): unknown {
  assertArgument(kind, file, 'object')
  assertBytes(`${kind}.bytes`, file.bytes)
  assertArgument(`${kind}.name`, file.name, 'string')
  const { value, remarks } = parse(file, limits)
  const found = findFaults(value, kind)
  for (const one of [...found, ...hiddenFaults(remarks, found)])
    faults.push({ ...one, path: file.name })
  return value
}

/**
 * Returns the documents of a file that holds a list of them, or one a line; what is wrong with them goes to `faults`.
 * At most 16 MiB, a line 2 MiB.
 *
 * @throws {StoreError} `HSTORE_JSON_INVALID` for what is no JSON or too large, or an empty file: an empty list is `[]`.
 */
export function readDocuments(file: HrcFile, kind: HrcKind, faults: Finding[]): readonly unknown[] {
  assertArgument(kind, file, 'object')
  const { bytes, name } = file
  assertBytes(`${kind}.bytes`, bytes)
  assertArgument(`${kind}.name`, name, 'string')
  if (firstSign(bytes) !== '[') return readLines(file, kind, faults)
  const { value, remarks } = parse(file, { ...limits, maxBytes: maxListBytes })
  const list = value as readonly unknown[]
  const found = list.flatMap((document, i) =>
    findFaults(document, kind).map((one) => ({ ...one, pointer: `/${i}${one.pointer ?? ''}` })),
  )
  for (const one of [...found, ...hiddenFaults(remarks, found)]) faults.push({ ...one, path: name })
  return list
}

function readLines({ bytes, name }: HrcFile, kind: HrcKind, faults: Finding[]): readonly unknown[] {
  if (bytes.length > maxListBytes) throw noList(name, `more than ${maxListBytes} bytes`)
  const documents: unknown[] = []
  let line = 0
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(0x0a, start)
    const part = bytes.subarray(start, end < 0 ? bytes.length : end)
    line += 1
    start += part.length + 1
    if (firstSign(part) === undefined) continue
    documents.push(readDocument({ bytes: part, name: `${name} line ${line}` }, kind, faults))
  }
  if (documents.length > 0) return documents
  throw noList(name, 'nothing in it: an empty list is []')
}

function noList(name: string, why: string): StoreError {
  return new StoreError('HSTORE_JSON_INVALID', `${name}: ${why}`, { details: { path: name } })
}

/** Returns the first character that is no space of JSON. */
function firstSign(bytes: Uint8Array): string | undefined {
  const at = bytes.findIndex((byte) => ![0x20, 0x09, 0x0a, 0x0d].includes(byte))
  return at < 0 ? undefined : String.fromCharCode(bytes[at]!)
}

/** A number that the schema refuses is told once. */
function hiddenFaults(remarks: readonly JsonRemark[], found: readonly Finding[]): Finding[] {
  const places = new Set(found.map(({ pointer }) => pointer))
  return remarks.filter(({ pointer }) => !places.has(pointer)).map(faultOf)
}

function parse({ bytes, name }: HrcFile, bounds: JsonLimits): JsonInput {
  try {
    return parseJson(bytes, bounds)
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause
    const details = { path: name, ...cause.details }
    throw new StoreError(cause.code, `${name}: ${cause.message}`, { cause, details })
  }
}

/** What a reader may take in two ways has no place in a document. */
function faultOf({ kind, pointer, text }: JsonRemark): Finding {
  if (kind === 'duplicate-key') return fault(pointer, 'is there twice')
  if (kind === 'lone-surrogate') return fault(pointer, `lone surrogate in ${bounded(text)}`)
  return fault(pointer, `wanted an integer without point, exponent or sign, got ${bounded(text)}`)
}

/**
 * Throws where a document breaks its schema.
 *
 * @throws {HandoffError} `HSTORE_DOCUMENT_INVALID`; `details.findings` has every place, at most 1,000.
 */
export function assertSound(faults: readonly Finding[]): void {
  const [first] = faults
  if (first === undefined) return
  const place = [first.path, first.pointer].filter((part) => part !== '').join(' ')
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more; --json lists all)` : ''
  throw new HandoffError('HSTORE_DOCUMENT_INVALID', `${place}: ${first.message}${more}`, {
    details: { path: first.path, pointer: first.pointer, findings: faults.slice(0, maxFindings) },
  })
}
