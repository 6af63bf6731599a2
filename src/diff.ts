import type { JsonForm } from '../store/canonical.ts'
import type { FieldChange } from './diff-fields.ts'
import { fieldChanges, isMap, own, textOf } from './diff-fields.ts'
import type { FormMap } from './graph/body.ts'

/** A record of a document that the other document lacks. */
export interface OneSided {
  /** `action`, `agent` …: what the record is. */
  readonly kind: string
  /** What the record calls itself; null where it does not, as in no document that keeps its contract. */
  readonly id: string | null
  readonly record: JsonForm
}

/** A record that both documents have, by one id, or the document itself, with the fields that differ. */
export interface Changed {
  readonly kind: string
  readonly id: string | null
  /** Pointers start at the record. */
  readonly fields: readonly FieldChange[]
}

/** What is in the second document and not the first, differs, or is in the first and not the second. */
export interface DocumentDiff {
  readonly added: readonly OneSided[]
  readonly changed: readonly Changed[]
  readonly dropped: readonly OneSided[]
}

/** A list of records: where it stands, what one of them is, and which of its fields names it. */
interface RecordList {
  readonly key: string
  readonly kind: string
  readonly id: string
}

const lists: ReadonlyMap<string, readonly RecordList[]> = new Map([
  [
    'envelope',
    [
      { key: 'source_artifacts', kind: 'artifact', id: 'id' },
      { key: 'assessments', kind: 'assessment', id: 'id' },
      { key: 'actions', kind: 'action', id: 'id' },
      { key: 'executions', kind: 'execution', id: 'id' },
      { key: 'conflicts', kind: 'conflict', id: 'id' },
    ],
  ],
  [
    'roster',
    [
      { key: 'roots', kind: 'root', id: 'did' },
      { key: 'agents', kind: 'agent', id: 'id' },
    ],
  ],
  ['certificate', [{ key: 'checks', kind: 'check', id: 'name' }]],
])

/** Returns what records a document of a kind has, in the order in which they are shown; the document itself first. */
export function recordLists(kind: string): readonly RecordList[] {
  return lists.get(kind) ?? []
}

/**
 * Returns how two documents of one kind differ, by records; nothing at all only where they are the same. Records are
 * known by their ids, wherever they stand; those that share an id in one document, or have none, only as a whole.
 *
 * @param kind - The kind of the entries that put them into the graph: it says what is a record.
 */
export function diffDocuments(kind: string, a: FormMap, b: FormMap): DocumentDiff {
  const added: OneSided[] = []
  const dropped: OneSided[] = []
  const changed: Changed[] = []
  const fields = fieldChanges(shellOf(kind, a, b), shellOf(kind, b, a))
  for (const list of recordLists(kind)) {
    const [before, after] = [recordsIn(a, list), recordsIn(b, list)]
    const more = oneSided(after, before)
    const less = oneSided(before, after)
    added.push(...more)
    dropped.push(...less)
    if (more.length + less.length === 0) fields.push(...orderChange(list.key, before, after))
    changed.push(...pairs(before, after))
  }
  const id = own(a, 'id')
  const document = { kind, id: typeof id === 'string' ? id : null, fields }
  return { added, changed: fields.length === 0 ? changed : [document, ...changed], dropped }
}

/** Returns a document without what its records and the other's say already. */
function shellOf(kind: string, document: FormMap, other: FormMap): FormMap {
  const shell = new Map(Object.entries(document))
  for (const { key } of recordLists(kind)) {
    const [value, beside] = [own(document, key), own(other, key)]
    const areListed = [value, beside].every((one) => Array.isArray(one) || one == null)
    const hasRecords = [value, beside].some((one) => Array.isArray(one) && one.length > 0)
    if (areListed && hasRecords) shell.delete(key)
    else if (Array.isArray(value)) shell.set(key, [])
  }
  return Object.fromEntries(shell)
}

/** A record, and whether its id is its own. */
interface Known extends OneSided {
  readonly isUnique: boolean
}

function recordsIn(document: FormMap, { key, kind, id }: RecordList): readonly Known[] {
  const value = own(document, key)
  const found = (Array.isArray(value) ? value : []).map((record) => {
    const name = isMap(record) ? own(record, id) : undefined
    return { kind, id: typeof name === 'string' ? name : null, record }
  })
  const counts = new Map<string | null, number>()
  for (const { id } of found) counts.set(id, (counts.get(id) ?? 0) + 1)
  return found.map((one) => ({ ...one, isUnique: one.id !== null && counts.get(one.id) === 1 }))
}

/** Returns the records that have no counterpart: none of the same id, nor, where ids do not tell, one that is equal. */
function oneSided(records: readonly Known[], others: readonly Known[]): OneSided[] {
  const pairable = pairableIds(records, others)
  const left = new Map<string, number>()
  for (const { id, record } of others) {
    if (pairable.has(id)) continue
    const text = textOf(record)
    left.set(text, (left.get(text) ?? 0) + 1)
  }
  const found: OneSided[] = []
  for (const { kind, id, record } of records) {
    if (pairable.has(id)) continue
    const text = textOf(record)
    const count = left.get(text) ?? 0
    if (count > 0) left.set(text, count - 1)
    else found.push({ kind, id, record })
  }
  return found
}

function pairableIds(a: readonly Known[], b: readonly Known[]): ReadonlySet<string | null> {
  const ids = new Set(a.filter(({ isUnique }) => isUnique).map(({ id }) => id))
  return new Set(b.filter(({ id, isUnique }) => isUnique && ids.has(id)).map(({ id }) => id))
}

function pairs(before: readonly Known[], after: readonly Known[]): Changed[] {
  const pairable = pairableIds(before, after)
  const byId = new Map(after.map((one) => [one.id, one.record]))
  return before.flatMap(({ kind, id, record }) => {
    if (!pairable.has(id)) return []
    const fields = fieldChanges(record, byId.get(id)!)
    return fields.length === 0 ? [] : [{ kind, id, fields }]
  })
}

/** The same records in another order are another document. */
function orderChange(
  key: string,
  before: readonly Known[],
  after: readonly Known[],
): FieldChange[] {
  const placed = ({ id, isUnique, record }: Known): string => (isUnique ? `${id}` : textOf(record))
  if (before.every((one, i) => placed(one) === placed(after[i]!))) return []
  const ids = (records: readonly Known[]): JsonForm => records.map(({ id }) => id)
  return [{ pointer: `/${key}`, from: ids(before), to: ids(after) }]
}
