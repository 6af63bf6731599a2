import { cidTextOfDigest, codecOf, digestOf } from './cid-text.ts'
import type { CidText, Codec } from './cid-text.ts'
import { readVarint } from './varint.ts'

const headers: readonly (readonly [Codec, Uint8Array])[] = [
  ['dag-json', Uint8Array.of(0x01, 0xa9, 0x02, 0x12, 0x20)],
  ['raw', Uint8Array.of(0x01, 0x55, 0x12, 0x20)],
]

/** A CID read from the front of some bytes. */
export interface LeadingCid {
  readonly cid: CidText
  readonly codec: Codec
  /** Bytes that the CID takes: 36 or 37. */
  readonly size: number
}

/** Returns the binary form of a CID: 36 or 37 bytes. */
export function encodeCid(cid: CidText): Uint8Array {
  const codec = codecOf(cid)
  const header = headers.find(([name]) => name === codec)?.[1] ?? new Uint8Array(0)
  const bytes = new Uint8Array(header.length + 32)
  bytes.set(header)
  bytes.set(digestOf(cid), header.length)
  return bytes
}

/** Returns how many bytes the binary form of a CID has. */
export function sizeOfCid(cid: CidText): number {
  return codecOf(cid) === 'raw' ? 36 : 37
}

/** Returns the CID that `bytes` begin with, or in words why hstore does not admit it. */
export function readCid(bytes: Uint8Array): LeadingCid | string {
  for (const [codec, header] of headers) {
    const size = header.length + 32
    if (header.every((byte, i) => bytes[i] === byte)) {
      if (bytes.length < size) return 'CID cut short'
      return { cid: cidTextOfDigest(bytes.subarray(header.length, size), codec), codec, size }
    }
  }
  return describeForeign(bytes)
}

function describeForeign(bytes: Uint8Array): string {
  if (bytes[0] === 0x12 && bytes[1] === 0x20) return 'CIDv0 is not admitted'
  let at = 0
  const parts: number[] = []
  for (const name of ['version', 'codec', 'hash', 'digest length']) {
    const part = readVarint(bytes, at)
    if (typeof part === 'string') return `CID ${name}: ${part}`
    parts.push(part.value)
    at += part.size
  }
  const [version, codec, hash, size] = parts
  if (version !== 1) return `CID version ${version} is not admitted`
  if (codec !== 0x55 && codec !== 0x0129) return `codec 0x${codec?.toString(16)} is not admitted`
  if (hash !== 0x12) return `hash function 0x${hash?.toString(16)} is not admitted`
  return `a digest of ${size} bytes is not admitted`
}
