import { ArgumentError } from '../src/kernel/errors.ts'

const encoder = new TextEncoder()

/**
 * Returns the bytes that a DSSE signature covers: `DSSEv1`, the length and text of `type`, the length of `body`, parted
 * by single spaces, then `body`. Lengths count bytes, in decimal.
 *
 * @throws {ArgumentError} `HSTORE_ARGUMENT_INVALID` when `type` is no string or `body` no Uint8Array.
 * @see https://github.com/secure-systems-lab/dsse/blob/master/protocol.md
 */
export function pae(type: string, body: Uint8Array): Uint8Array {
  if (typeof type !== 'string') throw new ArgumentError('type: wanted a string')
  if (!(body instanceof Uint8Array)) throw new ArgumentError('body: wanted a Uint8Array')
  const typeLength = Buffer.byteLength(type)
  const before = encoder.encode(`DSSEv1 ${typeLength} ${type} ${body.length} `)
  const result = new Uint8Array(before.length + body.length)
  result.set(before)
  result.set(body, before.length)
  return result
}
