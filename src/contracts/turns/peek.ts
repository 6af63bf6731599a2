import { HandoffError } from '../../errors.ts'
import { bounded, quoted } from '../../kernel/shown.ts'
import { getLock } from './lock.ts'
import { readRelay } from './markdown.ts'
import type { TurnField } from './turn.ts'
import { readTurn, valueOf } from './turn.ts'
import type { RelayFile } from './validate.ts'

/** The handoff that waits for an agent. */
export interface Peeked {
  readonly agent: string
  /** The state of the LOCK block. */
  readonly state: string
  /** Whether the agent may take the pen. */
  readonly ready: boolean
  readonly turn: PeekedTurn | null
}

/** The last turn to an agent. */
export interface PeekedTurn {
  /** As it is written. */
  readonly number: string
  readonly agent: string
  readonly fields: readonly TurnField[]
  readonly body: string
}

/**
 * Returns the last turn of a relay whose `to` is the agent, as M8Shift's `peek` does: the last in the file, whatever
 * its number.
 *
 * @throws {HandoffError} `HSTORE_RELAY_INVALID` for a file that M8Shift refuses to read, `HSTORE_AGENT_UNKNOWN` for an
 *   agent that the relay does not list.
 */
export function peekTurn({ bytes, name }: RelayFile, agent: string): Peeked {
  const relay = readRelay(bytes)
  const { roster, state } = getLock(relay, name)
  if (!roster.includes(agent)) {
    const why = `${name} does not list ${quoted(agent)}: it is of ${bounded(roster.join(', '))}`
    throw new HandoffError('HSTORE_AGENT_UNKNOWN', why, { details: { agent, roster } })
  }
  const ready = [`AWAITING_${agent.toUpperCase()}`, 'IDLE', 'DONE'].includes(state)
  const last = relay.turns.findLast(({ turn }) => valueOf(readTurn(turn), 'to') === agent)?.turn
  if (last === undefined) return { agent, state, ready, turn: null }
  return {
    agent,
    state,
    ready,
    turn: { number: last.number, agent: last.agent, ...readTurn(last) },
  }
}
