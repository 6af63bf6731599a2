import { isWellFormed } from '../../../store/utf8.ts'
import { HandoffError } from '../../errors.ts'
import { quoted } from '../../kernel/shown.ts'
import { hasLineBreak, sizeBytes, trim } from './text.ts'
import type { TurnField } from './turn.ts'

/** The fields that M8Shift's `append` has a flag for, in the order that it writes them. */
export const flagFields = [
  'branch',
  'commit',
  'tests',
  'next',
  'blocked_on',
  'role_from',
  'role_to',
  'relation',
  'requires',
  'expected_output',
  'evidence',
  'decision',
  'waiver_reason',
  'schema',
  'permissions',
  'stance',
] as const

/** A turn that is to be written. */
export interface TurnDraft {
  readonly agent: string
  readonly to: string
  readonly ask?: string
  readonly done?: string
  readonly files?: string
  /** `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly at: string
  /** What the agent says of itself; what the LOCK block remembers of it unless given. */
  readonly model?: string
  readonly effort?: string
  readonly flags?: Readonly<Partial<Record<(typeof flagFields)[number], string>>>
  /** Any other fields, each `KEY=VALUE`, in the order that they are written. */
  readonly fields?: readonly string[]
  readonly body?: string
  /** Takes a body of more than 262,144 bytes. */
  readonly allowLargeBody?: boolean
}

const maxFieldBytes = 65_536
const maxBodyBytes = 262_144
const reserved = /M8SHIFT:(?:TURN|LOCK|STANZA|TASK|REQUEST)/
const fieldKey = /^[a-z][a-z0-9_]*$/
const modelName = /^[A-Za-z0-9][A-Za-z0-9_.:@/+~-]{0,127}$/
const efforts = new Set(['minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra'])
/** `at` is ours: M8Shift takes a second one, which wins over its own clock when the turn is read. */
const engineKeys = new Set('from to ask done files handoff at model effort'.split(' '))

/** Returns whether `text` holds a word that begins a marker of M8Shift. */
export function hasMarkerWord(text: string): boolean {
  return reserved.test(text)
}

/**
 * Returns the header of a turn: what M8Shift's `append` would write, field by field.
 *
 * @throws {HandoffError} `HSTORE_TURN_REFUSED` where it would refuse a field, and for `at`.
 */
export function headerOf(draft: TurnDraft): readonly TurnField[] {
  const given = (key: string, value = ''): TurnField => ({
    key,
    value: cleanValue(key, value) || '—',
  })
  return [
    { key: 'from', value: draft.agent },
    { key: 'to', value: draft.to },
    given('ask', draft.ask),
    given('done', draft.done),
    given('files', draft.files),
    { key: 'handoff', value: draft.to },
    { key: 'at', value: draft.at },
    ...selfDeclared(draft),
    ...advisory(draft),
  ]
}

/** M8Shift passes over a model or effort that it does not know the form of. */
function selfDeclared({ model = '', effort = '' }: TurnDraft): TurnField[] {
  const level = trim(effort).toLowerCase()
  const name = trim(model)
  return [
    ...(modelName.test(name) ? [{ key: 'model', value: name }] : []),
    ...(efforts.has(level) ? [{ key: 'effort', value: level }] : []),
  ]
}

function advisory(draft: TurnDraft): TurnField[] {
  const flags = flagFields.map((key) => ({ key, value: draft.flags?.[key] ?? '' }))
  const fields: TurnField[] = []
  const seen = new Set<string>()
  for (const { key, value } of [...flags, ...(draft.fields ?? []).map(parseField)]) {
    const clean = cleanValue(key, value)
    if (clean === '') continue
    if (seen.has(key)) throw refused(`field ${key} is given twice: give it once`)
    seen.add(key)
    fields.push({ key, value: clean })
  }
  return fields
}

function parseField(text: string): TurnField {
  const at = text.indexOf('=')
  if (at < 0) throw refused(`${quoted(text)} is no KEY=VALUE`)
  const key = trim(text.slice(0, at))
  if (!fieldKey.test(key)) {
    throw refused(`${quoted(key)} is no key: use small letters, digits and _, a letter first`)
  }
  if (engineKeys.has(key)) throw refused(`field ${key} is written by hstore itself: leave it out`)
  return { key, value: text.slice(at + 1) }
}

function cleanValue(key: string, value: string): string {
  const clean = trim(value)
  if (hasLineBreak(clean)) throw refused(`${key} is more than one line: put it in the body`)
  if (!isWellFormed(clean)) throw refused(`${key} has half a character (a lone surrogate)`)
  const size = sizeBytes(clean)
  if (size > maxFieldBytes) {
    throw refused(`${key} is ${size} bytes, the limit is ${maxFieldBytes}: put it in the body`)
  }
  const word = reserved.exec(clean)?.[0]
  if (word !== undefined) throw refused(`${key} has the marker word ${word}`)
  return clean
}

/**
 * Returns the body of a turn as M8Shift writes it: without the LF at its end, each `M8SHIFT:` disarmed by a zero width
 * space. CRLF and CR come as LF.
 *
 * @throws {HandoffError} `HSTORE_TURN_REFUSED` when it is larger than 262,144 bytes and that is not allowed.
 */
export function bodyOf({ body = '', allowLargeBody = false }: TurnDraft): string {
  if (!isWellFormed(body)) throw refused('the body has half a character (a lone surrogate)')
  const text = withoutFinalLineFeeds(body.replaceAll(/\r\n?/g, '\n'))
  const size = sizeBytes(text)
  if (size > maxBodyBytes && !allowLargeBody) {
    throw refused(`the body is ${size} bytes, the limit is ${maxBodyBytes}`)
  }
  return text.replaceAll('M8SHIFT:', 'M8SHIFT\u200b:')
}

/** Returns `text` without the LFs at its end. */
export function withoutFinalLineFeeds(text: string): string {
  let to = text.length
  while (text[to - 1] === '\n') to--
  return text.slice(0, to)
}

/** Returns the error of a turn that is not written. */
export function refused(why: string): HandoffError {
  return new HandoffError('HSTORE_TURN_REFUSED', why)
}
