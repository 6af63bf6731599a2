import { quoted } from '../src/kernel/shown.ts'
import { ArgumentError, assertArgument, assertBytes } from '../src/kernel/errors.ts'
import { createDecipheriv } from 'node:crypto'
import { createRequire } from 'node:module'
import type * as Bcrypt from 'bcrypt-pbkdf'
import { equalBytes } from '../src/kernel/bytes.ts'
import { publicKeyOf } from './ed25519.ts'
import { KeyError } from './errors.ts'
import { formatPem, parsePem } from './pem.ts'
import { decodeComment, sshPublicKey, SshReader, sshString, sshUint32 } from './ssh-wire.ts'

/** A key as it comes out of a file. `comment` is free text of whoever made it and may hold control characters. */
export interface ImportedKey {
  readonly seed: Uint8Array
  readonly publicKey: Uint8Array
  readonly comment: string
}

interface Cipher {
  readonly name: 'aes-128-gcm' | 'aes-256-gcm' | CipherWithoutTag
  readonly keyBytes: number
  readonly ivBytes: number
  readonly tagBytes: number
}
type CipherWithoutTag = `aes-${128 | 192 | 256}-${'cbc' | 'ctr'}`

interface Container {
  readonly cipher: string
  readonly kdf: string
  readonly kdfOptions: Uint8Array
  readonly publicKey: Uint8Array
  readonly secret: Uint8Array
  readonly tag: Uint8Array
}

const LABEL = 'OPENSSH PRIVATE KEY'
const MAGIC = Buffer.from('openssh-key-v1\0')

/** OpenSSH writes 16 to 24 rounds; in JavaScript, 128 take seconds and 2^32 - 1 would never end. */
const ROUNDS_LIMIT = 128

const CIPHERS = new Map<string, Cipher>([
  ...([128, 192, 256] as const).flatMap((bits): [string, Cipher][] =>
    (['cbc', 'ctr'] as const).map((mode) => [
      `aes${bits}-${mode}`,
      { name: `aes-${bits}-${mode}`, keyBytes: bits / 8, ivBytes: 16, tagBytes: 0 },
    ]),
  ),
  ...([128, 256] as const).map((bits): [string, Cipher] => [
    `aes${bits}-gcm@openssh.com`,
    { name: `aes-${bits}-gcm`, keyBytes: bits / 8, ivBytes: 12, tagBytes: 16 },
  ]),
])

/**
 * Returns the Ed25519 key in an OpenSSH private key file. Strict: one key, no bytes to spare, exact padding, and all
 * four copies of the public half must belong to the seed, since signing with a foreign one can give the seed away.
 *
 * @param text - The file, at most 64 KiB; plain, or under AES and bcrypt of at most 128 rounds.
 * @throws {KeyError} `HSTORE_KEY_INVALID` for any other file, `HSTORE_PASSPHRASE_NEEDED` when it is under a
 * passphrase and none is given, `HSTORE_PASSPHRASE_WRONG` when that does not open it.
 * @see https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.key
 */
export function parseOpenSSHKey(text: string | Uint8Array, passphrase?: string): ImportedKey {
  if (typeof text !== 'string' && !(text instanceof Uint8Array)) {
    throw new ArgumentError('text: wanted a string or a Uint8Array')
  }
  const { label, bytes } = parsePem(text)
  if (label !== LABEL) throw invalid(`is a file of ${label}, not of ${LABEL}`)
  const container = readContainer(bytes)
  if (container.cipher === 'none') {
    if (container.kdf !== 'none' || container.kdfOptions.length > 0) {
      throw invalid('names no cipher and yet a way to a passphrase')
    }
    if (container.tag.length > 0) throw invalid('has bytes after its end')
    return readSecret(container.secret, container.publicKey, 8, 'HSTORE_KEY_INVALID')
  }
  const plain = decrypt(container, passphrase)
  return readSecret(plain, container.publicKey, 16, 'HSTORE_PASSPHRASE_WRONG')
}

/**
 * Returns a seed as an OpenSSH private key file without a passphrase; the same each time.
 *
 * @param seed - 32 bytes.
 * @throws {KeyError} `HSTORE_KEY_INVALID` when it has another length.
 * @throws {ArgumentError} `HSTORE_ARGUMENT_INVALID` when an argument is of another type.
 */
export function formatOpenSSHKey(seed: Uint8Array, comment: string): string {
  assertBytes('seed', seed)
  assertArgument('comment', comment, 'string')
  const publicKey = publicKeyOf(seed)
  // OpenSSH takes random numbers here. They only show whether decryption worked, and here there is none.
  const check = publicKey.subarray(0, 4)
  const pair = Buffer.concat([seed, publicKey])
  const parts = [check, check, sshPublicKey(publicKey), sshString(pair), sshString(comment)]
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const padding = Uint8Array.from({ length: -length & 7 }, (_, i) => i + 1)
  const secret = Buffer.concat([...parts, padding])
  const none = sshString('none')
  const head = [MAGIC, none, none, sshString(''), sshUint32(1), sshString(sshPublicKey(publicKey))]
  return formatPem(LABEL, Buffer.concat([...head, sshString(secret)]))
}

