import { hash, randomBytes } from 'node:crypto'
import type { JsonForm } from '../../store/canonical.ts'
import { RecentMap } from '../kernel/recent-map.ts'
import { PackedBytes } from '../kernel/packed-bytes.ts'
import type { PackedReader } from '../kernel/packed-bytes.ts'

/** The records of an envelope that somebody says and others carry along. */
export type RecordKind = 'action' | 'assessment' | 'conflict' | 'execution'

/** What attribution needs of one record. Equal origins and states are equal values. */
export interface RecordFacts {
  readonly kind: RecordKind
  readonly id: string
  /** What tells it from all others of a workspace. */
  readonly key: string
  /** Digest of all fields but the state's; another one in each process. */
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

/** The records of one envelope as they lie packed; read anew each time, since few are looked at together. */
export class KeptRecords {
  readonly #bytes: PackedBytes
  /** Where `KnownRecords` has them. */
  readonly place: number

  constructor(bytes: PackedBytes, place: number) {
    this.#bytes = bytes
    this.place = place
  }

  /** Returns the records as they were given, or no list at all where there are none. */
  read(): ListedRecords {
    const bytes = this.#bytes
    const reader = bytes.reader(this.place)
    return Array.from({ length: reader.readNumber() }, () =>
      Array.from({ length: reader.readNumber() }, () => {
        const place = reader.readNumber()
        return place === 0 ? undefined : readFacts(bytes.reader(place - 1))
      }),
    )
  }
}

/** Keeps records packed, one copy of what was seen lately: history repeats most records in each revision. */
export class KnownRecords {
  readonly #bytes = new PackedBytes()
  readonly #places = new RecentMap<number>(16_384)

  /** How much room the records take. */
  get sizeBytes(): number {
    return this.#bytes.sizeBytes
  }

  /** Keeps the records of an envelope. */
  keep(listed: ListedRecords): KeptRecords {
    const lists = listed.every(({ length }) => length === 0) ? [] : listed
    const places = lists.map((list) => list.map((facts) => facts && this.#placeOf(facts)))
    const bytes = this.#bytes
    bytes.writeNumber(places.length)
    for (const list of places) {
      bytes.writeNumber(list.length)
      for (const place of list) bytes.writeNumber(place === undefined ? 0 : place + 1)
    }
    return new KeptRecords(bytes, bytes.end())
  }

  /** Returns records that were kept. */
  at(place: number): KeptRecords {
    return new KeptRecords(this.#bytes, place)
  }

  /** Lets go of what tells repeats: nothing more comes. */
  end(): void {
    this.#places.clear()
  }

  #placeOf(facts: RecordFacts): number {
    const { key, origin, state } = facts
    const name = `${origin}${state.length} ${state}${key}`
    const known = this.#places.get(name)
    if (known !== undefined) return known
    const place = writeFacts(this.#bytes, facts)
    this.#places.set(name, place)
    return place
  }
}

/** Longer states are digests, each another. */
const maxSharedState = 32
const linkKeys = ['owner', 'actionRef', 'resolvedBy'] as const
/** Agents, of which there are few. */
const agentKeys: ReadonlySet<string> = new Set(['owner'])

function writeFacts(bytes: PackedBytes, facts: RecordFacts): number {
  const { kind, id, origin, state, createdBy, status } = facts
  bytes.writeNumber(recordLists.findIndex((list) => list.kind === kind))
  bytes.writeName(id)
  bytes.writeText(origin)
  bytes.writeName(state, state.length > maxSharedState ? 0 : state.length)
  bytes.writeName(createdBy, createdBy.length)
  bytes.writeName(status, status.length)
  for (const link of linkKeys) {
    const text = facts[link]
    bytes.writeNumber(text === undefined ? 0 : 1)
    if (text !== undefined) bytes.writeName(text, agentKeys.has(link) ? text.length : undefined)
  }
  return bytes.end()
}

function readFacts(reader: PackedReader): RecordFacts {
  const { kind } = recordLists[reader.readNumber()]!
  const id = reader.readName()
  const link = (): string | undefined => (reader.readNumber() === 0 ? undefined : reader.readName())
  return {
    kind,
    id,
    key: recordKey({ kind, id }),
    origin: reader.readText(),
    state: reader.readName(),
    createdBy: reader.readName(),
    status: reader.readName(),
    owner: link(),
    actionRef: link(),
    resolvedBy: link(),
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

/** Says that nobody asks for records: to digest them takes longest of all that is read of an envelope. */
export const noRecords = 'no records'

/** Returns the records of an envelope's canonical form. */
export function recordsOf(form: Fields): ListedRecords {
  return recordLists.map((list) => {
    const items = Object.hasOwn(form, list.key) ? form[list.key] : undefined
    return Array.isArray(items) ? items.map((item) => factsOf(list, item)) : []
  })
}

/** Returns what tells a record from all others of a workspace. */
export function recordKey({ kind, id }: Pick<RecordFacts, 'id' | 'kind'>): string {
  return `${kind} ${id}`
}

function factsOf({ kind, state }: RecordList, item: JsonForm): RecordFacts | undefined {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return undefined
  const id = findText(item, 'id')
  if (id === undefined) return undefined
  const origin: Record<string, JsonForm | undefined> = { ...item }
  for (const key of state) if (Object.hasOwn(origin, key)) origin[key] = undefined
  return {
    kind,
    id,
    key: recordKey({ kind, id }),
    origin: digestOf(textOf(origin)),
    state: stateOf(item, state),
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

// nobody can look for two texts with one digest who does not know it, so that half of each is enough
const digestKey = randomBytes(32).toString('latin1')

function digestOf(text: string): string {
  return hash('sha256', digestKey + text, 'binary').slice(0, 16)
}
