import { hash } from 'node:crypto'

declare const cidBrand: unique symbol

/**
 * A CID in the one spelling that hstore admits: v1, base32 lower case without padding, sha2-256 of 32 bytes, codec
 * dag-json or raw. One CID has one text, so texts compare as CIDs do. See docs/format.md, «CIDs».
 */
export type CidText = string & { readonly [cidBrand]: true }

/** The codecs a block can have. */
export type Codec = 'dag-json' | 'raw'

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
// The header bytes 01 a9 02 12 20 fill eight base32 characters; 01 55 12 20 fill six and two bits of the seventh.
const dagJsonText = /^baguqeera[a-z2-7]{51}[aq]$/
const rawText = /^bafkrei[a-h][a-z2-7]{50}[aeimquy4]$/
const headers = {
  'dag-json': Uint8Array.of(0x01, 0xa9, 0x02, 0x12, 0x20),
  raw: Uint8Array.of(0x01, 0x55, 0x12, 0x20),
} as const

/** Returns whether `text` is a CID in the admitted spelling. */
export function isCidText(text: unknown): text is CidText {
  return typeof text === 'string' && (dagJsonText.test(text) || rawText.test(text))
}

/** Returns the codec of a CID. */
export function codecOf(cid: CidText): Codec {
  return cid.startsWith('bag') ? 'dag-json' : 'raw'
}

/** Returns the CID of a block's bytes. */
export function cidTextOf(bytes: Uint8Array, codec: Codec): CidText {
  return cidTextOfDigest(hash('sha256', bytes, 'buffer'), codec)
}

/**
 * Returns the CID that a sha2-256 digest has.
 *
 * @param digest - 32 bytes.
 */
export function cidTextOfDigest(digest: Uint8Array, codec: Codec): CidText {
  if (digest.length !== 32) throw new RangeError(`digest: wanted 32 bytes, got ${digest.length}`)
  const header = headers[codec]
  binary.set(header)
  binary.set(digest, header.length)
  return encodeBase32(binary.subarray(0, header.length + 32)) as CidText
}

/** Returns the 32 bytes of sha2-256 that a CID carries. */
export function digestOf(cid: CidText): Uint8Array {
  const digest = new Uint8Array(32)
  findDigest(cid, digest)
  return digest
}

/**
 * Returns the codec of a CID and writes its digest; undefined for what `isCidText` is false of, whatever is written then.
 *
 * @param digest - Takes 32 bytes.
 */
export function findDigest(text: string, digest: Uint8Array): Codec | undefined {
  if (text.length === 61 && text.startsWith('baguqeera'))
    return readBase32(text, 9, 0, digest) ? 'dag-json' : undefined
  // the header of raw ends within a character
  if (text.length === 59 && text.startsWith('bafkrei'))
    return readBase32(text, 7, 2, digest) ? 'raw' : undefined
  return undefined
}

/** Fills `bytes` with what stands in a text; returns false where that is not base32 or any other bit is 1. */
function readBase32(text: string, start: number, skippedBits: number, bytes: Uint8Array): boolean {
  let at = start
  let bits = -skippedBits
  let value = 0
  let all = 0
  for (let i = 0; i < bytes.length; i++) {
    while (bits < 8) {
      const next = values[text.charCodeAt(at++)] ?? foreign
      all |= next
      value = (value << 5) | next
      bits += 5
    }
    bits -= 8
    all |= (value >>> (bits + 8)) * foreign
    bytes[i] = value >>> bits
    value &= (1 << bits) - 1
  }
  return all < foreign && value === 0
}

// What is spelt is put here and read at once: 37 bytes make 60 characters behind the one that names base32.
const binary = new Uint8Array(37)
const spelling = Buffer.from('b'.padEnd(61))

function encodeBase32(bytes: Uint8Array): string {
  let bits = 0
  let value = 0
  let at = 1
  for (let i = 0; i < bytes.length; i++) {
    value = (value << 8) | bytes[i]!
    bits += 8
    while (bits >= 5) {
      bits -= 5
      spelling[at++] = alphabet.charCodeAt((value >>> bits) & 31)
    }
    value &= (1 << bits) - 1
  }
  if (bits > 0) spelling[at++] = alphabet.charCodeAt((value << (5 - bits)) & 31)
  return spelling.toString('latin1', 0, at)
}

// The value of each character, by its code.
const foreign = 32
const values = new Uint8Array(128).fill(foreign)
for (let i = 0; i < alphabet.length; i++) values[alphabet.charCodeAt(i)] = i
