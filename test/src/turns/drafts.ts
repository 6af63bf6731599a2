import type { TurnDraft } from '../../../src/contracts/turns/draft.ts'
import { flagFields } from '../../../src/contracts/turns/draft.ts'
import { joinSegments, readRelay } from '../../../src/contracts/turns/markdown.ts'
import { readTurn } from '../../../src/contracts/turns/turn.ts'
import type { Attempt } from './run-case.ts'

const engineKeys = ['from', 'to', 'ask', 'done', 'files', 'handoff', 'at', 'model', 'effort']

const whys: Readonly<Record<string, string>> = {
  'recipient is the sender': 'alpha',
  'recipient not in the roster': 'delta',
  'recipient case': 'Beta',
}

/** Returns a relay whose pen an agent has just taken, for the turn after `turn`. */
export function claimed(relay: Uint8Array, agent: string, turn?: string): Uint8Array {
  const text = Buffer.from(relay)
    .toString()
    .replace(/^holder:.*$/m, `holder:   ${agent}`)
    .replace(/^state:.*$/m, `state:    WORKING_${agent.toUpperCase()}`)
    .replace(/^turn:.*$/m, (line) => (turn === undefined ? line : `turn:     ${turn}`))
  return new Uint8Array(Buffer.from(text))
}

/** Returns the turn that an attempt was to write; long values are handed shortened. */
export function draftOf({ why, flags, stdin }: Attempt): TurnDraft {
  const given: Record<string, string> = {}
  const fields: string[] = []
  for (let i = 0; i < flags.length; i++) {
    const flag = flags[i]!.slice(2)
    if (flag === 'allow-large-body') continue
    const value = lengthened(flags[++i]!)
    if (flag === 'field') fields.push(value)
    else given[flag.replaceAll('-', '_')] = value
  }
  const { ask = '', done = '', files = '', body, ...more } = given
  return {
    agent: 'alpha',
    to: whys[why] ?? 'beta',
    at: '2026-01-01T00:00:00Z',
    ask,
    done,
    files,
    flags: more,
    fields,
    ...(body === '-' && { body: bodyGiven(why, lengthened(stdin)) }),
    allowLargeBody: flags.includes('--allow-large-body'),
  }
}

/** What is shortened shows its beginning alone. */
function bodyGiven(why: string, body: string): string {
  return why.endsWith('plus newlines') ? `${body.slice(0, -2)}\n\n` : body
}

function lengthened(text: string): string {
  const [, begin = '', length] = /^(.+)…\[(\d+) characters\]$/s.exec(text) ?? []
  if (length === undefined) return text
  return begin.charAt(0).repeat(Number(length))
}

/** Returns a relay as it was before its last turn was appended, and that turn as a draft. */
export function lastTurnTaken(relay: Uint8Array): { before: Uint8Array; draft: TurnDraft } {
  const { segments, turns } = readRelay(relay)
  const { turn } = turns.at(-1)!
  const { fields } = readTurn(turn)
  const values = Object.fromEntries(fields.map(({ key, value }) => [key, value]))
  const more = fields.map(({ key }) => key).filter((key) => !engineKeys.includes(key))
  const before = joinSegments(
    segments.slice(
      0,
      segments.findLastIndex(({ kind }) => kind === 'turn'),
    ),
  )
  // flags are written in an order of their own, other fields as they are given
  const inOrder = flagFields.filter((key) => more.includes(key))
  const flagged = inOrder.every((key, i) => key === more[i]) ? inOrder : []
  return {
    before: claimed(before, turn.agent, String(Number(turn.number) - 1)),
    draft: {
      agent: turn.agent,
      to: values['to']!,
      ask: values['ask']!,
      done: values['done']!,
      files: values['files']!,
      at: values['at']!,
      flags: Object.fromEntries(flagged.map((key) => [key, values[key]!])),
      fields: more.slice(flagged.length).map((key) => `${key}=${values[key]}`),
      body: bodyOnDisk(turn.text),
    },
  }
}

/** A body as it was written, blanks at its ends included. */
function bodyOnDisk(text: string): string {
  const [, body = ''] = /\n\n([^]*)\n<!-- M8SHIFT:TURN .* END -->$/.exec(text) ?? []
  return body
}
