import { assertBytes } from '../src/kernel/errors.ts'
import { createCipheriv, createDecipheriv, pbkdf2Sync, randomBytes } from 'node:crypto'
import { der, derInteger, DerReader, TAG } from './der.ts'
import { KeyError } from './errors.ts'
import { formatPem, parsePem } from './pem.ts'

/** Rounds of PBKDF2-HMAC-SHA-256 for the key files that hstore writes. */
export const PBKDF2_ROUNDS = 600_000

/** The most rounds that are read, half a second's work: above, a file could hang its reader. */
export const PBKDF2_ROUNDS_LIMIT = 2_000_000

const PLAIN = 'PRIVATE KEY'
const ENCRYPTED = 'ENCRYPTED PRIVATE KEY'

const OID = {
  ed25519: bytesOf('2b6570'), // 1.3.101.112
  pbes2: bytesOf('2a864886f70d01050d'), // 1.2.840.113549.1.5.13
  pbkdf2: bytesOf('2a864886f70d01050c'), // 1.2.840.113549.1.5.12
  hmacSha256: bytesOf('2a864886f70d0209'), // 1.2.840.113549.2.9
  aes256Cbc: bytesOf('60864801650304012a'), // 2.16.840.1.101.3.4.1.42
} as const

/** A key under a passphrase, read but not opened. */
export interface LockedKey {
  readonly salt: Uint8Array
  readonly rounds: number
  readonly iv: Uint8Array
  readonly ciphertext: Uint8Array
}

/** What a PKCS#8 file holds: the seed itself, or the key that a passphrase opens. */
export type Pkcs8 = { readonly seed: Uint8Array } | { readonly locked: LockedKey }

/**
 * Returns a 32-byte seed as an unencrypted PKCS#8 file, label `PRIVATE KEY` (RFC 8410 section 7).
 *
 * @throws {KeyError} `HSTORE_KEY_INVALID` when it has another length.
 * @throws {ArgumentError} `HSTORE_ARGUMENT_INVALID` when it is no Uint8Array.
 */
export function formatPkcs8(seed: Uint8Array): string {
  assertBytes('seed', seed)
  if (seed.length !== 32) {
    throw new KeyError('HSTORE_KEY_INVALID', `a seed has 32 bytes, not ${seed.length}`)
  }
  return formatPem(PLAIN, encodePlain(seed))
}

/**
 * Returns a 32-byte seed as a PKCS#8 file under a passphrase: PBES2 with PBKDF2-HMAC-SHA-256 of 600,000 rounds and
 * AES-256-CBC. node's own export writes 2,048 rounds and has no setting for it.
 *
 * @see RFC 8018 section 6.2
 */
export function formatEncryptedPkcs8(seed: Uint8Array, passphrase: string): string {
  const salt = randomBytes(16)
  const iv = randomBytes(16)
  const plain = encodePlain(seed)
  const cipher = createCipheriv('aes-256-cbc', stretch(passphrase, salt, PBKDF2_ROUNDS), iv)
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()])
  plain.fill(0)
  const hash = der(TAG.sequence, der(TAG.oid, OID.hmacSha256), der(TAG.null))
  const pbkdf2 = der(TAG.sequence, der(TAG.octets, salt), derInteger(PBKDF2_ROUNDS), hash)
  const scheme = der(
    TAG.sequence,
    der(TAG.sequence, der(TAG.oid, OID.pbkdf2), pbkdf2),
    der(TAG.sequence, der(TAG.oid, OID.aes256Cbc), der(TAG.octets, iv)),
  )
  const algorithm = der(TAG.sequence, der(TAG.oid, OID.pbes2), scheme)
  return formatPem(ENCRYPTED, der(TAG.sequence, algorithm, der(TAG.octets, ciphertext)))
}

/**
 * Returns what a PKCS#8 file holds, without opening it. Only Ed25519, plain or under PBES2 with PBKDF2-HMAC-SHA-256
 * of at most 2,000,000 rounds and AES-256-CBC.
 *
 * @param text - At most 64 KiB.
 * @throws {KeyError} `HSTORE_KEY_INVALID` for anything else.
 */
export function parsePkcs8(text: string | Uint8Array): Pkcs8 {
  const { label, bytes } = parsePem(text)
  if (label === PLAIN) return { seed: decodePlain(bytes) }
  if (label === ENCRYPTED) return { locked: decodeEncrypted(bytes) }
  const what = label.endsWith('PUBLIC KEY') ? 'a public key' : `a file of ${label}`
  throw new KeyError(
    'HSTORE_KEY_INVALID',
    `this is ${what}: give the private one in PKCS#8, ${PLAIN} or ${ENCRYPTED}`,
  )
}

