import { bounded, quoted } from '../../kernel/shown.ts'
import type { Finding } from '../../rules/rule.ts'
import { turnRules } from '../../rules/turn-rules.ts'
import { hasMarkerWord } from './draft.ts'
import type { PlacedTurn, Relay, TurnMarker } from './markdown.ts'
import { numberOddities } from './numbers.ts'
import { contentOf, readHeader } from './turn.ts'

/** What is odd in one place of a file: the rule, the line from 1, and the words for a person. */
export type Oddity = readonly [code: string, line: number, message: string]

/** A file and what M8Shift calls it. */
export interface NamedRelay {
  readonly relay: Relay
  readonly path: string
}

const shownOfEach = 100
const writtenKeys = ['from', 'to', 'ask', 'done', 'files', 'handoff']
/** A line that was meant as a field: indented, quoted, starred, in capitals. The blanks hold no line end. */
const looseField =
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  /(?:^|[\n-\r\x1c-\x1e\x85\u2028\u2029])[\t\x1f \xa0\u1680\u2000-\u200a\u202f\u205f\u3000]{0,99}(?:> ?){0,9}[-*][ \xa0]{0,9}(from|to|ask|done|files|handoff) {0,9}:/gi

/**
 * Returns what M8Shift passes over in silence in a relay and its archive, at most 100 of each kind and file.
 *
 * @param roster - Who takes turns, as the LOCK block says; undefined where it says nothing that counts.
 */
export function findOddities(
  living: NamedRelay,
  archive: NamedRelay | undefined,
  roster: readonly string[] | undefined,
): Finding[] {
  const numbers = numberOddities(living.relay.turns, archive?.relay.turns ?? [])
  return [
    ...(archive === undefined
      ? []
      : asFindings(archive.path, [...fileOddities(archive.relay), ...numbers.archive])),
    ...asFindings(living.path, [
      ...fileOddities(living.relay),
      ...numbers.living,
      ...(roster === undefined
        ? []
        : living.relay.turns.flatMap((placed) => strangers(placed, roster))),
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
  const content = contentOf(turn.text)
  const { values, repeated, isOddlyEnded, length } = readHeader(content)
  const found: (Oddity | undefined)[] = [
    swallowing(placed),
    lostHeader(placed, values, content.slice(length)),
    isOddlyEnded
      ? ['HS4309', line, `${turnOf(turn)} has a line in its header that no line feed ends`]
      : undefined,
    placed.swallowed.length === 0 && hasMarkerWord(content)
      ? ['HS4310', line, `${turnOf(turn)} holds a marker word of M8Shift`]
      : undefined,
    mismatch('HS4311', placed, 'from', values.get('from'), turn.agent, 'its markers'),
    mismatch('HS4312', placed, 'to', values.get('to'), values.get('handoff'), 'handoff'),
    repeating(placed, repeated),
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

/** A header that M8Shift wrote has all of these keys; one of them in the body means that the header ended too soon. */
function lostHeader(
  { turn, line }: PlacedTurn,
  values: ReadonlyMap<string, string>,
  rest: string,
): Oddity | undefined {
  if (writtenKeys.every((key) => values.has(key))) return undefined
  const lost = new Set<string>()
  for (const [, word = ''] of rest.matchAll(looseField)) {
    const key = word.toLowerCase()
    if (!values.has(key)) lost.add(key)
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

function repeating({ turn, line }: PlacedTurn, keys: ReadonlySet<string>): Oddity | undefined {
  if (keys.size === 0) return undefined
  return ['HS4313', line, `${turnOf(turn)} gives twice: ${bounded([...keys].join(', '))}`]
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
