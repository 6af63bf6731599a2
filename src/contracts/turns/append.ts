import { bounded, quoted } from '../../kernel/shown.ts'
import type { TurnDraft } from './draft.ts'
import { bodyOf, headerOf, refused, withoutFinalLineFeeds } from './draft.ts'
import type { Lock } from './lock.ts'
import { getLock, parseMemory, replaceLock } from './lock.ts'
import type { Relay } from './markdown.ts'
import { readRelay } from './markdown.ts'
import type { TurnField } from './turn.ts'

/** A turn that was appended. */
export interface Appended {
  /** The relay with it. */
  readonly bytes: Uint8Array
  readonly number: string
  /** The block from BEGIN to END. */
  readonly text: string
}

/** The keys whose values begin in column 12. */
const padded = new Set(['from', 'to', 'ask', 'done', 'files', 'handoff', 'at', 'model', 'effort'])

/** Returns a turn's block, laid out as M8Shift writes it; header and body have to be clean. */
export function formatTurn(
  number: string,
  agent: string,
  header: readonly TurnField[],
  body: string,
): string {
  const lines = header.map(({ key, value }) =>
    padded.has(key) ? `- ${`${key}:`.padEnd(8)} ${value}\n` : `- ${key}: ${value}\n`,
  )
  const marker = (word: string): string => `<!-- M8SHIFT:TURN ${number} ${agent} ${word} -->`
  const rest = body === '' ? '' : `\n${body}\n`
  return `${marker('BEGIN')}\n${lines.join('')}${rest}${marker('END')}`
}

/**
 * Returns a relay with one more turn and the pen handed on, byte for byte as M8Shift's `append` writes it.
 *
 * @param relayBytes - The relay; the agent has to hold its pen.
 * @param name - The file, for messages.
 * @throws {HandoffError} `HSTORE_RELAY_INVALID` for a file that M8Shift refuses, `HSTORE_TURN_REFUSED` for a turn.
 */
export function appendTurn(relayBytes: Uint8Array, draft: TurnDraft, name: string): Appended {
  const relay = readRelay(relayBytes)
  const lock = getLock(relay, name)
  assertTurnOf(lock, draft)
  const number = nextNumber(lock)
  const text = formatTurn(number, draft.agent, headerOf(withMemory(lock, draft)), bodyOf(draft))
  return { bytes: withTurn(relay, lock, draft, { number, text }), number, text }
}

/**
 * Returns a relay with a turn that was made before, and the pen handed on; undefined where it is not the next by number.
 *
 * @param draft - What the turn was made from.
 * @param name - The file, for messages.
 * @throws {HandoffError} `HSTORE_RELAY_INVALID`; `HSTORE_TURN_REFUSED` where its agent may not write a turn.
 */
export function appendMade(
  relayBytes: Uint8Array,
  draft: TurnDraft,
  made: Pick<Appended, 'number' | 'text'>,
  name: string,
): Uint8Array | undefined {
  const relay = readRelay(relayBytes)
  const lock = getLock(relay, name)
  if (nextNumber(lock) !== made.number) return undefined
  assertTurnOf(lock, draft)
  return withTurn(relay, lock, draft, made)
}

/** Returns the number of the turn that comes next. */
export function nextNumber({ turn }: Pick<Lock, 'turn'>): string {
  return String(BigInt(turn) + 1n)
}

function withTurn(
  relay: Relay,
  lock: Lock,
  draft: TurnDraft,
  { number, text }: Pick<Appended, 'number' | 'text'>,
): Uint8Array {
  const before = replaceLock(relay.text, handedOn(lock, draft, number))
  return new TextEncoder().encode(`${withoutFinalLineFeeds(before)}\n\n${text}\n`)
}

/**
 * Returns a relay whose pen the agent holds, where M8Shift's `claim` would give it; else the relay as it is.
 *
 * @param name - The file, for messages.
 * @throws {HandoffError} `HSTORE_RELAY_INVALID` for a file that M8Shift refuses.
 */
export function claimPen(relayBytes: Uint8Array, agent: string, name: string): Uint8Array {
  const relay = readRelay(relayBytes)
  const { fields, state } = getLock(relay, name)
  const working = `WORKING_${agent.toUpperCase()}`
  if (state !== 'IDLE' && state !== `AWAITING_${agent.toUpperCase()}`) return relayBytes
  const held = new Map([...fields, ['holder', agent], ['state', working]])
  return new TextEncoder().encode(replaceLock(relay.text, held))
}

function assertTurnOf({ roster, state }: Lock, { agent, to }: TurnDraft): void {
  for (const name of [agent, to]) {
    if (!roster.includes(name)) {
      throw refused(`${quoted(name)} takes no turns here, only ${bounded(roster.join(', '))} do`)
    }
  }
  if (agent === to) throw refused('a turn goes to another agent than the one that writes it')
  if (state !== `WORKING_${agent.toUpperCase()}`) {
    throw refused(`${agent} does not hold the pen (state ${state}): claim it first`)
  }
}

function withMemory({ fields }: Lock, draft: TurnDraft): TurnDraft {
  const known = (key: string): string | undefined =>
    parseMemory(fields.get(key) ?? '')?.get(draft.agent)
  const model = draft.model ?? known('models')
  const effort = draft.effort ?? known('efforts')
  return { ...draft, ...(model && { model }), ...(effort && { effort }) }
}

function handedOn(
  { fields }: Lock,
  { agent, to, at }: TurnDraft,
  number: string,
): ReadonlyMap<string, string> {
  return new Map([
    ...fields,
    ['holder', to],
    ['state', `AWAITING_${to.toUpperCase()}`],
    ['turn', number],
    ['since', at],
    ['expires', '-'],
    ['note', `turn ${number} posted by ${agent}, awaiting ${to}`],
  ])
}
