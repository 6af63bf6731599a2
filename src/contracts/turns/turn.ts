import { createHash } from 'node:crypto'
import { lineAt, trim, withPlainLineEnds } from './text.ts'

/** A closed turn as a document. Its fields are read from the text and never stored beside it. */
export interface Turn {
  /** The agent of the markers. */
  readonly agent: string
  /** The number as it is written: `007` is not `7`. */
  readonly number: string
  /** The block from the first character of BEGIN to the last of END, CRLF and CR as LF. */
  readonly text: string
  /** The SHA-256 of the text with its blank lines folded, in hex. */
  readonly folded: string
}

/** One line of a turn's header. */
export interface TurnField {
  readonly key: string
  readonly value: string
}

/** What a turn's text says. */
export interface TurnContent {
  /** In the order of the header; of a key that is given twice the last value, at the place of the first. */
  readonly fields: readonly TurnField[]
  /** Without white space at both ends; empty where there is none. */
  readonly body: string
}

const beginMarker = ' BEGIN -->'
const endMarker = '<!-- M8SHIFT:TURN '
const fieldLine = /^- ([a-z][a-z0-9_]*):(.*)$/s

/** A turn's header as it stands there, and what follows it. */
export interface TurnHeader {
  /** Of a key that is given twice the last value, at the place of the first. */
  readonly values: ReadonlyMap<string, string>
  /** The keys that are given twice or more. */
  readonly repeated: ReadonlySet<string>
  /** Whether a line of it ends with something else than a line feed. */
  readonly isOddlyEnded: boolean
  /** Where the header ends, in what stands between the markers. */
  readonly length: number
}

/** Returns a turn of the text between two markers, markers included. */
export function makeTurn(agent: string, number: string, text: string): Turn {
  return { agent, number, text, folded: foldedDigest(text) }
}

/** Returns the fields and the body of a turn. */
export function readTurn({ text }: Pick<Turn, 'text'>): TurnContent {
  const content = contentOf(text)
  const { values, length } = readHeader(content)
  return {
    fields: Array.from(values, ([key, value]) => ({ key, value })),
    body: trim(withPlainLineEnds(content.slice(length))),
  }
}

/** Returns the header of what stands between the markers of a turn. */
export function readHeader(content: string): TurnHeader {
  const values = new Map<string, string>()
  const repeated = new Set<string>()
  let isOddlyEnded = false
  let length = 0
  while (length < content.length) {
    const { line, end } = lineAt(content, length)
    const [, key, value] = fieldLine.exec(line) ?? []
    if (key === undefined) break
    if (values.has(key)) repeated.add(key)
    values.set(key, trim(value!))
    if (end !== '' && end !== '\n') isOddlyEnded = true
    length += line.length + end.length
  }
  return { values, repeated, isOddlyEnded, length }
}

/** Returns what stands between the markers of a turn, without the one LF after BEGIN. */
export function contentOf(text: string): string {
  const from = text.indexOf(beginMarker) + beginMarker.length
  return text.slice(text[from] === '\n' ? from + 1 : from, text.lastIndexOf(endMarker))
}

/** Returns the value of a field; undefined where the header does not have it. */
export function valueOf(content: TurnContent, key: string): string | undefined {
  return content.fields.find((field) => field.key === key)?.value
}

/** Returns the SHA-256, in hex, of what `foldBlankLines` gives. */
function foldedDigest(text: string): string {
  const bytes = Buffer.from(text)
  let to = 0
  for (let from = 0; from < bytes.length; from++) {
    const isThird = bytes[from] === 0x0a && bytes[to - 1] === 0x0a && bytes[to - 2] === 0x0a
    if (!isThird || to < 2) bytes[to++] = bytes[from]!
  }
  return createHash('sha256').update(bytes.subarray(0, to)).digest('hex')
}

/** Returns `text` with every run of three or more LF as two: what M8Shift's `archive` does to the file that it leaves. */
export function foldBlankLines(text: string): string {
  return text.replaceAll(/\n{3,}/g, '\n\n')
}

/**
 * Returns whether two texts of a turn differ in nothing but how many blank lines follow each other: the trace of
 * M8Shift's own `archive`, which is no rewriting. Equal texts are no folding of each other.
 */
export function isFoldingOf(before: string, after: string): boolean {
  return before !== after && foldBlankLines(before) === foldBlankLines(after)
}
