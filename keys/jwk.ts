import { quoted } from '../src/kernel/shown.ts'
import { createHash } from 'node:crypto'
import { asBuffer, equalBytes } from '../src/kernel/bytes.ts'
import { ArgumentError, assertBytes } from '../src/kernel/errors.ts'
import { formatDidKey } from './did-key.ts'
import { isPublicKey, publicKeyOf } from './ed25519.ts'
import { KeyError } from './errors.ts'
import { KEY_FILE_LIMIT } from './pem.ts'

/** An Ed25519 key as a JSON Web Key (RFC 8037 section 2): `x` and `d` are base64url without padding. */
export interface Jwk {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  /** The key's thumbprint. */
  readonly kid: string
  readonly x: string
  /** The seed; only in a private key. */
  readonly d?: string
}

/**
 * Returns a 32-byte public key as a JSON Web Key; `kid` is its thumbprint (RFC 7638), so that it is the same everywhere.
 *
 * @throws {KeyError} `HSTORE_KEY_INVALID` when the key is of another length, weak, not canonical or not on the curve.
 * @throws {ArgumentError} `HSTORE_ARGUMENT_INVALID` when it is no Uint8Array.
 */
export function publicJwk(publicKey: Uint8Array): Jwk {
  assertBytes('publicKey', publicKey)
  if (!isPublicKey(publicKey)) throw invalid('is of no safe Ed25519 key')
  const x = base64url(publicKey)
  return { kty: 'OKP', crv: 'Ed25519', kid: thumbprint(x), x }
}

/**
 * Returns a 32-byte seed as a private JSON Web Key, unencrypted.
 *
 * @throws {KeyError} `HSTORE_KEY_INVALID` when it has another length.
 * @throws {ArgumentError} `HSTORE_ARGUMENT_INVALID` when it is no Uint8Array.
 */
export function privateJwk(seed: Uint8Array): Jwk {
  assertBytes('seed', seed)
  return { ...publicJwk(publicKeyOf(seed)), d: base64url(seed) }
}

/**
 * Returns the seed in a private JSON Web Key. Strict: one JSON object in UTF-8 without repeated names, kty OKP, crv
 * Ed25519, canonical base64url of 32 bytes, and `x` has to belong to `d`. Other members are passed over (RFC 7517
 * section 4). Messages never hold a part of the file.
 *
 * @param text - At most 64 KiB.
 * @throws {KeyError} `HSTORE_KEY_INVALID` for anything else, a public key among it.
 * @throws {ArgumentError} `HSTORE_ARGUMENT_INVALID` when `text` is neither a string nor a Uint8Array.
 */
export function parseJwk(text: string | Uint8Array): Uint8Array {
  if (typeof text !== 'string' && !(text instanceof Uint8Array)) {
    throw new ArgumentError('text: wanted a string or a Uint8Array')
  }
  const jwk = parseObject(text)
  if (Array.isArray(jwk['keys'])) throw invalid('is a set of keys: give one key')
  expectText(jwk, 'kty', 'OKP')
  expectText(jwk, 'crv', 'Ed25519')
  const x = bytesOf(jwk, 'x')
  if (!Object.hasOwn(jwk, 'd')) {
    const whose = isPublicKey(x) ? formatDidKey(x) : 'no safe key'
    throw invalid(`is a public key (${whose}): give the private one, which has d`)
  }
  const seed = bytesOf(jwk, 'd')
  if (equalBytes(publicKeyOf(seed), x)) return seed
  throw invalid('has a public half that does not belong to its secret half: do not use it')
}

function parseObject(text: string | Uint8Array): Readonly<Record<string, unknown>> {
  if (text.length > KEY_FILE_LIMIT) throw invalid(`has more than ${KEY_FILE_LIMIT} bytes`)
  let json: string
  let value: unknown
  try {
    const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    json = typeof text === 'string' ? text : strict.decode(text)
    value = JSON.parse(json)
  } catch {
    // no cause: node's words quote the text, and the secret stands in it
    throw invalid('is no JSON in UTF-8')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('is no JSON object')
  }
  if (hasRepeatedName(json)) throw invalid('gives a name twice')
  return value as Readonly<Record<string, unknown>>
}

/** Returns whether an object of `json`, which is well-formed, has two members of one name. */
function hasRepeatedName(json: string): boolean {
  const open: Set<unknown>[] = []
  let last = ''
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}:]/g)) {
    if (token === '{') open.push(new Set())
    else if (token === '}') open.pop()
    else if (token === ':') {
      const name: unknown = JSON.parse(last)
      if (open.at(-1)?.has(name) === true) return true
      open.at(-1)?.add(name)
    } else last = token
  }
  return false
}

function expectText(jwk: Readonly<Record<string, unknown>>, name: string, wanted: string): void {
  const value = Object.hasOwn(jwk, name) ? jwk[name] : undefined
  if (value === wanted) return
  const got = typeof value === 'string' ? quoted(value.slice(0, 32)) : 'no text'
  throw invalid(`has ${got} as ${name}, not ${wanted}: give an Ed25519 key`)
}

function bytesOf(jwk: Readonly<Record<string, unknown>>, name: string): Uint8Array {
  const value = Object.hasOwn(jwk, name) ? jwk[name] : undefined
  const bytes = typeof value === 'string' ? Buffer.from(value, 'base64url') : undefined
  // node skips what it can't read and takes padding: only what it writes itself is canonical
  if (bytes?.length === 32 && bytes.toString('base64url') === value) return Uint8Array.from(bytes)
  throw invalid(`has no ${name} of 32 bytes in base64url without padding`)
}

function thumbprint(x: string): string {
  // the members that RFC 8037 section 2 names, sorted, without white space
  const text = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x })
  return createHash('sha256').update(text).digest('base64url')
}

function base64url(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('base64url')
}

function invalid(what: string): KeyError {
  return new KeyError('HSTORE_KEY_INVALID', `the JWK ${what}`)
}
