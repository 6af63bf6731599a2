import { describe, expect, it } from 'vitest'
import {
  compareDecimals,
  decimalOf,
  digit,
  hasLineBreak,
  isNumber,
  lineAt,
  linesOf,
  nextDecimal,
  trim,
  withPlainLineEnds,
} from '../../../src/contracts/turns/text.ts'

const everyCharacter = Array.from({ length: 0x110000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))

/** The characters that Python 3.11 takes for white space, and those that end a line, as its documentation lists them. */
const white =
  '\t\n\v\f\r\u001c\u001d\u001e\u001f \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000'
const breaks = '\n\v\f\r\u001c\u001d\u001e\u0085\u2028\u2029'

describe('white space', () => {
  it('is that of Python, among all characters', () => {
    expect(everyCharacter.filter((character) => trim(character) === '').join('')).toBe(white)
  })

  it('goes from both ends alone', () => {
    expect(trim('\u001f\u0085 a \u2003b\ufeff \n')).toBe('a \u2003b\ufeff')
    expect(trim(white)).toBe('')
  })
})

describe('lines', () => {
  it('end with what ends them in Python, among all characters', () => {
    expect(everyCharacter.filter(hasLineBreak).join('')).toBe(breaks)
  })

  it('are those between, CRLF being one end', () => {
    expect(linesOf('a\r\nb\u2028c\u001fd\n')).toEqual(['a', 'b', 'c\u001fd', ''])
    expect(lineAt('a\r\nb\u2028c', 0)).toEqual({ line: 'a', end: '\r\n' })
    expect(lineAt('a\r\nb\u2028c', 3)).toEqual({ line: 'b', end: '\u2028' })
    expect(lineAt('a\r\nb\u2028c', 5)).toEqual({ line: 'c', end: '' })
    expect(withPlainLineEnds('a\r\nb\u2028c\u001fd\n')).toBe('a\nb\nc\u001fd\n')
  })
})

describe('digits', () => {
  const all = everyCharacter.filter((character) => new RegExp(digit, 'u').test(character))

  it('are the 660 of Unicode 14, on any machine', () => {
    expect(all).toHaveLength(660)
    expect(all.filter((character) => !/\p{Nd}/u.test(character))).toEqual([])
  })

  it('have the value of their place in a run of ten', () => {
    const values = all.map((character) => decimalOf(character))
    expect(values).toEqual(all.map((_, i) => String(i % 10)))
  })

  it('make numbers', () => {
    expect([isNumber('٣'), isNumber('１2'), isNumber(''), isNumber('²'), isNumber('-1')]).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
    expect([decimalOf('007'), decimalOf('000'), decimalOf('１٢')]).toEqual(['7', '0', '12'])
  })
})

describe('values of numbers', () => {
  it.each([
    ['0', '1'],
    ['9', '10'],
    ['1099', '1100'],
    ['9007199254740993', '9007199254740994'],
    ['9'.repeat(50), `1${'0'.repeat(50)}`],
  ])('%s comes before %s', (value, next) => {
    expect(nextDecimal(value)).toBe(next)
    expect(compareDecimals(value, next)).toBeLessThan(0)
    expect(compareDecimals(next, value)).toBeGreaterThan(0)
    expect(compareDecimals(next, next)).toBe(0)
  })
})
