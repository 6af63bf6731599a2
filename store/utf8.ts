const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Returns the text of `bytes`, a byte order mark kept as a character, or undefined when they are not well-formed UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** Returns whether `text` has no half of a surrogate pair by itself. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text)
}

/** Returns the offset of the first byte that begins no well-formed UTF-8 sequence (Unicode 15, table 3-7), else -1. */
export function findMalformedUtf8(bytes: Uint8Array): number {
  let at = 0
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at)
    if (length === 0) return at
    at += length
  }
  return -1
}

function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0
  if (lead < 0x80) return 1
  if (lead < 0xc2 || lead > 0xf4) return 0
  const second = bytes[at + 1] ?? 0
  if (second < lowestSecond(lead) || second > highestSecond(lead)) return 0
  const length = lengthOf(lead)
  for (let i = 2; i < length; i++) {
    if (((bytes[at + i] ?? 0) & 0xc0) !== 0x80) return 0
  }
  return length
}

function lengthOf(lead: number): number {
  if (lead < 0xe0) return 2
  return lead < 0xf0 ? 3 : 4
}

function lowestSecond(lead: number): number {
  if (lead === 0xe0) return 0xa0
  return lead === 0xf0 ? 0x90 : 0x80
}

function highestSecond(lead: number): number {
  if (lead === 0xed) return 0x9f
  return lead === 0xf4 ? 0x8f : 0xbf
}
