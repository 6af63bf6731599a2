import { hash } from 'node:crypto'
import type { JsonForm } from '../../store/canonical.ts'
import { RecentMap } from '../kernel/recent-map.ts'

/** The records of an envelope that somebody says and others carry along. */
export type RecordKind = 'action' | 'assessment' | 'conflict' | 'execution'

/** What attribution needs of one record. Equal origins and states are equal values. */
export interface RecordFacts {
  readonly kind: RecordKind
  readonly id: string
  /** What tells it from all others of a workspace. */
  readonly key: string
  /** Digest of all fields but the state's. */
  readonly origin: string
  /** The state fields, or their digest where they are long. */
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

/** States of one record that are kept, at most. */
const maxStates = 8

/** Keeps one copy of what was seen lately: history repeats most records in each revision, and names all the time. */
export class KnownRecords {
  /** By origin. */
  readonly #records = new RecentMap<readonly RecordFacts[]>(16_384)
  readonly #texts = new RecentMap<string>(4096)

  /** Returns equal facts that were given before, or these. */
  record(facts: RecordFacts): RecordFacts {
    const { key, origin, state } = facts
    const known = this.#records.get(origin)
    const same = known?.find((one) => one.state === state && one.key === key)
    if (same !== undefined) return same
    this.#records.set(origin, known === undefined ? [facts] : [facts, ...known].slice(0, maxStates))
    return facts
  }

  /** Returns the copy of a text that was given before, or this one. */
  text<T extends string | undefined>(text: T): T {
    if (text === undefined) return text
    const known = this.#texts.get(text)
    if (known === undefined) this.#texts.set(text, text)
    return (known ?? text) as T
  }
}

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
export function recordsOf(form: Fields, known: KnownRecords = new KnownRecords()): ListedRecords {
  return recordLists.map((list) => {
    const items = Object.hasOwn(form, list.key) ? form[list.key] : undefined
    return Array.isArray(items) ? items.map((item) => factsOf(list, item, known)) : []
  })
}

/** Returns what tells a record from all others of a workspace. */
export function recordKey({ kind, id }: Pick<RecordFacts, 'id' | 'kind'>): string {
  return `${kind} ${id}`
}

function factsOf(
  { kind, state }: RecordList,
  item: JsonForm,
  known: KnownRecords,
): RecordFacts | undefined {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return undefined
  const name = findText(item, 'id')
  if (name === undefined) return undefined
  const origin: Record<string, JsonForm | undefined> = { ...item }
  for (const key of state) if (Object.hasOwn(origin, key)) origin[key] = undefined
  const key = recordKey({ kind, id: name })
  // a part of the key: it takes no room of its own
  const id = key.slice(kind.length + 1)
  return known.record({
    kind,
    id: kind === 'action' ? known.text(id) : id,
    key,
    origin: digestOf(textOf(origin)),
    state: known.text(stateOf(item, state)),
    createdBy: known.text(findText(item, 'created_by') ?? ''),
    status: findText(item, state[0]) ?? '',
    ...linksOf(kind, (key) => known.text(findText(item, key))),
  })
}

/** What the kind of a record alone has. */
function linksOf(
  kind: RecordKind,
  find: (key: string) => string | undefined,
): Pick<RecordFacts, 'actionRef' | 'owner' | 'resolvedBy'> {
  return {
    owner: kind === 'action' ? find('owner') : undefined,
    actionRef: kind === 'execution' ? find('action_ref') : undefined,
    resolvedBy: kind === 'conflict' ? find('resolved_by_head') : undefined,
  }
}

function findText(fields: Fields, key: string): string | undefined {
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined
  return typeof value === 'string' ? value : undefined
}

/** Returns the same text for states that say the same; most are one word. */
function stateOf(item: Fields, state: RecordList['state']): string {
  const [first, ...others] = state.filter(
    (key) => Object.hasOwn(item, key) && saying(key, item[key]) !== undefined,
  )
  if (first === undefined) return '{}'
  const value = item[first]
  if (first === state[0] && others.length === 0 && typeof value === 'string')
    return shortOf(JSON.stringify(value))
  return shortOf(textOf(Object.fromEntries([first, ...others].map((key) => [key, item[key]]))))
}

/** Returns the same text for values that say the same: an absent field, null and an empty list do. */
function textOf(value: unknown): string {
  const text = JSON.stringify(value)
  // fields are what null takes away, and a list keeps its place
  return text.includes(':null') || text.includes('[]') ? JSON.stringify(value, saying) : text
}

function saying(_key: string, value: unknown): unknown {
  return value === null || (Array.isArray(value) && value.length === 0) ? undefined : value
}

function shortOf(text: string): string {
  return text.length <= 64 ? text : `#${digestOf(text)}`
}

function digestOf(text: string): string {
  return hash('sha256', text, 'binary')
}
