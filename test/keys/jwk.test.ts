import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { publicKeyOf } from '../../keys/ed25519.ts'
import { KeyError } from '../../keys/errors.ts'
import { parseJwk, privateJwk, publicJwk } from '../../keys/jwk.ts'
import { parsePrivateKey } from '../../keys/private-key.ts'
import { ArgumentError } from '../../src/kernel/errors.ts'
import { bytesFromHex, codeOf } from './support.ts'

const invalid = 'HSTORE_KEY_INVALID'
const seed = bytesFromHex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60')
const publicKey = publicKeyOf(seed)

/** RFC 8037, appendix A.1 (the key) and A.3 (its thumbprint). */
const published = {
  kty: 'OKP',
  crv: 'Ed25519',
  d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
  x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
} as const
const thumbprint = 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'
const text = JSON.stringify(published)

function without(name: keyof typeof published): string {
  return JSON.stringify({ ...published, [name]: undefined })
}

describe('the key of RFC 8037', () => {
  it('is written as published', () => {
    expect(privateJwk(seed)).toEqual({ ...published, kid: thumbprint })
    const { d: _, ...shown } = published
    expect(publicJwk(publicKey)).toEqual({ ...shown, kid: thumbprint })
  })

  it('is read as published', () => {
    expect(parseJwk(text)).toEqual(seed)
    expect(parsePrivateKey(text)).toEqual({ seed, publicKey, comment: '' })
    expect(parsePrivateKey(Buffer.from(`\n  ${text}\n`))).toEqual({ seed, publicKey, comment: '' })
  })
})

it('agrees with node, both ways', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const key = createPrivateKey({ format: 'jwk', key: { ...privateJwk(bytes) } })
      expect(parseJwk(JSON.stringify(key.export({ format: 'jwk' })))).toEqual(bytes)
      const shown = createPublicKey({ format: 'jwk', key: { ...publicJwk(publicKeyOf(bytes)) } })
      expect(shown.equals(createPublicKey(key))).toBe(true)
    }),
    { numRuns: 50 },
  )
})

describe('parseJwk', () => {
  it('passes over members that it does not know', () => {
    const more = {
      ...published,
      kid: 'x',
      alg: 'EdDSA',
      use: 'sig',
      ext: true,
      more: [{ d: 1 }, { d: 2 }],
    }
    expect(parseJwk(JSON.stringify(more))).toEqual(seed)
  })

  const { x, d } = published
  const refused: Readonly<Record<string, string>> = {
    'a public key': without('d'),
    'a key without x': without('x'),
    'a key without kty': without('kty'),
    'a key without crv': without('crv'),
    'kty in other letters': text.replace('OKP', 'okp'),
    'kty EC': text.replace('OKP', 'EC'),
    'crv X25519': text.replace('Ed25519', 'X25519'),
    'crv as a list': text.replace('"Ed25519"', '["Ed25519"]'),
    'padding of x': text.replace(x, `${x}=`),
    'padding of d': text.replace(d, `${d}=`),
    'base64 in place of base64url': text.replace('nWGxne_9', 'nWGxne/9'),
    'white space in d': text.replace(d, ` ${d}`),
    'a bit more than 32 bytes': text.replace(d, `${d.slice(0, -1)}B`),
    '31 bytes': text.replace(d, Buffer.from(seed.subarray(1)).toString('base64url')),
    '33 bytes': text.replace(d, Buffer.concat([seed, seed.subarray(0, 1)]).toString('base64url')),
    'd as a number': text.replace(`"${d}"`, '1'),
    'd null': text.replace(`"${d}"`, 'null'),
    "another key's x": text.replace(x, publicJwk(publicKeyOf(new Uint8Array(32).fill(9))).x),
    'd twice': text.replace('{', `{"d":"${d}",`),
    'd twice, one escaped': text.replace('{', `{"\\u0064":"${d}",`),
    'a name twice further in': text.replace('{', '{"more":{"a":1,"b":[{}],"a":2},'),
    'a member from __proto__': text
      .replace('{', '{"__proto__":{"d":1},')
      .replace('"d":"n', '"e":"n'),
    'a byte order mark': `\ufeff${text}`,
    'a cut': text.slice(0, -1),
    'two values': text + text,
    'a comment': text.replace('{', '{/**/'),
    'a list': `[${text}]`,
    'a set of keys': `{"keys":[${text}]}`,
    'more than 64 KiB': text + ' '.repeat(65_536),
    'levels without end': `{"a":${'['.repeat(60_000)}`,
    nothing: '',
    null: 'null',
  }
  it.each(Object.entries(refused))('refuses %s', (_, file) => {
    expect(codeOf(() => parseJwk(file))).toBe(invalid)
    expect(codeOf(() => parseJwk(Buffer.from(file)))).toBe(invalid)
    expect(codeOf(() => parsePrivateKey(file))).toBe(invalid)
  })

  it('refuses what is no UTF-8', () => {
    const bytes = Buffer.from(text.replace('{', '{"a":"?",'))
    bytes[bytes.indexOf('?')] = 0xff
    expect(codeOf(() => parseJwk(bytes))).toBe(invalid)
  })

  it.each(['rsa', 'ec', 'x25519', 'ed448'] as const)('refuses a key of %s', (type) => {
    const options = { modulusLength: 1024, namedCurve: 'P-256' }
    const { privateKey } = generateKeyPairSync(type as 'rsa', options)
    expect(codeOf(() => parseJwk(JSON.stringify(privateKey.export({ format: 'jwk' }))))).toBe(
      invalid,
    )
  })

  it('names a public key', () => {
    expect(() => parseJwk(without('d'))).toThrow(
      'is a public key (did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw)',
    )
  })

  it('tells nobody the secret', () => {
    const files = [...Object.values(refused), text.replace('"x"', 'x'), `${text}!`]
    for (const file of files) {
      try {
        parseJwk(file)
      } catch (error) {
        expect(error).toBeInstanceOf(KeyError)
        expect((error as KeyError).cause).toBeUndefined()
        expect((error as KeyError).message).not.toContain(d.slice(0, 6))
      }
    }
  })

  it('reads no long file slowly', () => {
    const began = performance.now()
    const long = [
      `{"a":"${'a'.repeat(65_000)}"}`,
      `{"a":"${'\\\\'.repeat(32_000)}"}`,
      `{"a":["${'a"'.repeat(30_000)}]}`,
    ]
    for (const file of long) expect(codeOf(() => parseJwk(file))).toBe(invalid)
    expect(performance.now() - began).toBeLessThan(2000)
  })
})

it.each([undefined, null, 1, {}, []] as unknown[])('names a wrong argument: %s', (value) => {
  for (const door of [parseJwk, privateJwk, publicJwk, parsePrivateKey]) {
    expect(() => door(value as never)).toThrow(ArgumentError)
  }
  expect(codeOf(() => privateJwk(new Uint8Array(31)))).toBe(invalid)
  expect(codeOf(() => publicJwk(new Uint8Array(32)))).toBe(invalid)
})
