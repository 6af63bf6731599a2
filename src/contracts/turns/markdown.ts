import { decodeUtf8, findMalformedUtf8 } from '../../../store/utf8.ts'
import { digit, sizeBytes, withLineFeeds } from './text.ts'
import type { Turn } from './turn.ts'
import { makeTurn } from './turn.ts'

/** A marker of a turn: one comment in the file. */
export interface TurnMarker {
  readonly isEnd: boolean
  readonly number: string
  readonly agent: string
  /** The line that it is in, from 1. */
  readonly line: number
}

/** A part of a relay file; all parts joined are the file. */
export type Segment =
  | { readonly kind: 'loose'; readonly raw: Uint8Array }
  | { readonly kind: 'turn'; readonly raw: Uint8Array; readonly placed: PlacedTurn }

/** A turn and where it was found. */
export interface PlacedTurn {
  readonly turn: Turn
  /** The line that it begins in, from 1. */
  readonly line: number
  /** Each BEGIN between its markers: what M8Shift takes for a part of the body. */
  readonly swallowed: readonly TurnMarker[]
}

/** A relay file or its archive, as M8Shift reads it, with what it passes over. */
export interface Relay {
  /** The text, CRLF and CR as LF; empty where the bytes are no UTF-8. */
  readonly text: string
  /** In the order of the file, none empty. */
  readonly segments: readonly Segment[]
  readonly turns: readonly PlacedTurn[]
  /** BEGINs without END. */
  readonly unclosed: readonly TurnMarker[]
  /** ENDs without BEGIN. */
  readonly stray: readonly TurnMarker[]
  /** The first byte that is no UTF-8. There are no turns then: M8Shift reads nothing of such a file. */
  readonly badByte: { readonly offset: number; readonly line: number } | undefined
}

interface Found extends TurnMarker {
  readonly from: number
  readonly to: number
}

const marker = new RegExp(`<!-- M8SHIFT:TURN (${digit}+) ([a-z][a-z0-9_-]*) (BEGIN|END) -->`, 'gu')

/** Returns what a relay file or its archive holds. Takes any bytes, in time linear in their number. */
export function readRelay(bytes: Uint8Array): Relay {
  const text = decodeUtf8(bytes)
  if (text !== undefined) return parse(bytes, text)
  const segments: readonly Segment[] = [{ kind: 'loose', raw: bytes }]
  return { text: '', segments, turns: [], unclosed: [], stray: [], badByte: findBadByte(bytes) }
}

/** Returns the file that segments are of. */
export function joinSegments(segments: readonly Segment[]): Uint8Array {
  return new Uint8Array(Buffer.concat(segments.map(({ raw }) => raw)))
}

/**
 * M8Shift takes the next BEGIN, seeks the first END with its number and agent behind it, and goes on behind that END,
 * or behind the BEGIN where there is none. Markers inside a turn are passed over.
 */
function parse(bytes: Uint8Array, text: string): Relay {
  const markers = findMarkers(text)
  const endAfter = indexEnds(markers)
  const cut = cutter(bytes, text)
  const turns: PlacedTurn[] = []
  const unclosed: TurnMarker[] = []
  const stray: TurnMarker[] = []
  for (let i = 0; i < markers.length; i++) {
    const begin = markers[i]!
    const at = begin.isEnd ? undefined : endAfter(begin, i)
    if (at === undefined) {
      const { isEnd, number, agent, line } = begin
      ;(isEnd ? stray : unclosed).push({ isEnd, number, agent, line })
      continue
    }
    const turnText = withLineFeeds(text.slice(begin.from, markers[at]!.to))
    const placed = {
      turn: makeTurn(begin.agent, begin.number, turnText),
      line: begin.line,
      swallowed: markers.slice(i + 1, at).filter(({ isEnd }) => !isEnd),
    }
    turns.push(placed)
    cut.turn(begin.from, markers[at]!.to, placed)
    i = at
  }
  const segments = cut.rest()
  return { text: withLineFeeds(text), segments, turns, unclosed, stray, badByte: undefined }
}

function findMarkers(text: string): Found[] {
  const lineOf = lineCounter(text)
  return Array.from(text.matchAll(marker), ({ 0: whole, 1: number, 2: agent, 3: word, index }) => ({
    isEnd: word === 'END',
    number: number!,
    agent: agent!,
    line: lineOf(index),
    from: index,
    to: index + whole.length,
  }))
}

/** Places are asked for in rising order, so each list is gone through once. */
function indexEnds(
  markers: readonly Found[],
): (begin: TurnMarker, after: number) => number | undefined {
  const ends = new Map<string, { next: number; readonly places: number[] }>()
  for (const [place, { isEnd, number, agent }] of markers.entries()) {
    if (!isEnd) continue
    const known = ends.get(`${number} ${agent}`)
    if (known === undefined) ends.set(`${number} ${agent}`, { next: 0, places: [place] })
    else known.places.push(place)
  }
  return ({ number, agent }, after) => {
    const known = ends.get(`${number} ${agent}`)
    if (known === undefined) return undefined
    while (known.next < known.places.length && known.places[known.next]! < after) known.next++
    return known.places[known.next]
  }
}

/** Cuts the bytes where the turns of their text are. Between two markers lies no half of a character. */
function cutter(
  bytes: Uint8Array,
  text: string,
): {
  turn(from: number, to: number, placed: PlacedTurn): void
  rest(): readonly Segment[]
} {
  const segments: Segment[] = []
  let unit = 0
  let offset = 0
  const upTo = (end: number): Uint8Array => {
    const start = offset
    offset += sizeBytes(text.slice(unit, end))
    unit = end
    return bytes.subarray(start, offset)
  }
  const loose = (end: number): void => {
    if (end > unit) segments.push({ kind: 'loose', raw: upTo(end) })
  }
  return {
    turn(from, to, placed) {
      loose(from)
      segments.push({ kind: 'turn', raw: upTo(to), placed })
    },
    rest() {
      loose(text.length)
      return segments
    },
  }
}

/** Places are asked for in rising order. CRLF, CR and LF end a line, as an editor counts. */
function lineCounter(text: string): (index: number) => number {
  let line = 1
  let from = 0
  return (index) => {
    for (; from < index; from++) {
      const unit = text.charCodeAt(from)
      if (unit === 0x0a || (unit === 0x0d && text.charCodeAt(from + 1) !== 0x0a)) line++
    }
    return line
  }
}

function findBadByte(bytes: Uint8Array): { offset: number; line: number } {
  const offset = findMalformedUtf8(bytes)
  const before = decodeUtf8(bytes.subarray(0, offset)) ?? ''
  return { offset, line: lineCounter(before)(before.length) }
}
