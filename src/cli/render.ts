import type { Finding } from '../rules/rule.ts'

const unsafe =
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

/**
 * Returns `text` for a terminal: control characters, line breaks, invisible characters and marks that turn the
 * direction of text come as escapes, so that what a peer wrote can't pass for a line of ours.
 */
export function plain(text: string): string {
  return text.replace(unsafe, (character) => {
    const code = character.codePointAt(0) ?? 0
    if (character === '\n') return '\\n'
    if (character === '\t') return '\\t'
    const hex = code.toString(16)
    if (code < 0x100) return `\\x${hex.padStart(2, '0')}`
    return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`
  })
}

/** Returns one document of `--json`: an object on one line. */
export function jsonLine(schema: string, value: object): string {
  return `${escaped(JSON.stringify({ schema: `hstore.${schema}/1`, ...value }))}\n`
}

/** Returns JSON text with the same value and nothing in it that a terminal obeys. */
export function escaped(json: string): string {
  return json.replace(unsafe, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

/** Returns a finding as one line. */
export function findingLine({ code, severity, message, cid, path }: Finding): string {
  const place = [path, cid].filter((part) => part !== undefined && !message.includes(part))
  return plain([severity, code, ...place, message].join(' '))
}
