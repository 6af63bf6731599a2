const shownLines = 60
const shownCharacters = 200

/**
 * Returns how a turn's text differs from what it was, a line each with `-` or `+` before it: what lies between the
 * first and the last line that differ. Of long lines the part around the first difference is shown, of many the first.
 *
 * @param most - How many lines of each are shown.
 */
export function diffTurns(
  old: string | undefined,
  now: string | undefined,
  most: number = shownLines,
): string[] {
  const before = old?.split('\n') ?? []
  const after = now?.split('\n') ?? []
  const from = sharedStart(before, after)
  const end = sharedStart(before.slice(from).toReversed(), after.slice(from).toReversed())
  const gone = before.slice(from, before.length - end)
  const come = after.slice(from, after.length - end)
  const column = Math.max(0, sharedStart(gone[0] ?? '', come[0] ?? '') - shownCharacters / 2)
  return [...marked('-', gone, column, most), ...marked('+', come, column, most)]
}

function sharedStart(a: ArrayLike<string>, b: ArrayLike<string>): number {
  let length = 0
  while (length < Math.min(a.length, b.length) && a[length] === b[length]) length++
  return length
}

function marked(sign: string, lines: readonly string[], column: number, most: number): string[] {
  const more = lines.length - most
  return [
    ...lines.slice(0, most).map((line, i) => sign + cut(line, i === 0 ? column : 0)),
    ...(more > 0 ? [`${sign}[${more} more lines]`] : []),
  ]
}

function cut(line: string, column: number): string {
  const part = line.slice(column, column + shownCharacters)
  const more = column + part.length < line.length ? '[..]' : ''
  return `${column > 0 ? '[..]' : ''}${part}${more}`
}
