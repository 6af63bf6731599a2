import { asBuffer } from '../src/kernel/bytes.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const values = new Int8Array(128).fill(-1)
for (let i = 0; i < alphabet.length; i++) values[alphabet.charCodeAt(i)] = i

/** Returns the standard base64 (RFC 4648, section 4) of `bytes`, without padding. */
export function encodeBase64(bytes: Uint8Array): string {
  const text = asBuffer(bytes).toString('base64')
  const padding = text.indexOf('=')
  return padding < 0 ? text : text.slice(0, padding)
}

/** Returns whether `text` is what {@link encodeBase64} gives for some bytes: no padding, no spare bits. */
export function isBase64(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    if (!((values[text.charCodeAt(i)] ?? -1) >= 0)) return false
  }
  const rest = text.length % 4
  if (rest === 0) return true
  const last = values[text.charCodeAt(text.length - 1)] ?? 0
  return rest !== 1 && (last & (rest === 2 ? 0x0f : 0x03)) === 0
}

/**
 * Returns the bytes of a text that {@link isBase64} holds of; for others they are arbitrary.
 *
 * Node's own decoder skips what it doesn't know, so the check comes first.
 */
export function decodeBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'))
}
