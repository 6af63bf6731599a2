import type { Io } from './io.ts'
import { print } from './print.ts'
import { escaped } from './render.ts'

/** Items that are made one text, at most. */
const atOnce = 256

/**
 * Writes one document of `--json`, an object on one line, as `jsonLine` gives it; but its lists come out piece by piece,
 * each as fast as stdout takes it, so that a long report needs no room for its text.
 *
 * @param value - Plain data; a list at its top may be anything that yields the items.
 */
export async function printJson(io: Io, schema: string, value: object): Promise<void> {
  for (const piece of jsonPieces(schema, value)) {
    await io.out(escaped(piece))
    if (io.isCutOff?.() === true) return
  }
  await io.out('\n')
}

function* jsonPieces(schema: string, value: object): Generator<string> {
  let text = `{"schema":${JSON.stringify(`hstore.${schema}/1`)}`
  for (const [key, of] of Object.entries(value) as [string, unknown][]) {
    if (of === undefined) continue
    text += `,${JSON.stringify(key)}:`
    if (!isList(of)) {
      text += JSON.stringify(of)
      continue
    }
    let before = '['
    for (const items of inParts(of, (item) => JSON.stringify(item))) {
      yield `${text}${before}${items.join(',')}`
      text = ''
      before = ','
    }
    text += before === '[' ? '[]' : ']'
  }
  yield `${text}}`
}

/** Prints lines for a person: through the pager where there is one, else a part at a time. */
export async function printLines<T>(
  io: Io,
  items: Iterable<T>,
  lineOf: (item: T) => string,
): Promise<void> {
  // a pager takes a text
  if (io.terminal !== undefined) await print(io, Array.from(items, lineOf).join(''))
  else await writeLines(io, items, lineOf)
}

/** Writes the lines of items, a part at a time. */
export async function writeLines<T>(
  io: Io,
  items: Iterable<T>,
  lineOf: (item: T) => string,
): Promise<void> {
  for (const lines of inParts(items, lineOf)) {
    await io.out(lines.join(''))
    if (io.isCutOff?.() === true) return
  }
}

function* inParts<T, U>(items: Iterable<T>, textOf: (item: T) => U): Generator<U[]> {
  let part: U[] = []
  for (const item of items) {
    part.push(textOf(item))
    if (part.length < atOnce) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}

function isList(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value
}
