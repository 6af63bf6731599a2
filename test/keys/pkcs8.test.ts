import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { der, derInteger, TAG } from '../../keys/der.ts'
import { privateKeyOf } from '../../keys/ed25519.ts'
import { formatPem, parsePem } from '../../keys/pem.ts'
import { formatEncryptedPkcs8, formatPkcs8, parsePkcs8, unlockPkcs8 } from '../../keys/pkcs8.ts'
import type { LockedKey } from '../../keys/pkcs8.ts'
import { bytesFromHex, codeOf, flip, hasProgram, outputOf, tempFolder } from './support.ts'

const seed = bytesFromHex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60')
const key = privateKeyOf(seed)
const passphrase = 'pässwörd 🔑'
const invalid = 'HSTORE_KEY_INVALID'
/** node writes 2,048 rounds, which is quick to open. */
const quick = key.export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase })

describe('plain', () => {
  it('is what node writes, and the other way round', () => {
    expect(formatPkcs8(seed)).toBe(key.export({ format: 'pem', type: 'pkcs8' }))
    expect(parsePkcs8(formatPkcs8(seed))).toEqual({ seed })
  })

  it('refuses every cut and every byte more', () => {
    const { bytes } = parsePem(formatPkcs8(seed))
    for (let length = 0; length < bytes.length; length++) {
      const cut = formatPem('PRIVATE KEY', bytes.subarray(0, length))
      expect(
        codeOf(() => parsePkcs8(cut)),
        `${length} bytes`,
      ).toBe(invalid)
    }
    const more = formatPem('PRIVATE KEY', Buffer.concat([bytes, Buffer.alloc(1)]))
    expect(codeOf(() => parsePkcs8(more))).toBe(invalid)
  })

  it('refuses every flipped bit in front of the seed', () => {
    const { bytes } = parsePem(formatPkcs8(seed))
    for (let bit = 0; bit < (bytes.length - 32) * 8; bit++) {
      const changed = formatPem('PRIVATE KEY', flip(bytes, bit))
      expect(
        codeOf(() => parsePkcs8(changed)),
        `bit ${bit}`,
      ).toBe(invalid)
    }
  })

  it.each(['ed448', 'x25519'] as const)('refuses %s', (type) => {
    const other = generateKeyPairSync(type as 'ed448').privateKey
    const pem = other.export({ format: 'pem', type: 'pkcs8' })
    expect(codeOf(() => parsePkcs8(pem))).toBe(invalid)
  })

  it('refuses P-256 and public keys', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    for (const type of ['pkcs8', 'sec1'] as const) {
      expect(codeOf(() => parsePkcs8(privateKey.export({ format: 'pem', type })))).toBe(invalid)
    }
    const shown = publicKey.export({ format: 'pem', type: 'spki' })
    expect(codeOf(() => parsePkcs8(shown))).toBe(invalid)
  })
})

describe('encrypted', () => {
  it('opens in node, and node’s opens here', () => {
    const pem = formatEncryptedPkcs8(seed, passphrase)
    expect(createPrivateKey({ key: pem, passphrase }).equals(key)).toBe(true)
    expect(unlockPkcs8(lockedOf(pem), passphrase)).toEqual(seed)
    expect(unlockPkcs8(lockedOf(quick), passphrase)).toEqual(seed)
  })

  it('has 600,000 rounds, and salt and IV of its own each time', () => {
    const [a, b] = [1, 2].map(() => lockedOf(formatEncryptedPkcs8(seed, 'x')))
    expect(a!.rounds).toBe(600_000)
    expect(a!.salt).not.toEqual(b!.salt)
    expect(a!.iv).not.toEqual(b!.iv)
    expect([a!.salt.length, a!.iv.length, a!.ciphertext.length]).toEqual([16, 16, 64])
  })

  it('asks for a passphrase, and takes only the right one', () => {
    const locked = lockedOf(quick)
    expect(codeOf(() => unlockPkcs8(locked, undefined))).toBe('HSTORE_PASSPHRASE_NEEDED')
    expect(codeOf(() => unlockPkcs8(locked, ''))).toBe('HSTORE_PASSPHRASE_NEEDED')
    for (let i = 0; i < 600; i++) {
      // Some of these give good padding by chance.
      expect(codeOf(() => unlockPkcs8(locked, `wrong ${i}`))).toBe('HSTORE_PASSPHRASE_WRONG')
    }
  })

  it('never gives another key for a damaged ciphertext without notice', () => {
    const locked = lockedOf(quick)
    for (let bit = 0; bit < locked.ciphertext.length * 8; bit += 5) {
      const ciphertext = flip(locked.ciphertext, bit)
      const code = codeOf(() => {
        const opened = unlockPkcs8({ ...locked, ciphertext }, passphrase)
        // CBC carries no check: a block of the seed may come out changed. Then the public half tells.
        expect(opened).not.toEqual(seed)
      })
      expect(['HSTORE_PASSPHRASE_WRONG', invalid, 'accepted']).toContain(code)
    }
  })

  it('refuses every cut', () => {
    const { bytes } = parsePem(quick)
    for (let length = 0; length < bytes.length; length++) {
      const cut = formatPem('ENCRYPTED PRIVATE KEY', bytes.subarray(0, length))
      expect(codeOf(() => parsePkcs8(cut))).toBe(invalid)
    }
  })

  it.each(['ed448', 'x25519'] as const)('refuses %s behind the right passphrase', (type) => {
    const other = generateKeyPairSync(type as 'ed448').privateKey
    const pem = other.export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase })
    expect(codeOf(() => unlockPkcs8(lockedOf(pem), passphrase))).toBe(invalid)
  })
})