function readContainer(bytes: Uint8Array): Container {
  const reader = new SshReader(bytes)
  if (!equalBytes(reader.bytes(MAGIC.length), MAGIC)) throw invalid('does not start as one')
  const cipher = reader.text()
  const kdf = reader.text()
  const kdfOptions = reader.string()
  if (reader.uint32() !== 1) throw invalid('does not hold exactly one key')
  const outer = new SshReader(reader.string())
  outer.expectEd25519()
  const publicKey = outer.publicKey()
  outer.expectEnd()
  const secret = reader.string()
  const tag = reader.rest()
  return { cipher, kdf, kdfOptions, publicKey, secret, tag }
}

function decrypt(container: Container, passphrase: string | undefined): Uint8Array {
  const cipher = CIPHERS.get(container.cipher)
  if (cipher === undefined) {
    const name = quoted(container.cipher.slice(0, 64))
    throw invalid(`is under the cipher ${name}: write it anew with ssh-keygen -p -Z aes256-ctr`)
  }
  if (container.kdf !== 'bcrypt') throw invalid('does not use bcrypt for its passphrase')
  if (container.tag.length !== cipher.tagBytes) throw invalid('has bytes after its end, or no tag')
  if (container.secret.length % 16 !== 0) throw invalid('has a cut block')
  if (passphrase === undefined || passphrase === '') {
    throw new KeyError('HSTORE_PASSPHRASE_NEEDED', 'the OpenSSH key is under a passphrase: give it')
  }
  const stretched = stretch(container.kdfOptions, passphrase, cipher.keyBytes + cipher.ivBytes)
  const key = stretched.subarray(0, cipher.keyBytes)
  const iv = stretched.subarray(cipher.keyBytes)
  if (cipher.name !== 'aes-128-gcm' && cipher.name !== 'aes-256-gcm') {
    // OpenSSH pads by itself.
    const decipher = createDecipheriv(cipher.name, key, iv).setAutoPadding(false)
    return Buffer.concat([decipher.update(container.secret), decipher.final()])
  }
  const decipher = createDecipheriv(cipher.name, key, iv).setAuthTag(container.tag)
  try {
    return Buffer.concat([decipher.update(container.secret), decipher.final()])
  } catch (cause) {
    throw unopened('HSTORE_PASSPHRASE_WRONG', cause)
  }
}

function stretch(options: Uint8Array, passphrase: string, length: number): Uint8Array {
  const reader = new SshReader(options)
  const salt = reader.string()
  const rounds = reader.uint32()
  reader.expectEnd()
  if (salt.length === 0 || salt.length > 1024) throw invalid(`has a salt of ${salt.length} bytes`)
  if (rounds < 1 || rounds > ROUNDS_LIMIT) {
    throw invalid(
      `has ${rounds} rounds, where 1 to ${ROUNDS_LIMIT} are read: use ssh-keygen -p -a 24`,
    )
  }
  // Loaded on use: few keys need it.
  const bcrypt = createRequire(import.meta.url)('bcrypt-pbkdf') as typeof Bcrypt
  const bytes = Buffer.from(passphrase)
  const key = new Uint8Array(length)
  bcrypt.pbkdf(bytes, bytes.length, salt, salt.length, key, length, rounds)
  return key
}

function readSecret(
  secret: Uint8Array,
  outer: Uint8Array,
  blockBytes: number,
  unequal: 'HSTORE_KEY_INVALID' | 'HSTORE_PASSPHRASE_WRONG',
): ImportedKey {
  if (secret.length % blockBytes !== 0) throw invalid('is not filled up to whole blocks')
  const reader = new SshReader(secret)
  if (reader.uint32() !== reader.uint32()) throw unopened(unequal)
  reader.expectEd25519()
  const inner = reader.publicKey()
  const pair = reader.string()
  const comment = decodeComment(reader.string())
  const padding = reader.rest()
  if (padding.length >= blockBytes || padding.some((byte, i) => byte !== i + 1)) {
    throw invalid('is not filled up with 1, 2, 3 …')
  }
  if (pair.length !== 64) throw invalid(`has a secret half of ${pair.length} bytes, not 64`)
  const seed = Uint8Array.from(pair.subarray(0, 32))
  const publicKey = publicKeyOf(seed)
  if (![outer, inner, pair.subarray(32)].every((copy) => equalBytes(copy, publicKey))) {
    throw invalid('has a public half that does not belong to its secret half: do not use it')
  }
  return { seed, publicKey, comment }
}

function unopened(
  code: 'HSTORE_KEY_INVALID' | 'HSTORE_PASSPHRASE_WRONG',
  cause?: unknown,
): KeyError {
  return code === 'HSTORE_KEY_INVALID'
    ? invalid('has two check numbers that differ: it is damaged')
    : new KeyError(code, 'this passphrase does not open the OpenSSH key: give the right one', {
        cause,
      })
}

function invalid(what: string): KeyError {
  return new KeyError('HSTORE_KEY_INVALID', `the OpenSSH key ${what}`)
}
