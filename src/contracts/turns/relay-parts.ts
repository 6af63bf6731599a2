import { decodeUtf8 } from '../../../store/utf8.ts'
import type { Relay } from './markdown.ts'
import { joinSegments } from './markdown.ts'
import type { Part, Run, Spelling } from './relay-body.ts'
import { foldBlankLines } from './turn.ts'

type Texts = (place: number) => string

/**
 * Returns the parts of a file, turns by their places in the chain.
 *
 * @param places - The place of each turn of the file, in its order.
 * @param textOf - The text of the turn at a place.
 */
export function partsOfRelay(relay: Relay, places: readonly number[], textOf: Texts): Part[] {
  if (relay.badByte !== undefined) return [joinSegments(relay.segments)]
  const parts: Part[] = []
  let next = 0
  for (const { kind, raw } of relay.segments) {
    const text = decodeUtf8(raw) ?? ''
    if (kind === 'loose') parts.push(text)
    else addTurn(parts, places[next]!, text, textOf(places[next++]!))
  }
  return parts
}

function addTurn(parts: Part[], place: number, written: string, text: string): void {
  const spelling = spellingOf(written, text)
  if (spelling === 'other') parts.push({ first: place, text: written })
  else if (!extend(parts, place, spelling))
    parts.push({ first: place, count: 1, between: '', spelling })
}

/** A turn goes into the run before it where it is the next one, spelt alike and set apart by the same text. */
function extend(parts: Part[], place: number, spelling: Spelling | undefined): boolean {
  const last = parts.at(-1)
  const between = typeof last === 'string' ? last : ''
  const at = parts.length - (between === '' ? 1 : 2)
  const run = parts[at]
  if (!isRun(run) || run.spelling !== spelling || place !== run.first + run.count) return false
  if (run.count > 1 && run.between !== between) return false
  parts.splice(at, 2, { ...run, count: run.count + 1, between })
  return true
}

function isRun(part: Part | undefined): part is Run {
  return typeof part === 'object' && 'count' in part
}

function spellingOf(written: string, text: string): Spelling | 'other' | undefined {
  if (written === text) return undefined
  if (written === spelt(text, 'crlf')) return 'crlf'
  return written === spelt(text, 'folded') ? 'folded' : 'other'
}

function spelt(text: string, spelling: Spelling | undefined): string {
  if (spelling === 'crlf') return text.replaceAll('\n', '\r\n')
  return spelling === 'folded' ? foldBlankLines(text) : text
}

/** Returns the file that parts are of. */
export function fileOfParts(parts: readonly Part[], textOf: Texts): Uint8Array {
  const pieces: Uint8Array[] = []
  for (const part of parts) {
    if (part instanceof Uint8Array) pieces.push(part)
    else pieces.push(Buffer.from(typeof part === 'string' ? part : textOfPart(part, textOf)))
  }
  return new Uint8Array(Buffer.concat(pieces))
}

function textOfPart(part: Exclude<Part, string | Uint8Array>, textOf: Texts): string {
  if ('text' in part) return part.text
  const { first, count, between, spelling } = part
  const texts = Array.from({ length: count }, (_, i) => spelt(textOf(first + i), spelling))
  return texts.join(between)
}
