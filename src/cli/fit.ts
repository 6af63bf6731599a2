const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u
const joining = /^[\p{Mn}\p{Me}]$/u

/** Returns how many columns a terminal takes for text, at most; see Unicode's East Asian Width. */
export function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length
  let width = 0
  for (const character of text) width += columnsOf(character)
  return width
}

function columnsOf(character: string): number {
  if (character <= '\u024f') return 1
  if (joining.test(character)) return 0
  return wide.test(character) ? 2 : 1
}

/** Returns text of at most `columns` columns: what is too long loses its middle, the end keeps more than the start. */
export function cutMiddle(text: string, columns: number): string {
  // longer ones are cut without a look at all of them, though marks without a width might let them fit
  const most = 8 * columns
  if (text.length <= most && widthOf(text) <= columns) return text
  const start = taken(Array.from(text.slice(0, most)), Math.floor((columns - 1) / 3))
  const end = taken(Array.from(text.slice(-most)).toReversed(), columns - 1 - widthOf(start))
  return `${start}…${Array.from(end).toReversed().join('')}`
}

/** Returns the first characters that fit into columns. */
function taken(characters: readonly string[], columns: number): string {
  let left = columns
  const end = characters.findIndex((character) => (left -= columnsOf(character)) < 0)
  return characters.slice(0, end < 0 ? undefined : end).join('')
}
