import { bounded, quoted } from '../../kernel/shown.ts'
import type { Finding } from '../../rules/rule.ts'
import { turnRules } from '../../rules/turn-rules.ts'
import { hasMarkerWord } from './draft.ts'
import type { PlacedTurn, Relay, TurnMarker } from './markdown.ts'
import { numberOddities } from './numbers.ts'
import { endedLinesOf, trim } from './text.ts'
import type { TurnContent } from './turn.ts'
import { contentOf, readTurn, valueOf } from './turn.ts'

/** What is odd in one place of a file: the rule, the line from 1, and the words for a person. */
export type Oddity = readonly [code: string, line: number, message: string]

/** A file and what M8Shift calls it. */
export interface NamedRelay {
  readonly relay: Relay
  readonly path: string
}

const shownOfEach = 100
const fieldLine = /^- ([a-z][a-z0-9_]*):/
const looseField = /^(?:> ?)*[-*] *(from|to|ask|done|files|handoff) *:/i

/**
 * Returns what M8Shift passes over in silence in a relay and its archive, at most 100 of each kind and file.
 *
 * @param roster - Who takes turns, as the LOCK block says.
 */
export function findOddities(
  living: NamedRelay,
  archive: NamedRelay | undefined,
  roster: readonly string[],
): Finding[] {
  const numbers = numberOddities(living.relay.turns, archive?.relay.turns ?? [])
  return [
    ...(archive === undefined
      ? []
      : asFindings(archive.path, [...fileOddities(archive.relay), ...numbers.archive])),
    ...asFindings(living.path, [
      ...fileOddities(living.relay),
      ...numbers.living,
      ...living.relay.turns.flatMap((placed) => strangers(placed, roster)),
    ]),
  ]
}

/** Returns what is odd in one file whatever stands in others. */
export function fileOddities({ badByte, unclosed, stray, turns }: Relay): Oddity[] {
  const bad: Oddity[] =
    badByte === undefined
      ? []
      : [['HS4301', badByte.line, `byte ${badByte.offset} of the file is no UTF-8`]]
  return [
    ...bad,
    ...unclosed.map((marker): Oddity => [
      'HS4302',
      marker.line,
      `${turnOf(marker)} is begun, and no END follows`,
    ]),
    ...stray.map((marker): Oddity => [
      'HS4303',
      marker.line,
      `${turnOf(marker)} is ended, and no BEGIN is before it`,
    ]),
    ...turns.flatMap(turnOddities),
  ]
}

function turnOf({ number, agent }: Pick<TurnMarker, 'number' | 'agent'>): string {
  return `turn ${bounded(number)} of ${bounded(agent)}`
}

function turnOddities(placed: PlacedTurn): Oddity[] {
  const { turn, line } = placed
  const inner = contentOf(turn.text)
  const content = readTurn(turn)
  const lines = endedLinesOf(inner)
  const isRest = lines.findIndex((one) => !fieldLine.test(one.line))
  const header = lines.slice(0, isRest < 0 ? lines.length : isRest)
  const found: (Oddity | undefined)[] = [
    swallowing(placed),
    lostHeader(placed, content, lines.slice(header.length)),
    header.some(({ end }) => end !== '' && end !== '\n')
      ? ['HS4309', line, `${turnOf(turn)} has a line in its header that no line feed ends`]
      : undefined,
    placed.swallowed.length === 0 && hasMarkerWord(inner)
      ? ['HS4310', line, `${turnOf(turn)} holds a marker word of M8Shift`]
      : undefined,
    mismatch('HS4311', placed, 'from', valueOf(content, 'from'), turn.agent, 'its markers'),
    mismatch(
      'HS4312',
      placed,
      'to',
      valueOf(content, 'to'),
      valueOf(content, 'handoff'),
      'handoff',
    ),
    ...repeated(header.map((one) => fieldLine.exec(one.line)![1]!)).map((key): Oddity => [
      'HS4313',
      line,
      `${turnOf(turn)} gives ${quoted(key)} twice`,
    ]),
  ]
  return found.filter((oddity) => oddity !== undefined)
}

function swallowing({ turn, line, swallowed }: PlacedTurn): Oddity | undefined {
  const [first] = swallowed
  if (first === undefined) return undefined
  const count = swallowed.length === 1 ? '' : ` and ${swallowed.length - 1} more`
  return [
    'HS4304',
    line,
    `${turnOf(turn)} has swallowed ${turnOf(first)} (line ${first.line})${count}`,
  ]
}

/** A tool-written header is never without these keys; one of them in the body means that the header ended too soon. */
function lostHeader(
  { turn, line }: PlacedTurn,
  content: TurnContent,
  rest: readonly { readonly line: string }[],
): Oddity | undefined {
  const lost = new Set<string>()
  for (const one of rest) {
    const key = looseField.exec(trim(one.line))?.[1]?.toLowerCase()
    if (key !== undefined && valueOf(content, key) === undefined) lost.add(key)
  }
  if (lost.size === 0) return undefined
  const keys = [...lost].join(', ')
  return ['HS4308', line, `the header of ${turnOf(turn)} ends before ${keys}: they count as body`]
}

function mismatch(
  code: string,
  { turn, line }: PlacedTurn,
  key: string,
  a: string | undefined,
  b: string | undefined,
  than: string,
): Oddity | undefined {
  if (a === undefined || b === undefined || a === b) return undefined
  return [code, line, `${turnOf(turn)} is ${key} ${quoted(a)}, and ${than} says ${quoted(b)}`]
}

function repeated(keys: readonly string[]): string[] {
  const seen = new Set<string>()
  const twice = new Set<string>()
  for (const key of keys) (seen.has(key) ? twice : seen).add(key)
  return [...twice]
}

/** Turn 0 is the relay's own, by `system`. */
function strangers({ turn, line }: PlacedTurn, roster: readonly string[]): Oddity[] {
  if (roster.includes(turn.agent) || turn.agent === 'system') return []
  return [['HS4314', line, `${turnOf(turn)}: the relay is of ${bounded(roster.join(', '))}`]]
}

/** Returns oddities as findings in the order of the file, those of one code cut after 100. */
function asFindings(path: string, oddities: readonly Oddity[]): Finding[] {
  const counts = new Map<string, number>()
  const findings: Finding[] = []
  for (const [code, line, message] of oddities.toSorted((a, b) => a[1] - b[1])) {
    const count = (counts.get(code) ?? 0) + 1
    counts.set(code, count)
    if (count <= shownOfEach) findings.push(findingOf(code, path, `line ${line}: ${message}`))
  }
  for (const [code, count] of counts) {
    if (count <= shownOfEach) continue
    findings.push(findingOf(code, path, `${count - shownOfEach} more of these are not listed`))
  }
  return findings
}

function findingOf(code: string, path: string, message: string): Finding {
  const rule = turnRules.find((rule) => rule.code === code)
  return { code, severity: rule?.severity ?? 'warning', message: `${path} ${message}`, path }
}
