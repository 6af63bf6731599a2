import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cidTextOf } from '../../store/cid-text.ts'
import {
  blockKey,
  decodeRow,
  encodeRow,
  entryKey,
  entryPrefix,
  nameKey,
  namePrefix,
  parseEntryKey,
  rowKey,
  rowRange,
  tipKey,
  withoutSublevel,
} from '../../store/keyspace.ts'

const cid = cidTextOf(new Uint8Array(), 'dag-json')
const other = cidTextOf(new Uint8Array(1), 'raw')
const text = fc.string({ unit: 'grapheme', maxLength: 300 })
const stream = text.map((id) => `csag:${id.replaceAll(/\p{Cc}/gu, '')}`)
const seq = fc.nat({ max: Number.MAX_SAFE_INTEGER })
const names = fc.oneof(text, fc.constantFrom('', '=', '#', '\u0000', 'x'.repeat(256)), longText())

describe('keys', () => {
  it('never give one key to two pairs of stream and name', () => {
    const pair = fc.tuple(stream, names)
    fc.assert(
      fc.property(pair, pair, (a, b) => {
        const same = a[0] === b[0] && a[1] === b[1]
        expect(nameKey(...a) === nameKey(...b)).toBe(same)
        expect(tipKey(...a) === tipKey(...b)).toBe(same)
      }),
    )
  })

  it('stay short however long a name is', () => {
    const long = 'n'.repeat(2 * 1024 * 1024)
    expect(nameKey('csag:w', long).length).toBeLessThan(100)
    expect(nameKey('csag:w', `${long}a`)).not.toBe(nameKey('csag:w', `${long}b`))
    expect(nameKey('csag:w', 'ä'.repeat(128))).toContain('ä')
    expect(nameKey('csag:w', 'ä'.repeat(129))).not.toContain('ä')
    const spelt = nameKey('csag:w', long).slice(namePrefix('csag:w').length)
    expect(nameKey('csag:w', spelt)).not.toBe(nameKey('csag:w', long))
  })

  it('order entries of a stream by seq as a number', () => {
    fc.assert(
      fc.property(stream, seq, seq, (stream, a, b) => {
        const order = entryKey(stream, a, cid) < entryKey(stream, b, cid)
        expect(order).toBe(a < b)
        expect(parseEntryKey(entryKey(stream, a, other))).toEqual({ stream, seq: a, cid: other })
      }),
    )
  })

  it('give ranges that hold the rows with a prefix and no others', () => {
    const inRange = (prefix: string, key: string): boolean => {
      const { gte, lt } = rowRange('names', prefix)
      const bytes = Buffer.from(rowKey('names', key))
      return bytes.compare(gte) >= 0 && bytes.compare(lt) < 0
    }
    fc.assert(
      fc.property(stream, stream, names, (a, b, name) => {
        expect(inRange(namePrefix(a), nameKey(a, name))).toBe(true)
        expect(inRange(namePrefix(a), nameKey(b, name))).toBe(a === b)
        expect(inRange('', nameKey(b, name))).toBe(true)
        expect(inRange(a, `${a}\u{10ffff}${name}`)).toBe(true)
      }),
    )
    expect(entryPrefix('csag:w')).not.toBe(entryPrefix('csag:w1').slice(0, -1))
  })

  it('keep blocks and the rows of each index apart', () => {
    const keys = [blockKey(cid), rowKey('heads', cid), rowKey('bodies', cid), rowKey('meta', cid)]
    expect(new Set(keys).size).toBe(4)
    expect(keys.map(withoutSublevel)).toEqual([cid, cid, cid, cid])
    expect(withoutSublevel(rowKey('meta', 'a!b'))).toBe('a!b')
  })
})

describe('rows', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(fc.array(text), (values) => {
        expect(decodeRow(encodeRow(values))).toEqual(values)
      }),
    )
  })

  it.each(['', '[', 'null', '{}', '["a",1]', '[["a"]]', '"a"'])(
    'are not read from %s',
    (stored) => {
      expect(decodeRow(stored)).toBeUndefined()
    },
  )
})

function longText(): fc.Arbitrary<string> {
  return fc
    .tuple(fc.nat(40), fc.constantFrom('a', 'é', '🌍'))
    .map(([n, unit]) => unit.repeat(240 + n))
}
