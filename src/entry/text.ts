// oxlint-disable-next-line no-control-regex -- control characters are what this looks for
const control = /[\u0000-\u001f\u007f-\u009f]/

/** Returns whether `text` is 1 to `maxBytes` bytes of UTF-8 without control characters. */
export function isPlainText(text: unknown, maxBytes: number): text is string {
  if (typeof text !== 'string' || text.length === 0 || text.length > maxBytes) return false
  return Buffer.byteLength(text) <= maxBytes && !control.test(text)
}

/** Returns whether `text` may be an agent's id: 1 to 1024 bytes, no control characters. */
export function isAgentId(text: unknown): text is string {
  return isPlainText(text, 1024)
}

const family = /^[a-z][a-z0-9-]{0,31}$/

/** Returns whether `text` may name a stream: `roster`, or `family:id` with an id of 1 to 1024 bytes. */
export function isStream(text: unknown): text is string {
  if (typeof text !== 'string') return false
  if (text === 'roster') return true
  const colon = text.indexOf(':')
  if (colon < 0 || !family.test(text.slice(0, colon)) || text.startsWith('roster:')) return false
  return isPlainText(text.slice(colon + 1), 1024)
}
