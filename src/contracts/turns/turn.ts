import { createHash } from 'node:crypto'
import { linesOf, trim } from './text.ts'

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

/** Returns a turn of the text between two markers, markers included. */
export function makeTurn(agent: string, number: string, text: string): Turn {
  const folded = createHash('sha256').update(foldBlankLines(text)).digest('hex')
  return { agent, number, text, folded }
}

/** Returns the fields and the body of a turn. */
export function readTurn({ text }: Pick<Turn, 'text'>): TurnContent {
  const fields = new Map<string, string>()
  const lines = linesOf(contentOf(text))
  let i = 0
  for (; i < lines.length; i++) {
    const field = fieldLine.exec(lines[i]!)
    if (field === null) break
    fields.set(field[1]!, trim(field[2]!))
  }
  return {
    fields: Array.from(fields, ([key, value]) => ({ key, value })),
    body: trim(lines.slice(i).join('\n')),
  }
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
