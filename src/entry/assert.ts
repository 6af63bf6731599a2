import { compareUtf8 } from '../kernel/bytes.ts'
import { bounded } from '../kernel/shown.ts'
import { isDidKey } from '../../keys/did-key.ts'
import type { JsonForm } from '../../store/canonical.ts'
import { findBytes, findLink } from '../../store/canonical.ts'
import type { CidText, Codec } from '../../store/cid-text.ts'
import { codecOf } from '../../store/cid-text.ts'
import type { Payload } from './entry.ts'
import { maxLinks, maxPrev } from './entry.ts'
import { familyOf, kindOf } from './kinds.ts'
import { isAgentId, isPlainText, isStream } from './text.ts'

/** One faulty field of a block, named by JSON pointer. */
export interface Fault {
  readonly pointer: string
  readonly message: string
}

/** A decoded block as an entry's fields, or every fault found. */
export type Door =
  | { readonly payload: Payload; readonly sig: Uint8Array }
  | { readonly newer: unknown }
  | { readonly faults: readonly Fault[] }

type FormMap = { readonly [key: string]: JsonForm }

const keys = new Set(
  'artifacts author body kind name parents prev refs roster seq shallow signer source store stream v witness'.split(
    ' ',
  ),
)

/**
 * Returns the entry that a canonical block holds, or all its faults: the one door for entries from anywhere.
 *
 * A block whose `payload.v` is not 1 comes back as `newer`: made by a newer hstore, not judged here.
 */
export function readEntryForm(form: FormMap): Door {
  const payload = own(form, 'payload')
  if (!isMap(payload)) return { faults: [{ pointer: '/payload', message: 'is not a map' }] }
  const version = own(payload, 'v')
  if (typeof version === 'number' && version > 1) return { newer: version }
  const reader = new Reader(payload)
  const read = readPayload(reader)
  if (version !== 1) reader.fault('v', 'is not 1')
  const sig = findBytes(own(form, 'sig') ?? null)
  if (sig?.length !== 64)
    reader.faults.push({ pointer: '/sig', message: 'is not 64 bytes: unsigned' })
  if (Object.keys(form).length !== 2) {
    reader.faults.push({ pointer: '', message: 'has keys other than payload and sig' })
  }
  return reader.faults.length > 0 || sig === undefined
    ? { faults: reader.faults }
    : { payload: read, sig }
}

function readPayload(reader: Reader): Payload {
  for (const key of Object.keys(reader.map))
    if (!keys.has(key)) reader.fault(key, 'is no key of an entry')
  const payload: Payload = {
    artifacts: reader.optionalLink('artifacts', 'dag-json'),
    author: reader.text('author', isAgentId, 'is not an agent id'),
    body: reader.link('body', 'dag-json'),
    kind: reader.text('kind', (value) => isPlainText(value, 64), 'is not the name of a kind'),
    name: reader.optionalText('name'),
    parents: reader.links('parents', maxLinks, true),
    prev: reader.links('prev', maxPrev, true),
    refs: reader.links('refs', maxLinks, false),
    roster: reader.link('roster', 'dag-json'),
    seq: reader.seq(),
    shallow: reader.names('shallow'),
    signer: reader.text(
      'signer',
      isDidKey,
      'is not a did:key of an Ed25519 key',
    ) as Payload['signer'],
    source: reader.optionalLink('source', 'raw'),
    store: reader.link('store', 'dag-json'),
    stream: reader.text('stream', isStream, 'does not name a stream'),
    witness: reader.witness(),
  }
  checkKind(reader, payload)
  if (payload.prev.length === 0 ? payload.seq !== 1 : payload.seq < 2) {
    reader.fault('seq', 'does not fit prev')
  }
  return payload
}

