import { ArgumentError } from '../../src/kernel/errors.ts'
import * as dagJson from '@ipld/dag-json'
import { base36 } from 'multiformats/bases/base36'
import { CID } from 'multiformats/cid'
import { describe, expect, it } from 'vitest'
import { cidOf, parseCid } from '../../store/cid.ts'
import { decodeBlock, encodeBlock } from '../../store/codec.ts'
import { StoreError } from '../../store/errors.ts'
import { bytesOf, refusedBlocks, utf8, validBlocks } from './known-answers.ts'

const link = cidOf(utf8('{}'), 'dag-json')
const rawLink = cidOf(utf8('{}'), 'raw')
const digest = link.multihash

describe('decodeBlock and encodeBlock', () => {
  it.each(validBlocks)('agree on: $name', ({ text, cid, reference }) => {
    const bytes = utf8(text)
    const value = decodeBlock(bytes)
    expect(encodeBlock(value)).toEqual(bytes)
    expect(cidOf(bytes, 'dag-json').toString()).toBe(cid)
    const theirs = Buffer.from(dagJson.encode(dagJson.decode(bytes))).toString()
    expect(theirs === text).toBe(reference)
  })

  it.each(refusedBlocks)('refuse with $reason: $name', (block) => {
    expectRefusal(block.reason, () => decodeBlock(bytesOf(block)))
  })

  it('give links as CID objects and bytes as a plain Uint8Array', () => {
    const value = { bytes: Uint8Array.of(1, 2, 3), links: [link, rawLink] }
    const decoded = decodeBlock(encodeBlock(value)) as typeof value
    expect(decoded.links[0]).toBeInstanceOf(CID)
    expect(decoded.links.map(String)).toEqual([String(link), String(rawLink)])
    expect(decoded.bytes).toEqual(value.bytes)
    expect(Object.getPrototypeOf(decoded.bytes)).toBe(Uint8Array.prototype)
    expect(encodeBlock({ bytes: Buffer.of(1, 2, 3), links: [link, rawLink] })).toEqual(
      encodeBlock(value),
    )
  })

  it('give plain maps whose keys are all own', () => {
    const block = utf8('{"__proto__":{"l":[{"/":{"bytes":"AQ"}}],"verdict":"complete"},"text":"x"}')
    const value = decodeBlock(block) as Record<string, unknown>
    expect(Object.keys(value)).toEqual(['__proto__', 'text'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(value['verdict']).toBeUndefined()
    expect(({} as Record<string, unknown>)['verdict']).toBeUndefined()
    expect(encodeBlock(value)).toEqual(block)
    const direct = decodeBlock(utf8('{"__proto__":{"/":{"bytes":"AQ"}}}')) as object
    expect(Object.getOwnPropertyDescriptor(direct, '__proto__')?.value).toEqual(Uint8Array.of(1))
    expect(Object.getPrototypeOf(direct)).toBe(Object.prototype)
  })

  it('keep no hold on the bytes given', () => {
    const bytes = utf8('{"a":{"/":{"bytes":"AQID"}}}')
    const value = decodeBlock(bytes)
    bytes.fill(0)
    expect(value).toEqual({ a: Uint8Array.of(1, 2, 3) })
  })
})

describe('decodeBlock', () => {
  it.each([undefined, null, 'text', {}, [1], new ArrayBuffer(2), new Uint16Array(1)])(
    'wants bytes, not %j',
    (bytes) => {
      expect(() => decodeBlock(bytes as Uint8Array)).toThrow(ArgumentError)
    },
  )
})

describe('encodeBlock', () => {
  it.each<[string, string, unknown]>([
    ['root-not-map', 'nothing', undefined],
    ['root-not-map', 'a list', [1]],
    ['root-not-map', 'a link', link],
    ['root-not-map', 'bytes', Uint8Array.of(1)],
    ['slash-key', 'the key "/" with text', { data: { '/': 'not a link', owner: 'team-a' } }],
    ['slash-key', 'the key "/" alone', { '/': 1 }],
    ['slash-key', 'a map that looks like a link', { a: { '/': link.toString() } }],
    ['slash-key', 'a map that looks like bytes', { a: { '/': { bytes: 'AQID' } } }],
    ['slash-key', 'a map that nearly looks like a CID object', { a: { '/': 'x', bytes: 'x' } }],
    ['not-plain-data', 'undefined', { a: undefined }],
    ['not-plain-data', 'a bigint', { a: 1n }],
    ['not-plain-data', 'a function', { a: parseCid }],
    ['not-plain-data', 'a symbol', { a: Symbol('a') }],
    ['not-plain-data', 'a Date', { a: new Date(0) }],
    ['not-plain-data', 'a Map', { a: new Map([[1, 2]]) }],
    ['not-plain-data', 'a Set', { a: new Set([1]) }],
    ['not-plain-data', 'a wrapped string', { a: new String('a') }],
    ['not-plain-data', 'a regular expression', { a: /a/ }],
    ['not-plain-data', 'a typed array of other items', { a: new Uint16Array(1) }],
    ['not-plain-data', 'a DataView', { a: new DataView(new ArrayBuffer(1)) }],
    ['not-plain-data', 'an ArrayBuffer', { a: new ArrayBuffer(1) }],
    ['not-plain-data', 'an instance of a class', { a: new Blob([]) }],
    ['not-plain-data', 'an error', { a: new Error('a') }],
    [
      'not-plain-data',
      'an accessor',
      {
        get a() {
          return 1
        },
      },
    ],
    ['fraction', 'a fraction', { a: 1.5 }],
    ['fraction', 'NaN', { a: Number.NaN }],
    ['fraction', 'Infinity', { a: Number.POSITIVE_INFINITY }],
    ['negative-zero', '-0', { a: -0 }],
    ['unsafe-integer', '2^53', { a: 2 ** 53 }],
    ['unsafe-integer', '1e21', { a: 1e21 }],
    ['lone-surrogate', 'half a pair', { a: '\ud83d' }],
    ['lone-surrogate', 'half a pair in a key', { '\ud83d': 1 }],
    ['too-large', 'bytes past the limit', { a: new Uint8Array(3 * 1024 * 1024) }],
    ['too-large', 'bytes that are too long as base64', { a: new Uint8Array(2 * 1024 * 1024 - 50) }],
    ['too-deep', 'a cycle', cycle()],
    ['too-deep', 'bytes as levels 64 and 65', nest(63, Uint8Array.of(1))],
    ['too-deep', 'a link as level 65', nest(64, link)],
  ])('refuses with %s: %s', (reason, _name, value) => {
    expectRefusal(reason, () => encodeBlock(value))
  })

  it('fills the levels to the last', () => {
    for (const value of [nest(63, link), nest(62, Uint8Array.of(1)), nest(63, []), nest(64, 1)]) {
      expect(encodeBlock(decodeBlock(encodeBlock(value)))).toEqual(encodeBlock(value))
    }
  })

  it.each<[string, unknown]>([
    ['version 0', CID.createV0(digest as never)],
    ['codec dag-cbor', CID.createV1(0x71, digest)],
    ['codec dag-pb', CID.createV1(0x70, digest)],
    ['a short digest', CID.createV1(0x0129, shorter(20))],
    ['no digest', CID.createV1(0x0129, shorter(0))],
    ['the identity hash', CID.parse('baguqeaacpn6q')],
    [
      'sha2-512',
      CID.parse(
        'baguqee2ae7dum4fnw5ihl6wqldk45l33edcoo6dmqo5orizpmjxzpavpgte2gpbai3xwb7jkpb4ng6hct7wikgagxpm2m6dy6ou7dtneqmdwh7i',
      ),
    ],
    ['parts of another CID', forged({ bytes: rawLink.bytes, '/': rawLink.bytes })],
    ['another code', forged({ code: 0x55 })],
    ['another version', forged({ version: 0 })],
    ['another multihash', forged({ multihash: cidOf(utf8('x'), 'raw').multihash })],
    ['no multihash', forged({ multihash: undefined })],
  ])('refuses a link with %s', (_name, cid) => {
    expectRefusal('invalid-link', () => encodeBlock({ a: cid }))
  })

  it('takes a CID object of another copy of the class, and its bytes count', () => {
    expect(encodeBlock({ a: forged({}) })).toEqual(encodeBlock({ a: link }))
  })

  it('writes one text for a CID, however its object was spelt', () => {
    for (const spelling of [
      `${link.toString()}====`,
      `b${link.toString().slice(1).toUpperCase()}`,
    ]) {
      const cid = CID.parse(spelling)
      expect(cid.toString()).toBe(spelling)
      expect(encodeBlock({ a: cid })).toEqual(encodeBlock({ a: link }))
    }
    const other = CID.parse(link.toString(base36), base36)
    expect(other.toString(base36).startsWith('k')).toBe(true)
    expect(encodeBlock({ a: other })).toEqual(encodeBlock({ a: link }))
  })

  it('sorts keys by their UTF-8 bytes, not by UTF-16', () => {
    expect(Buffer.from(encodeBlock({ '😀': 2, '｡': 1 })).toString()).toBe('{"｡":1,"😀":2}')
    expect(cidOf(encodeBlock({ '😀': 2, '｡': 1 }), 'dag-json').toString()).toBe(
      'baguqeeraums6hto7owwr6wjfi6wkxwadhrw4zidkjwozzkwpmxstjhgg4mga',
    )
  })

  it('names what is at fault', () => {
    expect(() => encodeBlock({ id: 2 ** 64 })).toThrow(/18446744073709552000.*\/id/)
    expect(() => decodeBlock(utf8('{"id":18446744073709551615}'))).toThrow(/18446744073709551615/)
    expect(() => decodeBlock(utf8('{"amount":1,"amount":2}'))).toThrow(/duplicate key "amount"/)
    expect(() => encodeBlock({ data: { '/': 1 } })).toThrow(/key "\/"/)
  })
})

function expectRefusal(reason: string, run: () => unknown): void {
  let caught: unknown
  try {
    run()
  } catch (error) {
    caught = error
  }
  expect(caught).toBeInstanceOf(StoreError)
  expect(caught).toMatchObject({ code: 'HSTORE_BLOCK_INVALID', details: { reason } })
  expect((caught as StoreError).message).not.toMatch(/\n/)
}

/** An object with the parts of a CID, some of them replaced, as another copy of the class would make it. */
function forged(parts: object): object {
  const bytes = link.bytes.slice()
  return { code: link.code, version: link.version, multihash: digest, bytes, '/': bytes, ...parts }
}

function shorter(size: number): never {
  const bytes = Uint8Array.of(0x12, size, ...digest.digest.subarray(0, size))
  return { code: 0x12, size, digest: bytes.subarray(2), bytes } as never
}

function nest(levels: number, inner: unknown): object {
  let value = inner
  for (let i = 1; i < levels; i++) value = [value]
  return { v: value }
}

function cycle(): object {
  const list: unknown[] = []
  list.push(list)
  return { list }
}
