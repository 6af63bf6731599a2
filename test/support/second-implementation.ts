import type { KeyObject } from 'node:crypto'
import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'

/*
 * The format once more, from docs/format.md alone: node:crypto and JSON, nothing of hstore. What hstore writes has to
 * come out of this byte for byte.
 */

/** Plain JSON data: a link is `{"/": CID}`, bytes are `{"/": {"bytes": base64}}`. */
export type Json = Json[] | boolean | null | number | string | { [key: string]: Json }

/** A test key: its seed, its did:key and what signs and verifies. */
export interface TestKey {
  readonly seed: string
  readonly did: string
  readonly privateKey: KeyObject
  readonly publicKey: Uint8Array
}

/** The seeds of RFC 8032 section 7.1, tests 1, 2 and 3, in hex. */
export const seeds = {
  one: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
  two: '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
  three: 'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
} as const

/** Returns the canonical text of plain data: keys by their UTF-8 bytes, no white space. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const keys = Object.keys(value).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key]!)}`).join(',')}}`
}

/** Returns the CID of a block's bytes. */
export function cid(codec: 'dag-json' | 'raw', bytes: Uint8Array | string): string {
  const digest = createHash('sha256').update(bytes).digest('hex')
  const header = codec === 'raw' ? '01551220' : '01a9021220'
  const bits = Array.from(`${header}${digest}`, (digit) =>
    Number.parseInt(digit, 16).toString(2).padStart(4, '0'),
  )
  const groups = bits.join('').match(/.{1,5}/g) ?? []
  const text = groups.map(
    (group) => 'abcdefghijklmnopqrstuvwxyz234567'[Number.parseInt(group.padEnd(5, '0'), 2)],
  )
  return `b${text.join('')}`
}

/** Returns the form of a link. */
export function link(target: string): { '/': string } {
  return { '/': target }
}

/** Returns the form of bytes. */
export function bytes(value: Uint8Array): { '/': { bytes: string } } {
  return { '/': { bytes: Buffer.from(value).toString('base64').replaceAll('=', '') } }
}

/** Returns the key of a seed in hex. */
export function keyOf(seed: string): TestKey {
  const der = Buffer.from(`302e020100300506032b657004220420${seed}`, 'hex')
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
  const publicKey = new Uint8Array(spki.subarray(12))
  return { seed, did: didKey(publicKey), privateKey, publicKey }
}

/** Returns the did:key of an Ed25519 public key. */
export function didKey(publicKey: Uint8Array): string {
  const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
  let text = ''
  for (let rest = BigInt(`0xed01${Buffer.from(publicKey).toString('hex')}`); rest > 0n; rest /= 58n)
    text = `${alphabet[Number(rest % 58n)]}${text}`
  return `did:key:z${text}`
}

/** Returns what is signed for the bytes of a payload. */
export function signedBytes(payload: Uint8Array | string, type: string = entryType): Buffer {
  const body = Buffer.from(payload)
  const head = `DSSEv1 ${Buffer.byteLength(type)} ${type} ${body.length} `
  return Buffer.concat([Buffer.from(head), body])
}

/** The payload type of entries. */
export const entryType = 'application/vnd.hstore.entry.v1+dag-json'

/** Returns the text of a block that holds `payload`, signed. */
export function entryBlock(payload: Json, key: TestKey): string {
  const text = canonical(payload)
  return canonical({ payload, sig: bytes(sign(null, signedBytes(text), key.privateKey)) })
}

/** Returns whether the signature of an entry's block stands under a key, by the equation alone. */
export function isSignedBy(block: Uint8Array, key: TestKey): boolean {
  const payload = block.subarray(11, block.length - 112)
  const tail = Buffer.from(block.subarray(block.length - 112)).toString()
  const base64 = /^,"sig":\{"\/":\{"bytes":"([A-Za-z0-9+/]{86})"\}\}\}$/.exec(tail)?.[1]
  if (base64 === undefined) return false
  const signature = Buffer.from(base64, 'base64')
  return verify(null, signedBytes(payload), createPublicKey(key.privateKey), signature)
}
