import { recordLists } from '../diff.ts'
import { entryReport } from '../reports.ts'
import type { ShownEntry } from '../show.ts'
import type { Paint } from './paint.ts'
import { recordLine } from './record-lines.ts'
import { plain } from './render.ts'
import { valueText } from './value-text.ts'

/** What a reader wants to know of a document before its records, by kind. */
const ownFields: ReadonlyMap<string, readonly string[]> = new Map([
  ['envelope', ['created_by', 'created_on']],
  ['roster', ['version', 'threshold']],
  ['certificate', ['agent', 'verdict', 'level', 'heads', 'shallow']],
])

/** Returns an entry for a person: its fields, what its document is about, and the document itself. */
export function entryText(shown: ShownEntry, paint: Paint): string {
  const { kind, document, isJudged } = shown
  const parts = [
    entryLines(shown, paint),
    ownLines(kind, document),
    ...recordLists(kind).map((list) => recordLines(list, document, paint)),
    isJudged ? [] : [plain(`this version does not judge what a ${kind} says`)],
    JSON.stringify(document, null, 2).split('\n').map(plain),
  ]
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`
}

function entryLines({ entry, standing }: ShownEntry, paint: Paint): string[] {
  const lines = Object.entries(entryReport(entry)).flatMap(([key, value]) => {
    const values = Array.isArray(value) ? value : value === false ? [] : [String(value)]
    const told = values.filter((one) => one !== '').map((one) => plain(`${key}: ${one}`))
    return key === 'cid' ? told.map((line) => paint('cid', line)) : told
  })
  if (standing.standing === 'valid') return lines
  const { standing: word, why } = standing
  return [...lines, paint('warning', plain(`standing: ${word}, for ${why}`))]
}

type Document = ShownEntry['document']

function ownLines(kind: string, document: Document): string[] {
  return (ownFields.get(kind) ?? []).flatMap((key) => {
    const value = Object.hasOwn(document, key) ? document[key] : undefined
    const values = Array.isArray(value) ? value : value === undefined ? [] : [value]
    return values.map((one) => `${key}: ${valueText(one)}`)
  })
}

function recordLines(
  { key, kind, id }: ReturnType<typeof recordLists>[number],
  document: Document,
  paint: Paint,
): string[] {
  const list = Object.hasOwn(document, key) ? document[key] : undefined
  if (!Array.isArray(list) || list.length === 0) return []
  const heading = `${list.length} ${kind}${list.length === 1 ? '' : 's'}`
  const lines = list.map((record) => `  ${recordLine(kind, idOf(record, id), record)}`)
  return [paint('heading', heading), ...lines]
}

function idOf(record: unknown, key: string): string | null {
  if (typeof record !== 'object' || record === null || !Object.hasOwn(record, key)) return null
  const id = (record as Record<string, unknown>)[key]
  return typeof id === 'string' ? id : null
}
