import type { JsonRemark } from '../../../store/json-scanner.ts'
import type { CsagFinding, Segment } from './finding.ts'
import { MAX_FINDINGS, schemaFinding } from './finding.ts'
import type { SchemaError } from './generated/handoff.js'
import { validate as validateHandoffShape } from './generated/handoff.js'
import { schemaKeywords } from './schema-keyword.ts'

/** A place where a document breaks its closed schema. */
export interface SchemaFault {
  /** The rule, CSAG-S-001 to CSAG-S-010. */
  readonly code: string
  readonly place: readonly Segment[]
  readonly message: string
  /** Upstream's name of the keyword. */
  readonly rank: string
}

/** Checks a paper; gives its faults in upstream's order. */
export type PaperCheck = (value: unknown, remarks: readonly JsonRemark[]) => SchemaFault[]

/**
 * Returns the findings of the closed schema of HandoffEnvelope in upstream's order, none for a value that is a
 * {@link HandoffEnvelope}; at most {@link MAX_FINDINGS}.
 *
 * @param remarks - What the text says beyond the value; none when the value comes from a block.
 */
export function checkEnvelope(value: unknown, remarks: readonly JsonRemark[] = []): CsagFinding[] {
  const valid = validateHandoffShape(value)
  if (valid && remarks.length === 0) return []
  const faults = valid ? [] : collect(validateHandoffShape.errors ?? [], value, remarks)
  const spelled = findSpelledSizes(value, remarks, faults)
  return [...faults, ...spelled]
    .sort(compareFaults)
    .slice(0, MAX_FINDINGS)
    .map(({ code, place, message }) => schemaFinding(code, place, message))
}

/** Returns the check of the closed schema of PaperExtraction. Its code is large, so it loads with the first paper. */
export async function loadPaperCheck(): Promise<PaperCheck> {
  const { validate } = await import('./generated/paper.js')
  return (value, remarks) =>
    validate(value) ? [] : collect(validate.errors ?? [], value, remarks).sort(compareFaults)
}

function collect(
  errors: readonly (SchemaError | undefined)[],
  value: unknown,
  remarks: readonly JsonRemark[],
): SchemaFault[] {
  // A list that was cut at its limit and then set back has holes.
  const known = errors.filter((error) => error !== undefined)
  const nested = new Set(known.filter((e) => e.keyword === 'anyOf').map((e) => e.instancePath))
  const huge = new Set(remarks.filter((r) => isPlainInteger(r.text)).map((r) => r.pointer))
  const kept = known.filter(
    (error) =>
      !isInside(error, nested) &&
      // An integer past the largest double is infinite here and an integer upstream.
      !(error.keyword === 'finite' && huge.has(error.instancePath)),
  )
  return mergeUnknownKeys(kept).map((error) => makeFault(error, value))
}

/** Upstream names a bad nested object at the property only, not what is wrong inside it. */
function isInside(error: SchemaError, nested: ReadonlySet<string>): boolean {
  if (nested.size === 0) return false
  if (error.keyword !== 'anyOf' && nested.has(error.instancePath)) return true
  let path = error.instancePath
  while (path !== '') {
    path = path.slice(0, path.lastIndexOf('/'))
    if (nested.has(path)) return true
  }
  return false
}

/** Upstream names all unknown keys of one object in one finding. */
function mergeUnknownKeys(errors: readonly SchemaError[]): SchemaError[] {
  const keysOf = new Map<string, string[]>()
  const merged: SchemaError[] = []
  for (const error of errors) {
    const { instancePath, keyword, params } = error
    if (keyword !== 'additionalProperties') {
      merged.push(error)
      continue
    }
    const key = String(params['additionalProperty'])
    const keys = keysOf.get(instancePath)
    if (keys !== undefined) {
      keys.push(key)
      continue
    }
    const first = [key]
    keysOf.set(instancePath, first)
    merged.push({ instancePath, keyword, params: { keys: first } })
  }
  return merged
}

function makeFault(error: SchemaError, root: unknown): SchemaFault {
  const keyword = schemaKeywords.get(error.keyword)
  if (keyword === undefined) throw new RangeError(`keyword: got the unknown ${error.keyword}`)
  const place: Segment[] = []
  let value = root
  // Only keys that the schema knows are on the way, so nothing is escaped.
  for (const step of error.instancePath.split('/').slice(1)) {
    place.push(Array.isArray(value) ? Number(step) : step)
    value = (value as Record<string, unknown>)[step]
  }
  const { code, rank, describe } = keyword
  return { code, place, rank, message: describe(error.params, value) }
}

/**
 * Returns a fault for each `byte_size` that is not spelled as a plain integer: upstream accepts `164.0` and then does
 * not compare it with the file.
 */
function findSpelledSizes(
  value: unknown,
  remarks: readonly JsonRemark[],
  faults: readonly SchemaFault[],
): SchemaFault[] {
  const found: SchemaFault[] = []
  const typed = new Set(faults.filter((f) => f.rank === 'type').map((f) => `/${f.place.join('/')}`))
  for (const { pointer, text } of remarks) {
    if (!isSizePointer(pointer, value) || isPlainInteger(text) || typed.has(pointer)) continue
    typed.add(pointer)
    const place = pointer
      .slice(1)
      .split('/')
      .map((step) => (/^\d+$/.test(step) ? Number(step) : step))
    const message = 'wanted an integer without a point or exponent'
    found.push({ code: 'CSAG-S-001', place, rank: 'type', message })
  }
  return found
}

const SIZE_POINTER =
  /^\/(?:source_artifacts\/\d+|executions\/\d+\/(?:inputs|outputs)\/\d+)\/byte_size$/

function isSizePointer(pointer: string, root: unknown): boolean {
  if (!SIZE_POINTER.test(pointer)) return false
  let value = root
  for (const step of pointer.slice(1).split('/')) {
    if (typeof value !== 'object' || value === null) return false
    if (Array.isArray(value) !== /^\d+$/.test(step)) return false
    value = (value as Record<string, unknown>)[step]
  }
  return typeof value === 'number'
}

/** Returns whether a number literal is an integer by its spelling alone: upstream keeps such numbers exactly. */
export function isPlainInteger(literal: string): boolean {
  return /^-?\d+$/.test(literal)
}

function compareFaults(a: SchemaFault, b: SchemaFault): number {
  const shared = Math.min(a.place.length, b.place.length)
  for (let i = 0; i < shared; i++) {
    const x = a.place[i] as Segment
    const y = b.place[i] as Segment
    if (x !== y) return x < y ? -1 : 1
  }
  if (a.place.length !== b.place.length) return a.place.length - b.place.length
  return a.rank === b.rank ? 0 : a.rank < b.rank ? -1 : 1
}
