/** Characters of others' text that a message shows. */
export const shownAtMost = 120

/** Returns `text` in quotes, bounded and printable, for a message. */
export function quoted(text: string): string {
  return printable(JSON.stringify(cut(text)))
}

/** Returns `text`, bounded and printable, for a message. */
export function bounded(text: string): string {
  return printable(cut(text))
}

/** Controls, line separators and what turns the direction of text: a message is one line that shows what it says. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

const plain = /^[ -~]*$/

function printable(text: string): string {
  if (plain.test(text)) return text
  return text.replaceAll(unprintable, (character) => {
    const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
  })
}

function cut(text: string): string {
  return text.length > shownAtMost ? `${text.slice(0, shownAtMost)}…` : text
}
