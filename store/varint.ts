/** An unsigned integer, and the bytes that it took. */
export interface Varint {
  readonly value: number
  readonly size: number
}

/** Seven bytes hold 49 bits, more than any length or code that hstore admits. */
export const MAX_VARINT_BYTES = 7

/**
 * Returns the unsigned LEB128 integer at `at`, or in words why there is none: only the shortest form counts.
 *
 * @see https://github.com/multiformats/unsigned-varint
 */
export function readVarint(bytes: Uint8Array, at: number): Varint | string {
  let value = 0
  for (let i = 0; i < MAX_VARINT_BYTES; i++) {
    const byte = bytes[at + i]
    if (byte === undefined) return 'varint cut short'
    value += (byte & 0x7f) * 2 ** (7 * i)
    if (byte < 0x80) {
      return byte === 0 && i > 0 ? 'varint longer than needed' : { value, size: i + 1 }
    }
  }
  return `varint over ${MAX_VARINT_BYTES} bytes`
}

/** Returns the unsigned LEB128 form of an integer below 2^49. */
export function encodeVarint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
  return Uint8Array.from(bytes)
}
