/**
 * The reading primitives of M8Shift's files. They follow Python 3.11, whose tables differ from JavaScript's: its white
 * space has U+001C–001F and U+0085 and lacks U+FEFF, its digits are those of Unicode 14 on every machine.
 *
 * @see docs/turns.md, «What is read»
 */

const whiteSpace = new Set([
  0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x85, 0xa0, 0x1680, 0x2000, 0x2001,
  0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f,
  0x205f, 0x3000,
])

// oxlint-disable-next-line no-control-regex -- control characters are what this looks for
const lineBreak = /\r\n|[\n-\r\x1c-\x1e\x85\u2028\u2029]/
const nextLineBreak = new RegExp(lineBreak.source, 'g')
// oxlint-disable-next-line no-control-regex -- control characters are what this looks for
const oddLineBreak = /\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]/g

/** The digit zero of each decimal script of Unicode 14; its nine others follow it. */
const zeros = [
  0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6,
  0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50,
  0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0,
  0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730,
  0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50, 0x1d7ce, 0x1d7d8, 0x1d7e2,
  0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
]

/** One decimal digit, as a class for a pattern with the flag `u`. */
export const digit: string = `[${zeros
  .map((zero) => `\\u{${zero.toString(16)}}-\\u{${(zero + 9).toString(16)}}`)
  .join('')}]`

const digits = new RegExp(`^${digit}+$`, 'u')

/** Returns whether `text` is one decimal digit or more, of any script. */
export function isNumber(text: string): boolean {
  return digits.test(text)
}

/** Returns the value of decimal digits of any script as ASCII digits without leading zeros. */
export function decimalOf(text: string): string {
  const ascii = /^[0-9]*$/.test(text) ? text : Array.from(text, asciiDigit).join('')
  return ascii.replace(/^0+(?=.)/, '')
}

/** Returns the order of two values that `decimalOf` gave: negative, zero or positive. */
export function compareDecimals(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : a > b ? 1 : 0
}

/** Returns the value after one that `decimalOf` gave. */
export function nextDecimal(value: string): string {
  let at = value.length - 1
  while (value[at] === '9') at--
  const nines = '0'.repeat(value.length - 1 - at)
  return at < 0 ? `1${nines}` : `${value.slice(0, at)}${Number(value[at]) + 1}${nines}`
}

function asciiDigit(character: string): string {
  const code = character.codePointAt(0) ?? 0
  const zero = zeros.findLast((zero) => zero <= code) ?? 0
  return String(code - zero)
}

/** Returns `text` without white space at both ends. */
export function trim(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && whiteSpace.has(text.charCodeAt(from))) from++
  while (to > from && whiteSpace.has(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

/** Returns whether `text` holds a character that ends a line, of which LF and CR are two. */
export function hasLineBreak(text: string): boolean {
  return lineBreak.test(text)
}

/** Returns the lines of `text`. Whatever ends a line in Python ends it: U+2028 and form feeds too. */
export function linesOf(text: string): string[] {
  return text.split(lineBreak)
}

/** Returns the line of `text` that begins at a place, and what ends it: nothing, for the last. */
export function lineAt(
  text: string,
  from: number,
): { readonly line: string; readonly end: string } {
  nextLineBreak.lastIndex = from
  const [end = ''] = nextLineBreak.exec(text) ?? []
  const to = end === '' ? text.length : nextLineBreak.lastIndex - end.length
  return { line: text.slice(from, to), end }
}

/** Returns `text` with a line feed for whatever ends a line in Python. */
export function withPlainLineEnds(text: string): string {
  return text.replaceAll(oddLineBreak, '\n')
}

/** Returns `text` with CRLF and lone CR as LF, as it is read. */
export function withLineFeeds(text: string): string {
  return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text
}

/** Returns how many bytes `text` has in UTF-8. */
export function sizeBytes(text: string): number {
  return Buffer.byteLength(text)
}
