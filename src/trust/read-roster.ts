import { quoted } from '../kernel/shown.ts'
import { isDidKey } from '../../keys/did-key.ts'
import type { JsonForm } from '../../store/canonical.ts'
import { encodeFormText, findBytes, findLink } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { codecOf } from '../../store/cid-text.ts'
import { compareUtf8 } from '../kernel/bytes.ts'
import { isAgentId, isPlainText } from '../entry/text.ts'
import { HandoffError } from '../errors.ts'
import type { Agent, AgentKey, Grant, Root, Roster } from './roster.ts'
import { rosterFormat, rosterForm } from './roster.ts'

type FormMap = { readonly [key: string]: JsonForm }

/**
 * Returns the roster that a body holds.
 *
 * @throws {HandoffError} `HSTORE_ROSTER_INVALID` naming the first faulty place; `HSTORE_VERSION_NEWER` for a format
 * above 1, which its roots demand a newer hstore for.
 */
export function readRoster(form: FormMap): Roster {
  const format = whole(form, 'format', '')
  if (format > rosterFormat) {
    throw new HandoffError(
      'HSTORE_VERSION_NEWER',
      `the roster has format ${format}, which this hstore does not know: update hstore`,
    )
  }
  if (format < 1) fail('/format', 'is not 1')
  closed(form, '', ['agents', 'format', 'nonce', 'prev', 'roots', 'threshold', 'version'])
  const version = whole(form, 'version', '')
  const prev = own(form, 'prev')
  const link = bodyLink(prev)
  if (version === 0 ? prev !== null : link === undefined) fail('/prev', 'does not fit the version')
  const roster: Roster = {
    agents: list(form, 'agents', '').map((value, i) => readAgent(value, `/agents/${i}`)),
    format,
    nonce: readNonce(form, version),
    prev: link,
    roots: list(form, 'roots', '').map((value, i) => readRoot(value, `/roots/${i}`)),
    threshold: whole(form, 'threshold', ''),
    version,
  }
  checkWhole(roster)
  // what reads back otherwise has a key that this reader passed over
  if (encodeFormText(rosterForm(roster)) !== encodeFormText({ ...form }))
    fail('', 'has more than its schema')
  return roster
}

/** Returns the roster that a body holds, or undefined when it holds none that this version reads. */
export function findRoster(form: FormMap): Roster | undefined {
  try {
    return readRoster(form)
  } catch (error) {
    if (error instanceof HandoffError) return undefined
    throw error
  }
}

function checkWhole(roster: Roster): void {
  const { agents, roots, threshold } = roster
  sorted(
    agents.map(({ id }) => id),
    '/agents',
  )
  sorted(
    roots.map(({ did }) => did),
    '/roots',
  )
  unique(
    agents.flatMap(({ id, aliases }) => [id, ...aliases]),
    '/agents',
    'name',
  )
  unique(
    agents.flatMap(({ keys }) => keys.map(({ did }) => did)),
    '/agents',
    'key',
  )
  const holders = new Set(roots.map(({ holder }) => holder)).size
  if (threshold < 1 || threshold > holders)
    fail('/threshold', 'is not between 1 and the number of holders')
}

function readNonce(form: FormMap, version: number): Uint8Array | undefined {
  const nonce = findBytes(own(form, 'nonce') ?? null)
  if (version === 0 ? nonce?.length !== 16 : Object.hasOwn(form, 'nonce')) {
    fail('/nonce', 'is not 16 bytes in version 0, or there in a later one')
  }
  return nonce
}

function readAgent(value: JsonForm, at: string): Agent {
  const map = mapOf(value, at)
  closed(map, at, ['aliases', 'id', 'keys', 'read'])
  const id = own(map, 'id')
  if (!isAgentId(id)) fail(`${at}/id`, 'is not an agent id')
  const keys = list(map, 'keys', at).map((item, i) => readKey(item, `${at}/keys/${i}`))
  sorted(
    keys.map(({ did }) => did),
    `${at}/keys`,
  )
  return { aliases: texts(map, 'aliases', at), id, keys, read: texts(map, 'read', at) }
}

