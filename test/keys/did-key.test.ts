import { ArgumentError } from '../../src/kernel/errors.ts'
import * as fc from 'fast-check'
import { base58btc } from 'multiformats/bases/base58'
import { describe, expect, it } from 'vitest'
import vectors from '../../fixtures/vectors/did-key.json' with { type: 'json' }
import { formatDidKey, isDidKey, parseDidKey } from '../../keys/did-key.ts'
import { isPublicKey, publicKeyOf } from '../../keys/ed25519.ts'
import { bytesFromHex, codeOf } from './support.ts'

const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 })

describe('known answers', () => {
  it.each(vectors.valid)('$did', ({ seed, did }) => {
    const publicKey = publicKeyOf(bytesFromHex(seed))
    expect(formatDidKey(publicKey)).toBe(did)
    expect(parseDidKey(did)).toEqual(publicKey)
    expect(isDidKey(did)).toBe(true)
  })

  it.each(vectors.invalid)('refuses $why', ({ text }) => {
    expect(isDidKey(text)).toBe(false)
    expect(codeOf(() => parseDidKey(text))).toBe('HSTORE_DID_INVALID')
  })
})

describe('parseDidKey', () => {
  it('is the inverse of formatDidKey, which agrees with multiformats', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const publicKey = publicKeyOf(seed)
        const did = formatDidKey(publicKey)
        expect(did).toBe(`did:key:${base58btc.encode(Uint8Array.of(0xed, 0x01, ...publicKey))}`)
        expect(parseDidKey(did)).toEqual(publicKey)
      }),
    )
  })

  it('takes little time, as a roster may name 20,000 keys', () => {
    const dids = Array.from({ length: 2500 }, (_, i) => {
      const seed = Buffer.alloc(32)
      seed.writeUInt32BE(i)
      return formatDidKey(publicKeyOf(new Uint8Array(seed)))
    })
    const before = process.cpuUsage()
    expect(dids.filter((did) => !isDidKey(did))).toEqual([])
    expect(process.cpuUsage(before).user).toBeLessThan(450_000)
  })

  it('takes nothing that it would write otherwise', () => {
    const character = fc.constantFrom(
      ...Array.from('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'),
    )
    fc.assert(
      fc.property(seeds, fc.nat(55), character, (seed, at, other) => {
        const did = formatDidKey(publicKeyOf(seed))
        const changed = did.slice(0, at) + other + did.slice(at + 1)
        if (!isDidKey(changed)) {
          expect(codeOf(() => parseDidKey(changed))).toBe('HSTORE_DID_INVALID')
          return
        }
        const publicKey = parseDidKey(changed)
        expect(isPublicKey(publicKey)).toBe(true)
        expect(formatDidKey(publicKey)).toBe(changed)
      }),
    )
  })

  it('gives each caller bytes of its own', () => {
    const did = vectors.valid[0]!.did
    parseDidKey(did).fill(0)
    expect(formatDidKey(parseDidKey(did))).toBe(did)
  })

  it.each([undefined, null, 7, {}, [], new Uint8Array(32), { toString: () => 'did:key:z6Mk' }])(
    'refuses what is no text: %s',
    (value) => {
      expect(codeOf(() => parseDidKey(value as never))).toBe('HSTORE_DID_INVALID')
      expect(isDidKey(value)).toBe(false)
    },
  )

  it('says what is wrong in one line, whatever the text', () => {
    const text = `did:key:z6Mk\n\u001b[31m${'x'.repeat(100_000)}`
    expect(() => parseDidKey(text)).toThrow(/^\P{Control}{1,300}$/u)
  })
})

describe('formatDidKey', () => {
  it.each([0, 31, 33, 64])('refuses %i bytes', (length) => {
    expect(codeOf(() => formatDidKey(new Uint8Array(length).fill(9)))).toBe('HSTORE_KEY_INVALID')
  })

  it('refuses weak keys', () => {
    for (const first of [0, 1, 0xff]) {
      const weak = new Uint8Array(32).fill(first === 0xff ? 0xff : 0)
      weak[0] = first
      expect(codeOf(() => formatDidKey(weak))).toBe('HSTORE_KEY_INVALID')
    }
  })

  it('throws HSTORE_ARGUMENT_INVALID for what is no bytes', () => {
    expect(() => formatDidKey('z6Mk' as never)).toThrow(ArgumentError)
  })
})