/**
 * Returns the seed of a locked key. Takes as long as its rounds do: about 0.2 s for hstore's own.
 *
 * @throws {KeyError} `HSTORE_PASSPHRASE_NEEDED` without one, `HSTORE_PASSPHRASE_WRONG` when it does not open the key
 * (damage can't be told from it), `HSTORE_KEY_INVALID` when what opens is no Ed25519 key.
 */
export function unlockPkcs8(locked: LockedKey, passphrase: string | undefined): Uint8Array {
  if (passphrase === undefined || passphrase === '') {
    throw new KeyError('HSTORE_PASSPHRASE_NEEDED', 'the key is under a passphrase: give it')
  }
  const plain = decrypt(locked, passphrase)
  // By chance one wrong passphrase in 256 decrypts to something.
  if (plain === undefined || !isOneSequence(plain)) {
    throw new KeyError(
      'HSTORE_PASSPHRASE_WRONG',
      'this passphrase does not open the key: give the right one, or the file is damaged',
    )
  }
  return decodePlain(plain)
}

function encodePlain(seed: Uint8Array): Uint8Array {
  const algorithm = der(TAG.sequence, der(TAG.oid, OID.ed25519))
  return der(TAG.sequence, derInteger(0), algorithm, der(TAG.octets, der(TAG.octets, seed)))
}

function decodePlain(bytes: Uint8Array): Uint8Array {
  const file = new DerReader(bytes)
  const info = file.sequence()
  file.expectEnd()
  if (info.integer() !== 0) throw invalid('a PKCS#8 version other than 0')
  const algorithm = info.sequence()
  algorithm.expectOid(OID.ed25519, 'an Ed25519 key')
  algorithm.expectEnd()
  const inner = new DerReader(info.read(TAG.octets))
  info.expectEnd()
  const seed = inner.read(TAG.octets)
  inner.expectEnd()
  if (seed.length !== 32) throw invalid(`a seed of ${seed.length} bytes`)
  return Uint8Array.from(seed)
}

function decodeEncrypted(bytes: Uint8Array): LockedKey {
  const file = new DerReader(bytes)
  const info = file.sequence()
  file.expectEnd()
  const algorithm = info.sequence()
  const ciphertext = info.read(TAG.octets)
  info.expectEnd()
  algorithm.expectOid(OID.pbes2, 'PBES2')
  const scheme = algorithm.sequence()
  algorithm.expectEnd()
  const { salt, rounds } = decodePbkdf2(scheme.sequence())
  const cipher = scheme.sequence()
  scheme.expectEnd()
  cipher.expectOid(OID.aes256Cbc, 'AES-256-CBC')
  const iv = cipher.read(TAG.octets)
  cipher.expectEnd()
  if (iv.length !== 16) throw invalid(`an IV of ${iv.length} bytes`)
  if (ciphertext.length === 0 || ciphertext.length % 16 !== 0) throw invalid('a cut block')
  return { salt, rounds, iv, ciphertext }
}

function decodePbkdf2(algorithm: DerReader): { salt: Uint8Array; rounds: number } {
  algorithm.expectOid(OID.pbkdf2, 'PBKDF2')
  const parameters = algorithm.sequence()
  algorithm.expectEnd()
  const salt = parameters.read(TAG.octets)
  const rounds = parameters.integer()
  if (parameters.has(TAG.integer) && parameters.integer() !== 32) throw invalid('a key length')
  const hash = parameters.sequence()
  parameters.expectEnd()
  hash.expectOid(OID.hmacSha256, 'HMAC-SHA-256')
  hash.expectNull()
  hash.expectEnd()
  if (salt.length === 0 || salt.length > 1024) throw invalid(`a salt of ${salt.length} bytes`)
  if (rounds < 1 || rounds > PBKDF2_ROUNDS_LIMIT) {
    throw invalid(`${rounds} rounds, where 1 to ${PBKDF2_ROUNDS_LIMIT} are read`)
  }
  return { salt, rounds }
}

function decrypt(locked: LockedKey, passphrase: string): Uint8Array | undefined {
  const key = stretch(passphrase, locked.salt, locked.rounds)
  try {
    const decipher = createDecipheriv('aes-256-cbc', key, locked.iv)
    return Buffer.concat([decipher.update(locked.ciphertext), decipher.final()])
  } catch {
    return undefined
  }
}

function isOneSequence(bytes: Uint8Array): boolean {
  try {
    const file = new DerReader(bytes)
    file.sequence()
    return file.done
  } catch {
    return false
  }
}

function stretch(passphrase: string, salt: Uint8Array, rounds: number): Buffer {
  return pbkdf2Sync(passphrase, salt, rounds, 32, 'sha256')
}

function invalid(what: string): KeyError {
  return new KeyError('HSTORE_KEY_INVALID', `the key file has ${what}: make the key again`)
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, 'hex'))
}
