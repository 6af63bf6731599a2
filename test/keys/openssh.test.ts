import { ArgumentError } from '../../src/kernel/errors.ts'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import vectors from '../../fixtures/vectors/openssh-keys.json' with { type: 'json' }
import { publicKeyOf } from '../../keys/ed25519.ts'
import { formatOpenSSHPublicKey, parseOpenSSHPublicKey } from '../../keys/openssh-public.ts'
import { formatOpenSSHKey, parseOpenSSHKey } from '../../keys/openssh.ts'
import { formatPem, parsePem } from '../../keys/pem.ts'
import { formatPkcs8 } from '../../keys/pkcs8.ts'
import { sshPublicKey, sshString, sshUint32 } from '../../keys/ssh-wire.ts'
import { bytesFromHex, codeOf, flip, hasProgram, outputOf, tempFolder } from './support.ts'

const LABEL = 'OPENSSH PRIVATE KEY'
const REFUSED = new Set(['chacha20-poly1305@openssh.com', '129 rounds'])
const invalid = 'HSTORE_KEY_INVALID'
const seed = bytesFromHex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60')
const publicKey = publicKeyOf(seed)
const utf8 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text))

describe('files of ssh-keygen', () => {
  const taken = vectors.keys.filter(({ name }) => !REFUSED.has(name))
  it.each(taken)('$name', ({ text, public: line, comment, passphrase }) => {
    const key = parseOpenSSHKey(text, passphrase)
    expect(parseOpenSSHKey(utf8(text), passphrase)).toEqual(key)
    expect(key.comment).toBe(comment)
    expect(key.publicKey).toEqual(publicKeyOf(key.seed))
    expect(parseOpenSSHPublicKey(utf8(line))).toEqual({ publicKey: key.publicKey, comment })
    expect(parseOpenSSHKey(formatOpenSSHKey(key.seed, comment))).toEqual(key)
  })

  it.each(taken.filter(({ passphrase }) => passphrase))('$name, locked', ({ text }) => {
    expect(codeOf(() => parseOpenSSHKey(text))).toBe('HSTORE_PASSPHRASE_NEEDED')
    expect(codeOf(() => parseOpenSSHKey(text, ''))).toBe('HSTORE_PASSPHRASE_NEEDED')
    expect(codeOf(() => parseOpenSSHKey(text, 'wrong'))).toBe('HSTORE_PASSPHRASE_WRONG')
  })

  it.each(vectors.keys.filter(({ name }) => REFUSED.has(name)))('refuses $name', (key) => {
    const start = performance.now()
    expect(codeOf(() => parseOpenSSHKey(key.text, key.passphrase))).toBe(invalid)
    expect(performance.now() - start).toBeLessThan(1000)
  })

  it('refuses every flipped bit', () => {
    const [plain] = vectors.keys.filter(({ name }) => name === 'plain, no comment')
    const { bytes } = parsePem(plain!.text)
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = formatPem(LABEL, flip(bytes, bit))
      expect(
        codeOf(() => parseOpenSSHKey(changed)),
        `bit ${bit}`,
      ).toBe(invalid)
    }
  })

  it('refuses every cut', () => {
    const { bytes } = parsePem(vectors.keys[0]!.text)
    for (let length = 0; length < bytes.length; length++) {
      const cut = formatPem(LABEL, bytes.subarray(0, length))
      expect(
        codeOf(() => parseOpenSSHKey(cut)),
        `${length} bytes`,
      ).toBe(invalid)
    }
  })
})

