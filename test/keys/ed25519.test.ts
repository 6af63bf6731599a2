import { ArgumentError } from '../../src/kernel/errors.ts'
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { Point } from '@noble/ed25519'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import vectors from '../../fixtures/vectors/ed25519.json' with { type: 'json' }
import { verifyPortable } from '../../keys/ed25519-portable.ts'
import { isPublicKey, privateKeyOf, publicKeyOf, sign, verify } from '../../keys/ed25519.ts'
import { bytesFromHex, codeOf, flip } from './support.ts'

const backends = [
  { name: 'verify', check: verify },
  { name: 'verifyPortable', check: verifyPortable },
]
const seed = bytesFromHex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60')
const publicKey = publicKeyOf(seed)
const message = Uint8Array.from(Buffer.from('one agent leaves work for another'))
const signature = sign(message, seed)
const ORDER = Point.CURVE().n

describe('known answers', () => {
  it.each(vectors.cases)('$source: $valid', (test) => {
    const [sig, msg, key] = [test.signature, test.message, test.publicKey].map(bytesFromHex)
    expect(verify(sig!, msg!, key!)).toBe(test.valid)
    expect(verifyPortable(sig!, msg!, key!)).toBe(test.valid)
  })

  it.each(vectors.cases.filter((test) => test.seed))('$source: signs so', (test) => {
    const own = bytesFromHex(test.seed ?? '')
    expect(publicKeyOf(own)).toEqual(bytesFromHex(test.publicKey))
    expect(sign(bytesFromHex(test.message), own)).toEqual(bytesFromHex(test.signature))
    expect(sign(bytesFromHex(test.message), privateKeyOf(own))).toEqual(
      bytesFromHex(test.signature),
    )
  })
})

describe.each(backends)('$name', ({ check }) => {
  it('is false for every flipped bit of the signature', () => {
    for (let bit = 0; bit < 512; bit++) {
      expect(check(flip(signature, bit), message, publicKey), `bit ${bit}`).toBe(false)
    }
    expect(check(signature, message, publicKey)).toBe(true)
  })

  it('is false for every flipped bit of key and message', () => {
    for (let bit = 0; bit < 256; bit++) {
      expect(check(signature, message, flip(publicKey, bit)), `key bit ${bit}`).toBe(false)
    }
    for (let bit = 0; bit < message.length * 8; bit += 3) {
      expect(check(signature, flip(message, bit), publicKey), `message bit ${bit}`).toBe(false)
    }
  })

  it('is false for other lengths', () => {
    for (const length of [0, 1, 31, 32, 62, 63, 65, 66, 96, 128]) {
      const other = new Uint8Array(length)
      other.set(signature.subarray(0, length))
      expect(check(other, message, publicKey)).toBe(false)
    }
    for (const length of [0, 1, 31, 33, 64]) {
      const other = new Uint8Array(length)
      other.set(publicKey.subarray(0, length))
      expect(check(signature, message, other)).toBe(false)
    }
  })

  const wrong = [
    undefined,
    null,
    0,
    1n,
    true,
    '',
    'a'.repeat(64),
    Symbol('bytes'),
    {},
    [],
    Array.from(signature),
    () => signature,
    new ArrayBuffer(64),
    new DataView(new ArrayBuffer(64)),
    new Uint16Array(32),
    new Int8Array(64),
    { length: 64 },
    Object.create(Uint8Array.prototype),
    new Proxy(signature, {}),
    createPublicKey(
      createPrivateKey(
        generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }),
      ),
    ),
  ]
  it.each(wrong.map((value, i) => ({ i, value: value as Uint8Array })))(
    'is false for wrong type number $i',
    ({ value }) => {
      expect(check(value, message, publicKey)).toBe(false)
      expect(check(signature, value, publicKey)).toBe(false)
      expect(check(signature, message, value)).toBe(false)
    },
  )

  it('is false for bytes that lie about their length', () => {
    const lying = Object.defineProperty(new Uint8Array(65), 'length', { value: 64 })
    lying.set(signature)
    expect(check(lying, message, publicKey)).toBe(false)
  })

  it('takes Buffers and views into larger memory', () => {
    const memory = new Uint8Array(200)
    memory.set(signature, 3)
    memory.set(publicKey, 101)
    expect(check(memory.subarray(3, 67), Buffer.from(message), memory.subarray(101, 133))).toBe(
      true,
    )
  })

  it('refuses S + L and other S above L, which give the same point', () => {
    const s = numberOf(signature.subarray(32))
    for (const factor of [1n, 2n, 7n, 14n]) {
      const moved = signature.slice()
      moved.set(bytesOf(s + factor * ORDER), 32)
      expect(check(moved, message, publicKey)).toBe(false)
    }
    for (const value of [ORDER, ORDER + 1n, 2n ** 253n, 2n ** 256n - 1n]) {
      const moved = signature.slice()
      moved.set(bytesOf(value), 32)
      expect(check(moved, message, publicKey)).toBe(false)
    }
  })

  it('refuses S = 0 and an all-zero signature', () => {
    const zeroS = signature.slice().fill(0, 32)
    expect(check(zeroS, message, publicKey)).toBe(false)
    expect(check(new Uint8Array(64), message, publicKey)).toBe(false)
    expect(check(new Uint8Array(64), message, new Uint8Array(32))).toBe(false)
  })
})

