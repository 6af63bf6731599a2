import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Budget } from '../../store/budget.ts'
import { SnappyStream } from '../../store/snappy.ts'

const limit = 1000

function streamOf(bytes: readonly number[], units = 1e6): SnappyStream {
  return new SnappyStream(Uint8Array.from(bytes), limit, new Budget(units))
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')
const [a, b, c] = [97, 98, 99]

describe('SnappyStream', () => {
  it.each([
    ['a literal', [3, 2 << 2, a, b, c], 'abc'],
    ['a literal with its length in a byte', [3, 60 << 2, 2, a, b, c], 'abc'],
    ['a literal with its length in four', [3, 63 << 2, 2, 0, 0, 0, a, b, c], 'abc'],
    ['a copy with one byte', [9, 2 << 2, a, b, c, (2 << 2) | 1, 3], 'abcabcabc'],
    ['a copy with two bytes', [5, 2 << 2, a, b, c, (1 << 2) | 2, 2, 0], 'abcbc'],
    ['a copy with four bytes', [5, 2 << 2, a, b, c, (1 << 2) | 3, 3, 0, 0, 0], 'abcab'],
    ['a copy of what it makes', [8, 0, a, (6 << 2) | 2, 1, 0], 'aaaaaaaa'],
  ])('reads %s, and finds where it ends', (_, bytes, text) => {
    const stream = streamOf([0, ...bytes, 77, 77])
    expect(stream.findEnd(1)).toBe(1 + bytes.length)
    expect(textOf(stream.read(1))).toBe(text)
  })

  it.each([
    ['nothing', [], ''],
    ['a length of zero', [0, 0, a], ''],
    ['a length over the limit', [0xe9, 7, 0, a], ''],
    ['a length that does not end', [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0], ''],
    ['a cut literal', [3, 0, a, 1 << 2, b], 'a'],
    ['a copy from before the beginning', [9, 0, a, 1, 2], 'a'],
    ['a copy from nowhere', [9, 0, a, 1, 0], 'a'],
    ['more than was said', [2, 0, a, 1 << 2, b, c], 'a'],
    ['a literal of 4 GiB', [3, 0, a, 63 << 2, 255, 255, 255, 255], 'a'],
  ])('of %s has no end, and reads what comes before', (_, bytes, text) => {
    const stream = streamOf(bytes)
    expect(stream.findEnd(0)).toBeUndefined()
    expect(textOf(stream.read(0))).toBe(text)
  })

  it('ends with its budget', () => {
    const bytes = [4, 0, a, 0, b, 0, c, 0, a]
    expect(streamOf(bytes, 32).findEnd(0)).toBe(9)
    expect(streamOf(bytes, 31).findEnd(0)).toBeUndefined()
    expect(streamOf(bytes, 3).read(0)).toHaveLength(0)
  })

  it('makes no more than its limit of any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const stream = streamOf([...bytes])
        const end = stream.findEnd(0)
        const { length } = stream.read(0)
        expect(length).toBeLessThanOrEqual(limit)
        expect(end ?? 0).toBeLessThanOrEqual(bytes.length)
        if (end !== undefined) expect(length).toBeGreaterThan(0)
      }),
    )
  })
})
