import { ArgumentError } from '../../src/kernel/errors.ts'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pae } from '../../keys/pae.ts'

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()
const bytes = (value: string): Uint8Array => Uint8Array.from(Buffer.from(value))

describe('pae', () => {
  it('gives the example of the DSSE protocol', () => {
    expect(text(pae('http://example.com/HelloWorld', bytes('hello world')))).toBe(
      'DSSEv1 29 http://example.com/HelloWorld 11 hello world',
    )
  })

  it('takes empty parts, and counts bytes, not characters', () => {
    expect(text(pae('', new Uint8Array()))).toBe('DSSEv1 0  0 ')
    expect(text(pae('téxt/☃', bytes('鍵')))).toBe('DSSEv1 9 téxt/☃ 3 鍵')
  })

  it('is one to one', () => {
    const part = fc.string({ unit: fc.constantFrom('1', '2', ' ', 'a'), maxLength: 6 })
    fc.assert(
      fc.property(part, part, part, part, (type, body, otherType, otherBody) => {
        const isSame = type === otherType && body === otherBody
        const a = text(pae(type, bytes(body)))
        expect(a === text(pae(otherType, bytes(otherBody)))).toBe(isSame)
      }),
    )
  })

  it('gives a plain Uint8Array, also from a Buffer', () => {
    expect(pae('t', Buffer.from('b')).constructor).toBe(Uint8Array)
  })

  it('throws HSTORE_ARGUMENT_INVALID for other types', () => {
    expect(() => pae(undefined as never, new Uint8Array())).toThrow(ArgumentError)
    expect(() => pae('t', 'body' as never)).toThrow(ArgumentError)
  })
})
