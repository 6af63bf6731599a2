import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeForm, encodeForm } from '../../store/canonical.ts'
import type { JsonForm } from '../../store/canonical.ts'
import { encodeValue } from '../../store/canonical-value.ts'
import { writeCanonical } from '../../store/canonical-write.ts'
import { StoreError } from '../../store/errors.ts'

// few keys of each length, so that many objects have their number of keys, first and last key in common
const key = fc.constantFrom('a', 'b', 'c', 'id', 'ä', '｡', '😀', '10', '9', '__proto__', 'toJSON')
const leaf = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.maxSafeInteger(),
  fc.boolean(),
  fc.constant(null),
)
const { tree } = fc.letrec<{ tree: JsonForm }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    { weight: 2, arbitrary: leaf },
    { weight: 1, arbitrary: fc.array(tie('tree'), { maxLength: 4 }) },
    { weight: 3, arbitrary: fc.dictionary(key, tie('tree'), { maxKeys: 6 }) },
  ),
}))
const map = fc.dictionary(key, tree, { maxKeys: 8 })

describe('encodeValue', () => {
  it('gives the bytes of the slow writer, and the form that they are read as', () => {
    fc.assert(
      fc.property(map, (value) => {
        const { form, bytes } = encodeValue(value)
        expect(Buffer.from(bytes).equals(writeCanonical(value))).toBe(true)
        const read = decodeForm(bytes).form
        expect(JSON.stringify(form)).toBe(JSON.stringify(read))
        expect(form).toEqual(read)
      }),
      { numRuns: 2000 },
    )
  })

  it('takes no keys for others that have their number, first and last in common', () => {
    for (const middle of ['b', 'c', '__proto__', '0', '/', 'd', 'b', '/', '0', 'b']) {
      const value = Object.fromEntries([['z', 1] as const, [middle, 2] as const, ['a', 3] as const])
      let text: string | undefined
      try {
        text = Buffer.from(encodeForm(value)).toString()
      } catch (error) {
        expect(error).toBeInstanceOf(StoreError)
      }
      if (text === undefined) expect(() => encodeValue(value)).toThrow(StoreError)
      else expect(Buffer.from(encodeValue(value).bytes).toString()).toBe(text)
    }
  })

  it('sorts more keys than it remembers, and keys longer than it remembers', () => {
    for (const keys of [Array.from({ length: 40 }, (_, i) => `k${i}`), ['z'.repeat(3000), 'a']]) {
      const value = Object.fromEntries(keys.map((name, i) => [name, i]))
      for (let i = 0; i < 2; i++)
        expect(Buffer.from(encodeValue(value).bytes).equals(encodeForm(value))).toBe(true)
    }
  })

  it('copies: what the caller changes later changes nothing', () => {
    const value = { b: [1, { d: 1, c: 2 }], a: 'x' }
    const { form } = encodeValue(value)
    ;(value.b[1] as { d: number }).d = 9
    value.b.push(3)
    expect(form).toEqual({ a: 'x', b: [1, { c: 2, d: 1 }] })
  })
})