function checkKind(reader: Reader, payload: Payload): void {
  const kind = kindOf(payload.kind)
  const family = familyOf(payload.stream)
  const shown = bounded(payload.kind)
  if (kind.family !== undefined && kind.family !== family) {
    reader.fault('stream', `is not of family ${kind.family}, where ${shown} stands`)
  }
  if (family === 'log' && payload.stream !== `log:${payload.signer}`) {
    reader.fault('stream', "is not the signer's own log")
  }
  if (kind.isNamed !== (payload.name !== undefined)) {
    reader.fault('name', kind.isNamed ? 'is missing' : `is not for ${shown}`)
  }
  if (payload.witness && !kind.mayWitness) reader.fault('witness', `is not for ${shown}`)
  if (payload.kind === 'envelope') return
  for (const key of ['artifacts', 'shallow', 'source'] as const) {
    if (Object.hasOwn(reader.map, key)) reader.fault(key, 'is for envelopes only')
  }
}

/** Reads the fields of one map and gathers what is wrong with them. */
class Reader {
  readonly faults: Fault[] = []
  readonly map: FormMap

  constructor(map: FormMap) {
    this.map = map
  }

  fault(key: string, message: string): void {
    this.faults.push({
      pointer: `/payload/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      message,
    })
  }

  text(key: string, fits: (value: unknown) => boolean, message: string): string {
    const value = own(this.map, key)
    if (typeof value === 'string' && fits(value)) return value
    this.fault(key, message)
    return ''
  }

  optionalText(key: string): string | undefined {
    const value = own(this.map, key)
    if (value === undefined || typeof value === 'string') return value
    this.fault(key, 'is not a text')
    return undefined
  }

  optionalLink(key: string, codec: Codec): CidText | undefined {
    const value = own(this.map, key)
    if (value === undefined) return undefined
    const link = findLink(value)
    if (link !== undefined && codecOf(link) === codec) return link
    this.fault(key, `is not a link to a ${codec} block`)
    return undefined
  }

  link(key: string, codec: Codec): CidText {
    if (!Object.hasOwn(this.map, key)) this.fault(key, 'is missing')
    return this.optionalLink(key, codec) ?? ('' as CidText)
  }

  links(key: string, most: number, isRequired: boolean): CidText[] {
    const list = this.list(key, most, isRequired)
    const links: CidText[] = []
    for (const item of list) {
      const link = findLink(item)
      if (link === undefined || codecOf(link) !== 'dag-json')
        this.fault(key, 'holds what is no link to an entry')
      else links.push(link)
    }
    if (!ascends(links, (a, b) => (a < b ? -1 : 1)))
      this.fault(key, 'is unsorted or repeats a link')
    return links
  }

  names(key: string): string[] {
    const items = this.list(key, maxLinks, false)
    const names = items.filter((item) => typeof item === 'string')
    if (names.length !== items.length) this.fault(key, 'holds what is no text')
    if (!ascends(names, compareUtf8)) this.fault(key, 'is unsorted or repeats a name')
    return names
  }

  seq(): number {
    const value = own(this.map, 'seq')
    if (typeof value === 'number' && value >= 1) return value
    this.fault('seq', 'is not a whole number from 1 on')
    return 0
  }

  witness(): boolean {
    const value = own(this.map, 'witness')
    if (value !== undefined && value !== true) this.fault('witness', 'is not true')
    return value === true
  }

  private list(key: string, most: number, isRequired: boolean): readonly JsonForm[] {
    const value = own(this.map, key)
    if (value === undefined && !isRequired) return []
    const fits = Array.isArray(value) && value.length <= most && (isRequired || value.length > 0)
    if (fits) return value
    this.fault(key, `is not a list of ${isRequired ? 'at most' : '1 to'} ${most}`)
    return []
  }
}

function ascends<T>(list: readonly T[], compare: (a: T, b: T) => number): boolean {
  return list.every(
    (item, i) => i === 0 || (item !== list[i - 1] && compare(list[i - 1]!, item) < 0),
  )
}

function own(map: FormMap, key: string): JsonForm | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined
}

function isMap(value: JsonForm | undefined): value is { [key: string]: JsonForm } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