describe('hostile parameters', () => {
  it('takes its own frame, with a key length and without', () => {
    expect(lockedOf(frame({})).rounds).toBe(1000)
    expect(lockedOf(frame({ keyLength: derInteger(32) })).rounds).toBe(1000)
    expect(lockedOf(frame({ rounds: derInteger(2_000_000) })).rounds).toBe(2_000_000)
  })

  it.each<[string, Parameters<typeof frame>[0]]>([
    ['no rounds', { rounds: derInteger(0) }],
    ['one round above the limit', { rounds: derInteger(2_000_001) }],
    ['2^31 - 1 rounds', { rounds: derInteger(0x7fffffff) }],
    ['2^64 rounds', { rounds: bytesFromHex('0209010000000000000000') }],
    ['negative rounds', { rounds: bytesFromHex('0201ff') }],
    ['another key length', { keyLength: derInteger(16) }],
    ['no salt', { salt: new Uint8Array() }],
    ['a salt of 1,025 bytes', { salt: new Uint8Array(1025) }],
    ['HMAC-SHA-1', { hash: bytesFromHex('2a864886f70d0207') }],
    ['no NULL', { nothing: new Uint8Array() }],
    ['scrypt', { kdf: bytesFromHex('2b06010401da47040b') }],
    ['AES-128-CBC', { cipher: bytesFromHex('608648016503040102') }],
    ['an IV of 15 bytes', { iv: new Uint8Array(15) }],
    ['an IV of 17 bytes', { iv: new Uint8Array(17) }],
    ['PBES1', { scheme: bytesFromHex('2a864886f70d01050a') }],
    ['no ciphertext', { ciphertext: new Uint8Array() }],
    ['half a block', { ciphertext: new Uint8Array(24) }],
  ])('refuses %s', (_, changes) => {
    expect(codeOf(() => parsePkcs8(frame(changes)))).toBe(invalid)
  })
})

describe.skipIf(!hasProgram('openssl', 'version'))('with openssl', () => {
  it('opens there, and what openssl writes opens here', async () => {
    const folder = await tempFolder()
    const ours = join(folder, 'ours.pem')
    await writeFile(ours, formatEncryptedPkcs8(seed, passphrase), { mode: 0o600 })
    const from = ['-in', ours, '-passin', `pass:${passphrase}`]
    const to = '-v2 aes-256-cbc -iter 5000 -passout pass:other'.split(' ')
    expect(outputOf('openssl', 'pkey', ...from)).toBe(formatPkcs8(seed))
    const theirs = outputOf('openssl', 'pkcs8', '-topk8', ...from, ...to)
    expect(lockedOf(theirs).rounds).toBe(5000)
    expect(unlockPkcs8(lockedOf(theirs), 'other')).toEqual(seed)
  })
})

function lockedOf(pem: string | Buffer): LockedKey {
  const file = parsePkcs8(pem)
  if (!('locked' in file)) throw new Error('expected an encrypted key')
  return file.locked
}

function frame(changes: {
  scheme?: Uint8Array
  kdf?: Uint8Array
  salt?: Uint8Array
  rounds?: Uint8Array
  keyLength?: Uint8Array
  hash?: Uint8Array
  nothing?: Uint8Array
  cipher?: Uint8Array
  iv?: Uint8Array
  ciphertext?: Uint8Array
}): string {
  const none = new Uint8Array()
  const name = (given: Uint8Array | undefined, usual: string): Uint8Array =>
    der(TAG.oid, given ?? bytesFromHex(usual))
  const sequence = (...parts: Uint8Array[]): Uint8Array => der(TAG.sequence, ...parts)
  const octets = (given: Uint8Array | undefined, length: number): Uint8Array =>
    der(TAG.octets, given ?? new Uint8Array(length).fill(1))
  const hash = sequence(name(changes.hash, '2a864886f70d0209'), changes.nothing ?? der(TAG.null))
  const pbkdf2 = sequence(
    octets(changes.salt, 16),
    changes.rounds ?? derInteger(1000),
    changes.keyLength ?? none,
    hash,
  )
  const scheme = sequence(
    sequence(name(changes.kdf, '2a864886f70d01050c'), pbkdf2),
    sequence(name(changes.cipher, '60864801650304012a'), octets(changes.iv, 16)),
  )
  const algorithm = sequence(name(changes.scheme, '2a864886f70d01050d'), scheme)
  const bytes = sequence(algorithm, octets(changes.ciphertext, 64))
  return formatPem('ENCRYPTED PRIVATE KEY', bytes)
}