describe('hostile files', () => {
  it('takes its own frame', () => {
    expect(parseOpenSSHKey(frame({}))).toEqual({ seed, publicKey, comment: 'c' })
  })

  const other = publicKeyOf(new Uint8Array(32))
  it.each<[string, Parts]>([
    ['an outer public half of another key', { outer: sshPublicKey(other) }],
    ['an inner public half of another key', { inner: sshPublicKey(other) }],
    ['a public half of another key in the secret', { pair: Buffer.concat([seed, other]) }],
    [
      'another public half everywhere',
      {
        outer: sshPublicKey(other),
        inner: sshPublicKey(other),
        pair: Buffer.concat([seed, other]),
      },
    ],
    ['a secret of 32 bytes', { pair: seed }],
    ['a secret of 96 bytes', { pair: Buffer.concat([seed, publicKey, publicKey]) }],
    ['a public half of 31 bytes', { outer: ed25519(publicKey.subarray(1)) }],
    [
      'bytes behind the outer public half',
      { outer: Buffer.concat([sshPublicKey(publicKey), seed]) },
    ],
    ['another type outside', { outer: Buffer.concat([sshString('ssh-rsa'), sshString(seed)]) }],
    ['another type inside', { inner: Buffer.concat([sshString('ssh-rsa'), sshString(seed)]) }],
    ['check numbers that differ', { checks: bytesFromHex('0000000100000002') }],
    ['padding of zeros', { padding: new Uint8Array(4) }],
    [
      'padding of a block too much',
      { padding: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) },
    ],
    ['no padding', { padding: new Uint8Array() }],
    ['no keys', { keys: 0 }],
    ['two keys', { keys: 2 }],
    ['2^32 - 1 keys', { keys: 0xffffffff }],
    ['a kdf without a cipher', { kdf: 'bcrypt' }],
    ['kdf options without a cipher', { options: seed }],
    ['a cipher without a kdf', { cipher: 'aes256-ctr' }],
    ['an unknown cipher', { cipher: 'rot13', kdf: 'bcrypt', options: bcrypt(1) }],
    ['a cipher named like a method', { cipher: 'constructor', kdf: 'bcrypt', options: bcrypt(1) }],
    ['bytes behind the end', { tail: Uint8Array.of(0) }],
    ['another start', { magic: 'openssh-key-v2\0' }],
    ['no rounds', { cipher: 'aes256-ctr', kdf: 'bcrypt', options: bcrypt(0) }],
    ['129 rounds', { cipher: 'aes256-ctr', kdf: 'bcrypt', options: bcrypt(129) }],
    ['2^32 - 1 rounds', { cipher: 'aes256-ctr', kdf: 'bcrypt', options: bcrypt(0xffffffff) }],
    ['no salt', { cipher: 'aes256-ctr', kdf: 'bcrypt', options: bcrypt(1, 0) }],
    ['a salt of 1,025 bytes', { cipher: 'aes256-ctr', kdf: 'bcrypt', options: bcrypt(1, 1025) }],
    [
      'half a block',
      { cipher: 'aes256-cbc', kdf: 'bcrypt', options: bcrypt(1), padding: seed.subarray(1) },
    ],
    ['GCM without a tag', { cipher: 'aes256-gcm@openssh.com', kdf: 'bcrypt', options: bcrypt(1) }],
  ])('refuses %s', (_, parts) => {
    expect(codeOf(() => parseOpenSSHKey(frame(parts), 'passphrase'))).toBe(invalid)
  })

  it('refuses other key files', () => {
    expect(codeOf(() => parseOpenSSHKey(formatPkcs8(seed)))).toBe(invalid)
    expect(codeOf(() => parseOpenSSHKey(formatOpenSSHPublicKey(publicKey, 'c')))).toBe(invalid)
    expect(codeOf(() => parseOpenSSHKey(''))).toBe(invalid)
    expect(() => parseOpenSSHKey(undefined as never)).toThrow(ArgumentError)
  })

  it('gives a coded error for whatever bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const file = Buffer.concat([Buffer.from('openssh-key-v1\0'), bytes])
        expect(codeOf(() => parseOpenSSHKey(formatPem(LABEL, file), 'x'))).toBe(invalid)
        expect(codeOf(() => parseOpenSSHKey(bytes))).toBe(invalid)
      }),
    )
  })
})

describe('comments', () => {
  it('may be any bytes', () => {
    const latin1 = Buffer.from('Schl\xfcssel', 'latin1')
    expect(parseOpenSSHKey(frame({ comment: latin1 })).comment).toBe('Schlüssel')
    const control = utf8('a\u001b[31m\nb\0')
    expect(parseOpenSSHKey(frame({ comment: control })).comment).toBe('a\u001b[31m\nb\0')
  })

  it('survive export and import', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (comment) => {
        expect(parseOpenSSHKey(formatOpenSSHKey(seed, comment)).comment).toBe(comment)
      }),
    )
  })

  it('never make a second line of a public key', () => {
    const line = formatOpenSSHPublicKey(publicKey, 'a\nssh-ed25519 AAAA\r\u001b\u2028')
    expect(line.match(/\n/g)).toEqual(['\n'])
    expect(line).toContain('a\\u000assh-ed25519 AAAA\\u000d\\u001b\\u2028\n')
    expect(parseOpenSSHPublicKey(utf8(line)).publicKey).toEqual(publicKey)
  })
})

