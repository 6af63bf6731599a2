import { quote } from './finding.ts'
import type { SchemaError } from './generated/handoff.js'

/** What a keyword of the generated validators means to the rules. */
export interface SchemaKeyword {
  /** The rule, CSAG-S-001 to CSAG-S-010. */
  readonly code: string
  /** Upstream's name: findings at one place are in the order of these. */
  readonly rank: string
  readonly describe: (params: SchemaError['params'], value: unknown) => string
}

const SHOWN_KEYS = 20

/** The keywords of the generated validators by name. */
export const schemaKeywords: ReadonlyMap<string, SchemaKeyword> = new Map([
  entry('additionalProperties', 'CSAG-S-003', describeClosed),
  entry('anyOf', 'CSAG-S-010', () => 'wanted null or a valid object of the schema'),
  entry('enum', 'CSAG-S-004', describeEnum),
  entry('calendarDate', 'CSAG-S-006', describeDate, 'format'),
  entry('offsetDateTime', 'CSAG-S-006', describeDateTime, 'format'),
  entry('maximum', 'CSAG-S-009', (params) => `wanted at most ${String(params['limit'])}`),
  entry('minItems', 'CSAG-S-007', describeMinItems),
  entry('minimum', 'CSAG-S-008', (params) => `wanted at least ${String(params['limit'])}`),
  entry('pattern', 'CSAG-S-005', describePattern),
  entry('required', 'CSAG-S-002', describeRequired),
  entry('type', 'CSAG-S-001', describeType),
  entry('finite', 'CSAG-S-001', () => 'wanted an integer', 'type'),
])

function entry(
  name: string,
  code: string,
  describe: SchemaKeyword['describe'],
  rank = name,
): [string, SchemaKeyword] {
  return [name, { code, rank, describe }]
}

function describeClosed(params: SchemaError['params']): string {
  const keys = params['keys'] as readonly string[]
  const shown = keys.slice(0, SHOWN_KEYS).map(quote).join(', ')
  const more = keys.length > SHOWN_KEYS ? ` and ${keys.length - SHOWN_KEYS} more` : ''
  return `unknown ${keys.length === 1 ? 'key' : 'keys'} ${shown}${more}`
}

function describeRequired(params: SchemaError['params']): string {
  return `the key ${quote(String(params['missingProperty']))} is missing`
}

function describeEnum(params: SchemaError['params'], value: unknown): string {
  const allowed = params['allowedValues'] as readonly string[]
  return `${show(value)} is none of ${allowed.join(', ')}`
}

function describeDate(_params: SchemaError['params'], value: unknown): string {
  return `${show(value)} is not a date, such as 2026-07-09`
}

function describeDateTime(_params: SchemaError['params'], value: unknown): string {
  return `${show(value)} is not a date and time with offset, such as 2026-07-09T19:21:00Z`
}

function describeMinItems(params: SchemaError['params'], value: unknown): string {
  const count = Array.isArray(value) ? value.length : 0
  return `wanted at least ${String(params['limit'])} items, got ${count}`
}

function describePattern(params: SchemaError['params'], value: unknown): string {
  return `${show(value)} does not match ${String(params['pattern'])}`
}

function describeType(params: SchemaError['params'], value: unknown): string {
  const types = params['type']
  const wanted = Array.isArray(types) ? types.join(' or ') : String(types)
  return `wanted ${wanted}, got ${show(value)}`
}

function show(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
