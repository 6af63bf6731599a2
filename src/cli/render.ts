import type { Finding } from '../rules/rule.ts'

// oxlint-disable-next-line no-control-regex -- control characters are what this looks for
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

/**
 * Returns `text` for a terminal: control characters, line breaks and marks that turn the direction of text come as
 * escapes, so that what a peer wrote can't pass for a line of ours.
 */
export function plain(text: string): string {
  return text.replace(unsafe, (character) => {
    const code = character.charCodeAt(0)
    if (character === '\n') return '\\n'
    if (character === '\t') return '\\t'
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`
  })
}

/** Returns one document of `--json`: an object on one line. */
export function jsonLine(schema: string, value: object): string {
  return `${JSON.stringify({ schema: `hstore.${schema}/1`, ...value })}\n`
}

/** Returns a finding as one line. */
export function findingLine({ code, severity, message, cid, path }: Finding): string {
  const place = [path, cid].filter((part) => part !== undefined && !message.includes(part))
  return plain([severity, code, ...place, message].join(' '))
}