describe('both verdicts', () => {
  it('agree on signatures with bytes exchanged', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 40 }),
        fc.array(fc.tuple(fc.nat(127), fc.nat(255)), { maxLength: 2 }),
        (text, changes) => {
          const both = new Uint8Array(96)
          both.set(sign(text, seed))
          both.set(publicKey, 64)
          for (const [at, byte] of changes) both[at % 96] = byte
          const verdict = verify(both.subarray(0, 64), text, both.subarray(64))
          expect(verifyPortable(both.subarray(0, 64), text, both.subarray(64))).toBe(verdict)
          const isSame = Buffer.from(both).equals(Buffer.concat([sign(text, seed), publicKey]))
          expect(verdict).toBe(isSame)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('agree on which 32 bytes are a key', () => {
    const edge = fc.constantFrom(0, 1, 0x26, 0x7f, 0x80, 0xc7, 0xec, 0xed, 0xee, 0xff)
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
    fc.assert(
      fc.property(bytes, edge, edge, edge, fc.boolean(), (key, first, middle, last, isEdge) => {
        const made = isEdge ? Uint8Array.from([first, ...Array(30).fill(middle), last]) : key
        expect(isPublicKey(made)).toBe(isNoblePoint(made))
      }),
      { numRuns: 400 },
    )
  })
})

describe('sign', () => {
  it('is deterministic, for any message', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.uint8Array({ maxLength: 300 }),
        (own, text) => {
          const made = sign(text, own)
          expect(made.constructor).toBe(Uint8Array)
          expect(sign(text, privateKeyOf(own))).toEqual(made)
          expect(verify(made, text, publicKeyOf(own))).toBe(true)
        },
      ),
      { numRuns: 50 },
    )
  })

  it.each([0, 1, 31, 33, 64])('refuses a seed of %i bytes', (length) => {
    expect(codeOf(() => sign(message, new Uint8Array(length)))).toBe('HSTORE_KEY_INVALID')
  })

  it.each([
    generateKeyPairSync('ed448').privateKey,
    generateKeyPairSync('x25519').privateKey,
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
    generateKeyPairSync('ed25519').publicKey,
  ])('refuses key objects of another kind', (key) => {
    expect(codeOf(() => sign(message, key))).toBe('HSTORE_KEY_INVALID')
    expect(codeOf(() => publicKeyOf(key))).toBe('HSTORE_KEY_INVALID')
  })

  it.each([undefined, null, 'text', 1, [], new ArrayBuffer(32)])(
    'throws HSTORE_ARGUMENT_INVALID for %s, a mistake of the caller',
    (value) => {
      expect(() => sign(value as never, seed)).toThrow(ArgumentError)
      expect(() => sign(message, value as never)).toThrow(ArgumentError)
    },
  )

  it('keeps no hold on the seed', () => {
    const own = Uint8Array.from(randomBytes(32))
    const key = privateKeyOf(own)
    const before = sign(message, key)
    own.fill(0)
    expect(sign(message, key)).toEqual(before)
  })
})

describe('the cache of keys', () => {
  it('does not follow a caller who changes bytes later', () => {
    const key = publicKeyOf(seed)
    expect(verify(signature, message, key)).toBe(true)
    key.set(publicKeyOf(new Uint8Array(32)))
    expect(verify(signature, message, key)).toBe(false)
    expect(verify(signature, message, publicKey)).toBe(true)
  })

  it('gives the right verdict past its limit', () => {
    const signers = Array.from({ length: 1100 }, (_, i) => bytesOf(BigInt(i + 1)))
    const made = signers.map((own) => ({ key: publicKeyOf(own), sig: sign(message, own) }))
    for (const round of [0, 1]) {
      for (const [i, { key }] of made.entries()) {
        const { sig } = made[(i + round) % made.length]!
        expect(verify(sig, message, key)).toBe(round === 0)
      }
    }
  })
})

function isNoblePoint(bytes: Uint8Array): boolean {
  try {
    return !Point.fromBytes(bytes, false).isSmallOrder()
  } catch {
    return false
  }
}

function numberOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes.toReversed()).toString('hex')}`)
}

function bytesOf(value: bigint): Uint8Array {
  return bytesFromHex(value.toString(16).padStart(64, '0')).toReversed()
}
