import { plain } from './render.ts'

type Fields = Readonly<Record<string, unknown>>

const maxSummary = 240

/** What a person wants to know of a record, by its kind. Fields may be absent or of any type: others wrote them. */
const summaries: Readonly<Record<string, (fields: Fields) => readonly string[]>> = {
  artifact: (of) => [text(of, 'artifact_role'), text(of, 'artifact_path'), size(of)],
  assessment: (of) => [status(text(of, 'assessment_status')), text(of, 'assessment_text')],
  action: (of) => [
    status(text(of, 'action_status'), text(of, 'action_type')),
    lead('for', text(of, 'owner'), ':'),
    text(of, 'description'),
  ],
  execution: (of) => [
    status(text(of, 'execution_status'), text(of, 'execution_type')),
    lead('of', text(of, 'action_ref'), text(of, 'execution_outcome') === '' ? '' : ':'),
    text(of, 'execution_outcome'),
  ],
  conflict: (of) => [status(text(of, 'conflict_status')), text(of, 'description')],
  check: (of) => [text(of, 'result')],
  agent: (of) => [lead('also', texts(of, 'aliases').join(', '), ''), keys(of)],
  root: (of) => [lead('held by', text(of, 'holder'), '')],
}

/** Returns a record as one line: its id, then what its kind makes of it. */
export function recordLine(kind: string, id: string | null, record: unknown): string {
  const isMap = typeof record === 'object' && record !== null && !Array.isArray(record)
  const summary = Object.hasOwn(summaries, kind) ? summaries[kind] : undefined
  const words = isMap && summary !== undefined ? summary(record as Fields) : []
  const shown = words.filter((word) => word !== '').join(' ')
  return plain(
    [id ?? short(JSON.stringify(record)), ...(shown === '' ? [] : [short(shown)])].join(' '),
  )
}

/** A reader sees what a record is about; the document has the rest. */
function short(text: string): string {
  return text.length <= maxSummary ? text : `${text.slice(0, maxSummary)}…`
}

function text(fields: Fields, key: string): string {
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined
  return typeof value === 'string' ? value : ''
}

function texts(fields: Fields, key: string): readonly string[] {
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function keys(fields: Fields): string {
  const value = Object.hasOwn(fields, 'keys') ? fields['keys'] : undefined
  const dids = (Array.isArray(value) ? value : []).flatMap((key: unknown) =>
    typeof key === 'object' && key !== null ? text(key as Fields, 'did') : [],
  )
  return lead('signs with', dids.join(', '), '')
}

function status(...words: readonly string[]): string {
  const shown = words.filter((word) => word !== '').join(', ')
  return shown === '' ? '' : `(${shown})`
}

function lead(word: string, name: string, end: string): string {
  return name === '' ? '' : `${word} ${name}${end}`
}

function size(fields: Fields): string {
  const value = Object.hasOwn(fields, 'byte_size') ? fields['byte_size'] : undefined
  return typeof value === 'number' ? `(${value} bytes)` : ''
}
