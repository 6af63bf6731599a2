import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { der, derInteger, DerReader, TAG } from '../../keys/der.ts'
import { bytesFromHex, codeOf } from './support.ts'

describe('der', () => {
  it('reads back what it writes, at every size of length', () => {
    for (const length of [0, 1, 127, 128, 255, 256, 65_535]) {
      const content = new Uint8Array(length).fill(7)
      const reader = new DerReader(der(TAG.octets, content))
      expect(Buffer.from(reader.read(TAG.octets)).equals(content)).toBe(true)
      expect(reader.done).toBe(true)
    }
    expect(() => der(TAG.octets, new Uint8Array(65_536))).toThrow(RangeError)
  })

  it('reads back whole numbers', () => {
    fc.assert(
      fc.property(fc.nat(), (value) => {
        expect(new DerReader(derInteger(value)).integer()).toBe(value)
      }),
    )
    expect(derInteger(600_000)).toEqual(bytesFromHex('02030927c0'))
    expect(derInteger(128)).toEqual(bytesFromHex('02020080'))
  })
})

describe('DerReader', () => {
  it.each([
    ['nothing', ''],
    ['only a tag', '04'],
    ['another tag', '0500'],
    ['content cut off', '040201'],
    ['length cut off', '0482'],
    ['length of one byte, not the shortest', '04810100'],
    ['length of two bytes, not the shortest', `048200ff${'00'.repeat(255)}`],
    ['indefinite length', '04800000'],
    ['length of three bytes', '0483000001ff'],
    ['length of four bytes', '0484ffffffff'],
  ])('refuses %s', (_, hex) => {
    expect(codeOf(() => new DerReader(bytesFromHex(hex)).read(TAG.octets))).toBe(
      'HSTORE_KEY_INVALID',
    )
  })

  it.each([
    ['empty', '0200'],
    ['negative', '0201ff'],
    ['with a zero too many', '02020001'],
    ['of five bytes', '02050100000000'],
    ['above 2^31 - 1', '02050080000000'],
  ])('refuses a number that is %s', (_, hex) => {
    expect(codeOf(() => new DerReader(bytesFromHex(hex)).integer())).toBe('HSTORE_KEY_INVALID')
  })

  it('refuses bytes behind the end, another name, and a NULL with content', () => {
    const name = bytesFromHex('2b6570')
    expect(codeOf(() => new DerReader(bytesFromHex('00')).expectEnd())).toBe('HSTORE_KEY_INVALID')
    const other = new DerReader(der(TAG.oid, bytesFromHex('2b6571')))
    expect(codeOf(() => other.expectOid(name, 'Ed25519'))).toBe('HSTORE_KEY_INVALID')
    const filled = new DerReader(der(TAG.null, name))
    expect(codeOf(() => filled.expectNull())).toBe('HSTORE_KEY_INVALID')
  })
})