function readKey(value: JsonForm, at: string): AgentKey {
  const map = mapOf(value, at)
  closed(map, at, ['did', 'grants', 'level', 'machine'])
  const did = own(map, 'did')
  const level = own(map, 'level')
  const machine = own(map, 'machine')
  if (typeof did !== 'string' || !isDidKey(did))
    fail(`${at}/did`, 'is not a did:key of an Ed25519 key')
  if (level !== 'file' && level !== 'agent') fail(`${at}/level`, 'is neither file nor agent')
  if (!isPlainText(machine, 1024)) fail(`${at}/machine`, 'is not the name of a machine')
  const grants = list(map, 'grants', at).map((item, i) => readGrant(item, `${at}/grants/${i}`))
  sorted(
    list(map, 'grants', at).map((grant) => encodeFormText(mapOf(grant, at))),
    `${at}/grants`,
  )
  return { did, grants, level, machine }
}

function readGrant(value: JsonForm, at: string): Grant {
  const map = mapOf(value, at)
  closed(map, at, ['kinds', 'streams', 'until'])
  const until = own(map, 'until')
  const cut = bodyLink(until)
  if (until !== undefined && cut === undefined) fail(`${at}/until`, 'is not a link')
  return { kinds: texts(map, 'kinds', at), streams: texts(map, 'streams', at), until: cut }
}

function readRoot(value: JsonForm, at: string): Root {
  const map = mapOf(value, at)
  closed(map, at, ['did', 'holder'])
  const did = own(map, 'did')
  const holder = own(map, 'holder')
  if (typeof did !== 'string' || !isDidKey(did))
    fail(`${at}/did`, 'is not a did:key of an Ed25519 key')
  if (!isPlainText(holder, 1024)) fail(`${at}/holder`, 'is not a name')
  return { did, holder }
}

function bodyLink(value: JsonForm | undefined): CidText | undefined {
  const link = findLink(value)
  return link !== undefined && codecOf(link) === 'dag-json' ? link : undefined
}

function own(map: FormMap, key: string): JsonForm | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined
}

function mapOf(value: JsonForm, at: string): { [key: string]: JsonForm } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fail(at, 'is not a map')
  return value
}

function closed(map: FormMap, at: string, keys: readonly string[]): void {
  const other = Object.keys(map).find((key) => !keys.includes(key))
  if (other !== undefined) fail(at, `has the key ${quoted(other)}, which no roster has`)
}

function list(map: FormMap, key: string, at: string): readonly JsonForm[] {
  const value = own(map, key)
  if (!Array.isArray(value)) fail(`${at}/${key}`, 'is not a list')
  return value
}

function texts(map: FormMap, key: string, at: string): readonly string[] {
  const values = list(map, key, at)
  if (!values.every((value) => isPlainText(value, 1100)))
    fail(`${at}/${key}`, 'holds what is no plain text')
  sorted(values, `${at}/${key}`)
  return values
}

function whole(map: FormMap, key: string, at: string): number {
  const value = own(map, key)
  if (typeof value !== 'number' || value < 0)
    fail(`${at}/${key}`, 'is not a whole number from 0 on')
  return value
}

function sorted(items: readonly string[], at: string): void {
  if (items.some((item, i) => i > 0 && compareUtf8(items[i - 1]!, item) >= 0)) {
    fail(at, 'is unsorted or repeats itself')
  }
}

function unique(items: readonly string[], at: string, what: string): void {
  if (new Set(items).size !== items.length) fail(at, `gives one ${what} to two`)
}

function fail(pointer: string, message: string): never {
  throw new HandoffError(
    'HSTORE_ROSTER_INVALID',
    `roster: ${pointer === '' ? 'the body' : pointer} ${message}`,
    {
      details: { pointer },
    },
  )
}
