// Castagnoli's polynomial, bits reversed.
const table: Uint32Array = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
  return crc >>> 0
})

/**
 * Returns the CRC-32C of the bytes from `from` up to `to`.
 *
 * @see RFC 3720, section 12.1 and appendix B.4
 */
export function crc32c(bytes: Uint8Array, from = 0, to: number = bytes.length): number {
  let crc = -1
  for (let i = from; i < to; i++) crc = (crc >>> 8) ^ table[(crc ^ bytes[i]!) & 255]!
  return ~crc >>> 0
}

/** Returns a CRC-32C in the form in which LevelDB stores it. */
export function maskedCrc(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0
}
