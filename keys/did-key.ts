import { quoted } from '../src/kernel/shown.ts'
import { ArgumentError } from '../src/kernel/errors.ts'
import { asBuffer } from '../src/kernel/bytes.ts'
import { isPublicKey } from './ed25519.ts'
import { KeyError } from './errors.ts'
import { RecentMap } from '../src/kernel/recent-map.ts'

/** An Ed25519 public key as text: `did:key:z`, then base58btc of 0xed 0x01 and the 32 bytes. Always 56 characters. */
export type Did = `did:key:z6Mk${string}`

const FORM = /^did:key:z6Mk[1-9A-HJ-NP-Za-km-z]{44}$/
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const VALUES = new Map(Array.from(ALPHABET).map((character, i) => [character, BigInt(i)]))

/** The multicodec of an Ed25519 public key, 0xed, as a varint. */
const CODEC = 'ed01'

const parsed = new RecentMap<Uint8Array>(1024)

/**
 * Returns the 32-byte public key of `text`, a fresh copy. Exact: one key has one text.
 *
 * @throws {KeyError} `HSTORE_DID_INVALID` when the text has another form, base or key type, or when the key is weak,
 * not canonical or not on the curve.
 * @see https://w3c-ccg.github.io/did-key-spec/
 */
export function parseDidKey(text: string): Uint8Array {
  return findPublicKey(text)?.slice() ?? refuse(text)
}

/** Returns whether `text` is a did:key that `parseDidKey` takes. */
export function isDidKey(text: unknown): text is Did {
  return findPublicKey(text) !== undefined
}

/**
 * Returns the did:key of a 32-byte public key.
 *
 * @throws {KeyError} `HSTORE_KEY_INVALID` when the key is of another length, weak, not canonical or not on the curve.
 * @throws {ArgumentError} `HSTORE_ARGUMENT_INVALID` when it is no Uint8Array.
 */
export function formatDidKey(publicKey: Uint8Array): Did {
  if (!(publicKey instanceof Uint8Array)) throw new ArgumentError('publicKey: wanted a Uint8Array')
  if (isPublicKey(publicKey)) return `did:key:z${encode(publicKey)}` as Did
  throw new KeyError(
    'HSTORE_KEY_INVALID',
    publicKey.length === 32
      ? 'these 32 bytes are no safe Ed25519 public key: take another'
      : `an Ed25519 public key has 32 bytes, not ${publicKey.length}`,
  )
}

function findPublicKey(text: unknown): Uint8Array | undefined {
  if (typeof text !== 'string') return undefined
  const known = parsed.get(text)
  if (known !== undefined) return known
  if (!FORM.test(text)) return undefined
  const hex = decode(text.slice(9))
  if (hex.length !== 68 || !hex.startsWith(CODEC)) return undefined
  const publicKey = Uint8Array.from(Buffer.from(hex.slice(4), 'hex'))
  if (!isPublicKey(publicKey)) return undefined
  parsed.set(text, publicKey)
  return publicKey
}

/*
 * Own base58 of this one length: the text has no leading 1 and the number no leading zero byte, so number and text are
 * one to one, and an import of the general codec would cost each start about 10 ms.
 */
function encode(publicKey: Uint8Array): string {
  let rest = BigInt(`0x${CODEC}${asBuffer(publicKey).toString('hex')}`)
  let text = ''
  for (; rest > 0n; rest /= 58n) text = ALPHABET[Number(rest % 58n)] + text
  return text
}

function decode(text: string): string {
  let number = 0n
  for (const character of text) number = number * 58n + VALUES.get(character)!
  return number.toString(16)
}

function refuse(text: unknown): never {
  const shown = typeof text === 'string' ? quoted(text) : typeof text
  throw new KeyError(
    'HSTORE_DID_INVALID',
    `${shown} is no did:key of a safe Ed25519 key: give did:key:z6Mk… as hstore shows it`,
  )
}