describe('parseOpenSSHPublicKey', () => {
  it.each([
    '',
    '\n',
    'ssh-ed25519',
    'ssh-ed25519 ',
    'ssh-ed25519 AAAA',
    `ssh-rsa ${base64(sshPublicKey(publicKey))}`,
    `ssh-ed25519 ${base64(sshPublicKey(publicKey.subarray(1)))}`,
    `ssh-ed25519 ${base64(Buffer.concat([sshPublicKey(publicKey), seed]))}`,
    `ssh-ed25519 ${base64(sshPublicKey(publicKey))}\nssh-ed25519 ${base64(sshPublicKey(seed))}`,
    `  ssh-ed25519 ${base64(sshPublicKey(publicKey))}`,
  ])('refuses %j', (line) => {
    expect(codeOf(() => parseOpenSSHPublicKey(utf8(line)))).toBe(invalid)
  })

  it('refuses line ends before a word, as many as a file may have, without trying each twice', () => {
    const line = `ssh-ed25519 ${base64(sshPublicKey(publicKey))}`
    expect(parseOpenSSHPublicKey(utf8(`${line}${'\r\n'.repeat(32_000)}`))).toEqual({
      publicKey,
      comment: '',
    })
    const before = process.cpuUsage()
    expect(codeOf(() => parseOpenSSHPublicKey(utf8(`${line}${'\r\n'.repeat(32_000)}x`)))).toBe(
      invalid,
    )
    expect(codeOf(() => parseOpenSSHPublicKey(utf8(`${line}${'\n'.repeat(70_000)}`)))).toBe(invalid)
    expect(process.cpuUsage(before).user).toBeLessThan(500_000)
  })

  it('formats no key of another length', () => {
    expect(codeOf(() => formatOpenSSHPublicKey(new Uint8Array(31), ''))).toBe(invalid)
    expect(codeOf(() => formatOpenSSHKey(new Uint8Array(31), ''))).toBe(invalid)
  })
})

describe.skipIf(!hasProgram('ssh-keygen', '-?'))('with ssh-keygen', () => {
  it('reads what is exported', async () => {
    const path = join(await tempFolder(), 'id')
    for (const comment of ['', 'a', 'ab', 'worker@example.test', 'Schlüssel 鍵']) {
      await writeFile(path, formatOpenSSHKey(seed, comment), { mode: 0o600 })
      const line = formatOpenSSHPublicKey(publicKey, comment)
      expect(outputOf('ssh-keygen', '-y', '-f', path)).toBe(line)
    }
  })
})

interface Parts {
  magic?: string
  cipher?: string
  kdf?: string
  options?: Uint8Array
  keys?: number
  outer?: Uint8Array
  checks?: Uint8Array
  inner?: Uint8Array
  pair?: Uint8Array
  comment?: Uint8Array
  padding?: Uint8Array
  tail?: Uint8Array
}

function frame(parts: Parts): string {
  const content = Buffer.concat([
    parts.checks ?? new Uint8Array(8),
    parts.inner ?? sshPublicKey(publicKey),
    sshString(parts.pair ?? Buffer.concat([seed, publicKey])),
    sshString(parts.comment ?? 'c'),
  ])
  const usual = Uint8Array.from({ length: -content.length & 7 }, (_, i) => i + 1)
  const secret = Buffer.concat([content, parts.padding ?? usual])
  return formatPem(LABEL, Buffer.concat([head(parts), sshString(secret), parts.tail ?? utf8('')]))
}

function head(parts: Parts): Uint8Array {
  return Buffer.concat([
    utf8(parts.magic ?? 'openssh-key-v1\0'),
    sshString(parts.cipher ?? 'none'),
    sshString(parts.kdf ?? 'none'),
    sshString(parts.options ?? ''),
    sshUint32(parts.keys ?? 1),
    sshString(parts.outer ?? sshPublicKey(publicKey)),
  ])
}

function bcrypt(rounds: number, saltBytes = 16): Uint8Array {
  return Buffer.concat([sshString(new Uint8Array(saltBytes)), sshUint32(rounds)])
}

function ed25519(key: Uint8Array): Uint8Array {
  return Buffer.concat([sshString('ssh-ed25519'), sshString(key)])
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}
