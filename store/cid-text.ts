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
  writeDigest(cid, digest)
  return digest
}

/** Writes the 32 bytes of sha2-256 that a CID carries. */
export function writeDigest(cid: CidText, digest: Uint8Array): void {
  const skipped = headers[codecOf(cid)].length
  // the header ends within the bits of the character before
  let at = 1 + Math.floor((skipped * 8) / 5)
  let bits = 5 - ((skipped * 8) % 5)
  let value = values[cid.charCodeAt(at)]! & ((1 << bits) - 1)
  for (let i = 0; i < 32; i++) {
    while (bits < 8) {
      value = (value << 5) | values[cid.charCodeAt(++at)]!
      bits += 5
    }
    bits -= 8
    digest[i] = value >>> bits
    value &= (1 << bits) - 1
  }
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
const values = new Uint8Array(128)
for (let i = 0; i < alphabet.length; i++) values[alphabet.charCodeAt(i)] = i
