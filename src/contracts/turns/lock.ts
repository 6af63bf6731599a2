import { HandoffError } from '../../errors.ts'
import { quoted } from '../../kernel/shown.ts'
import { decimalOf, isNumber, linesOf, trim } from './text.ts'
import type { Relay } from './markdown.ts'

/** The LOCK block of a relay: who holds the pen. */
export interface Lock {
  /** All keys and values, in the order of the block. */
  readonly fields: ReadonlyMap<string, string>
  /** The agents that take turns, at least two. */
  readonly roster: readonly string[]
  /** `IDLE`, `PAUSED`, `DONE`, `WORKING_<AGENT>` or `AWAITING_<AGENT>`. */
  readonly state: string
  /** The number of the last turn, in ASCII digits. */
  readonly turn: string
}

const begin = '<!-- M8SHIFT:LOCK:BEGIN -->'
const end = '<!-- M8SHIFT:LOCK:END -->'
const line = /^([a-z_]+):(.*)$/s
const agentName = /^[a-z][a-z0-9_-]*$/
const languages = new Set(['en', 'fr', 'es', 'it', 'de', 'pt', 'ja', 'ru', 'zh-cn'])
const sessionId = /^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}$/
const integration = /^[A-Za-z0-9][A-Za-z0-9_-]*@[0-9a-f]{7,64}$/
/** Who takes turns where the block does not say. */
const defaultRoster: readonly string[] = ['claude', 'codex']
/** M8Shift reads no longer number. */
const maxDigits = 4300
/** No relay comes near it, and what is in the block is gone through in many ways. */
const maxBlockLength = 1024 * 1024

/**
 * Returns the LOCK block of a relay, which M8Shift wants to be right before it reads a turn.
 *
 * @param name - The file, for the message.
 * @throws {HandoffError} `HSTORE_RELAY_INVALID` where M8Shift refuses the file: it is no UTF-8, has no LOCK block or a
 *   wrong one, or a number of more than 4,300 digits.
 */
export function getLock(relay: Relay, name: string): Lock {
  assertReadable(relay, name)
  const fields = findFields(relay.text)
  if (fields === undefined)
    throw refused(name, 'has no LOCK block (or one past 1 MiB): it is no relay of M8Shift')
  const roster = rosterOf(fields)
  const faults = faultsOf(fields, roster)
  if (faults.length > 0) throw refused(name, `the LOCK block is wrong: ${faults.join('; ')}`)
  const turn = decimalOf(fields.get('turn')!)
  return { fields, roster, state: fields.get('state')!, turn }
}

/** Returns the LOCK block of a relay, or undefined where M8Shift refuses the file. */
export function findLock(relay: Relay, name: string): Lock | undefined {
  try {
    return getLock(relay, name)
  } catch (error) {
    if (error instanceof HandoffError) return undefined
    throw error
  }
}

/**
 * Throws where M8Shift can't read a relay or an archive at all.
 *
 * @throws {HandoffError} `HSTORE_RELAY_INVALID`.
 */
export function assertReadable({ badByte, turns }: Relay, name: string): void {
  if (badByte !== undefined) {
    const place = `byte ${badByte.offset} (line ${badByte.line})`
    throw refused(name, `HS4301: ${place} is no UTF-8: mend the file before M8Shift reads it`)
  }
  const long = turns.find(({ turn }) => Array.from(turn.number).length > maxDigits)
  if (long !== undefined) {
    throw refused(name, `the number of the turn in line ${long.line} has more than 4,300 digits`)
  }
}

/** Returns the text with other values in its LOCK block, laid out as M8Shift does. */
export function replaceLock(text: string, fields: ReadonlyMap<string, string>): string {
  const lines = Array.from(fields, ([key, value]) => `${`${key}:`.padEnd(9)} ${value}\n`)
  const from = text.indexOf(begin) + begin.length
  return `${text.slice(0, from)}\n${lines.join('')}${text.slice(text.indexOf(end))}`
}

/** The block ends at the first end marker of the file: where that comes first, the block is empty. */
function findFields(text: string): ReadonlyMap<string, string> | undefined {
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from < 0 || to < 0 || to - from > maxBlockLength) return undefined
  const fields = new Map<string, string>()
  for (const one of linesOf(text.slice(from + begin.length, to))) {
    const [, key, value] = line.exec(trim(one)) ?? []
    if (key !== undefined) fields.set(key, trim(value!))
  }
  return fields
}

/** Returns the names of a comma list, or undefined where one is none or there are fewer than two. */
function parseRoster(list: string): readonly string[] | undefined {
  const names = list
    .split(',')
    .map((name) => trim(name).toLowerCase())
    .filter((name) => name !== '')
  const roster = [...new Set(names)]
  return roster.length < 2 || roster.some((name) => !agentName.test(name)) ? undefined : roster
}

function rosterOf(fields: ReadonlyMap<string, string>): readonly string[] {
  return parseRoster(fields.get('agents') ?? '') ?? defaultRoster
}

function faultsOf(fields: ReadonlyMap<string, string>, roster: readonly string[]): string[] {
  const holds: readonly (readonly [string, (value: string | undefined) => boolean])[] = [
    ['agents', (list) => list === undefined || parseRoster(list) !== undefined],
    ['state', (state) => statesOf(roster).has(state ?? '')],
    ['turn', (turn) => isNumber(turn ?? '') && decimalOf(turn!).length <= maxDigits],
    ['holder', (holder) => [...roster, 'none'].includes(holder ?? '')],
    ['lang', (lang) => lang === undefined || languages.has(lang)],
    ['session', (session) => session === undefined || sessionId.test(session)],
    ['models', (list) => isMemory(list, roster)],
    ['efforts', (list) => isMemory(list, roster)],
    ['integrating', (id) => id === undefined || isIntegrating(id, fields)],
  ]
  return holds
    .filter(([key, holds]) => !holds(fields.get(key)))
    .map(([key]) => `${key} is ${quoted(fields.get(key) ?? '')}`)
}

function statesOf(roster: readonly string[]): ReadonlySet<string> {
  const names = roster.map((name) => name.toUpperCase())
  return new Set([
    'IDLE',
    'PAUSED',
    'DONE',
    ...names.flatMap((name) => [`WORKING_${name}`, `AWAITING_${name}`]),
  ])
}

/** Returns what `models` or `efforts` remember: a value for each agent that has one; undefined for a list that is none. */
export function parseMemory(list: string): ReadonlyMap<string, string> | undefined {
  const values = new Map<string, string>()
  for (const item of list.split(',').map(trim)) {
    if (item === '') continue
    const at = item.indexOf('=')
    const name = trim(item.slice(0, Math.max(at, 0)))
    if (at < 0 || values.has(name)) return undefined
    values.set(name, trim(item.slice(at + 1)))
  }
  return values
}

function isMemory(list: string | undefined, roster: readonly string[]): boolean {
  const values = parseMemory(list ?? '')
  return values !== undefined && [...values.keys()].every((name) => roster.includes(name))
}

function isIntegrating(id: string, fields: ReadonlyMap<string, string>): boolean {
  const holder = fields.get('holder') ?? 'none'
  const isWorking = fields.get('state') === `WORKING_${holder.toUpperCase()}`
  return holder !== 'none' && isWorking && integration.test(id)
}

function refused(name: string, why: string): HandoffError {
  return new HandoffError('HSTORE_RELAY_INVALID', `${name}: ${why}`, { details: { path: name } })
}
