import { createHash } from 'node:crypto'
import type { JsonForm } from '../../store/canonical.ts'

/** The records of an envelope that somebody says and others carry along. */
export type RecordKind = 'action' | 'assessment' | 'conflict' | 'execution'

/** What attribution needs of one record. Equal digests are equal values. */
export interface RecordFacts {
  readonly kind: RecordKind
  readonly id: string
  /** Digest of all fields but the state's. */
  readonly origin: string
  /** Digest of the state fields. */
  readonly state: string
  readonly createdBy: string
  /** An action's status, an assessment's, an execution's or a conflict's. */
  readonly status: string
  /** An action's owner. */
  readonly owner: string | undefined
  /** An execution's action. */
  readonly actionRef: string | undefined
  /** The revision that resolves a conflict. */
  readonly resolvedBy: string | undefined
}

/** Records that were seen before, by the digest of their text: history repeats most of them in each revision. */
export type KnownRecords = Map<string, RecordFacts>

type Fields = { readonly [key: string]: JsonForm }

interface RecordList {
  readonly key: string
  readonly kind: RecordKind
  /** The field that tells how the record stands, then the others of its state. */
  readonly state: readonly [string, ...string[]]
}

/** The records of an envelope in the lists of `recordLists`; undefined stands for one that is no map or has no id. */
export type ListedRecords = readonly (readonly (RecordFacts | undefined)[])[]

/** The lists of records in an envelope, each with its state fields; all other fields are the origin. */
export const recordLists: readonly RecordList[] = [
  { key: 'assessments', kind: 'assessment', state: ['assessment_status'] },
  { key: 'actions', kind: 'action', state: ['action_status'] },
  {
    key: 'executions',
    kind: 'execution',
    state: ['execution_status', 'started_on', 'completed_on', 'execution_outcome', 'outputs'],
  },
  {
    key: 'conflicts',
    kind: 'conflict',
    state: ['conflict_status', 'resolution', 'resolved_by_head'],
  },
]

/** Returns the records of an envelope's canonical form. */
export function recordsOf(form: Fields, known: KnownRecords = new Map()): ListedRecords {
  return recordLists.map((list) => {
    const items = Object.hasOwn(form, list.key) ? form[list.key] : undefined
    return Array.isArray(items) ? items.map((item) => onceOf(list, item, known)) : []
  })
}

/** Returns what tells a record from all others of a workspace. */
export function recordKey({ kind, id }: Pick<RecordFacts, 'id' | 'kind'>): string {
  return `${kind} ${id}`
}

function onceOf(list: RecordList, item: JsonForm, known: KnownRecords): RecordFacts | undefined {
  const digest = digestOf([list.kind, item])
  const there = known.get(digest)
  if (there !== undefined) return there
  const facts = factsOf(list, item)
  if (facts !== undefined) known.set(digest, facts)
  return facts
}

function factsOf({ kind, state }: RecordList, item: JsonForm): RecordFacts | undefined {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return undefined
  const id = findText(item, 'id')
  if (id === undefined) return undefined
  const fields = Object.entries(item)
  const part = (isState: boolean): string =>
    digestOf(Object.fromEntries(fields.filter(([key]) => state.includes(key) === isState)))
  return {
    kind,
    id,
    origin: part(false),
    state: part(true),
    createdBy: findText(item, 'created_by') ?? '',
    status: findText(item, state[0]) ?? '',
    owner: kind === 'action' ? findText(item, 'owner') : undefined,
    actionRef: kind === 'execution' ? findText(item, 'action_ref') : undefined,
    resolvedBy: kind === 'conflict' ? findText(item, 'resolved_by_head') : undefined,
  }
}

function findText(fields: Fields, key: string): string | undefined {
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined
  return typeof value === 'string' ? value : undefined
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value, saying)).digest('base64url')
}

/** An absent field, null and an empty list say the same. */
function saying(_key: string, value: unknown): unknown {
  return value === null || (Array.isArray(value) && value.length === 0) ? undefined : value
}
