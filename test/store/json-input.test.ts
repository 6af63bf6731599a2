import { describe, expect, it } from 'vitest'
import { encodeFormText } from '../../store/canonical.ts'
import { parseJson, toBlockForm } from '../../store/json-input.ts'
import type { JsonRemark } from '../../store/json-input.ts'
import { utf8, validBlocks } from './known-answers.ts'

function remarksOf(text: string): readonly JsonRemark[] {
  return parseJson(utf8(text)).remarks
}

describe('parseJson', () => {
  it.each([
    '{}',
    '[]',
    'null',
    ' true ',
    '"a"',
    '-12',
    '\n{ "b" : [ 1 , 2 ] , "a" : "\\u0061\\/" }\t',
  ])('reads %j as JSON.parse does', (text) => {
    expect(parseJson(utf8(text))).toEqual({ value: JSON.parse(text), remarks: [] })
  })

  it.each<[string, string, string, string]>([
    ['{"a":1,"b":2,"a":3}', 'duplicate-key', '/a', '"a"'],
    ['{"a":1,"\\u0061":2}', 'duplicate-key', '/a', '"\\u0061"'],
    ['{"x":[{"__proto__":1,"__proto__":2}]}', 'duplicate-key', '/x/0/__proto__', '"__proto__"'],
    ['{"a":"\\ud800"}', 'lone-surrogate', '/a', '"\\ud800"'],
    ['{"a":["\\ude00\\ud83d \\" x"]}', 'lone-surrogate', '/a/0', '"\\ude00\\ud83d \\" x"'],
    ['{"\\uD800":1}', 'lone-surrogate', '/\ud800', '"\\uD800"'],
    ['{"a":1.5}', 'fraction', '/a', '1.5'],
    ['{"a":-1e-400}', 'fraction', '/a', '-1e-400'],
    ['{"a":1.000000000000000005}', 'fraction', '/a', '1.000000000000000005'],
    ['{"a":0.1e0}', 'fraction', '/a', '0.1e0'],
    ['{"a":1.0}', 'integral-float', '/a', '1.0'],
    ['{"a":1e2}', 'integral-float', '/a', '1e2'],
    ['{"a":0.5e1}', 'integral-float', '/a', '0.5e1'],
    ['{"a":100e-2}', 'integral-float', '/a', '100e-2'],
    ['{"a":0.0}', 'integral-float', '/a', '0.0'],
    ['{"a":0E99999999999999999999}', 'integral-float', '/a', '0E99999999999999999999'],
    ['{"a":9007199254740991.0}', 'integral-float', '/a', '9007199254740991.0'],
    ['{"a":-0}', 'negative-zero', '/a', '-0'],
    ['{"a":-0.0e7}', 'negative-zero', '/a', '-0.0e7'],
    ['{"a":9007199254740992}', 'unsafe-integer', '/a', '9007199254740992'],
    ['{"a":-9007199254740993}', 'unsafe-integer', '/a', '-9007199254740993'],
    ['{"a":9007199254740993.0}', 'unsafe-integer', '/a', '9007199254740993.0'],
    ['{"a":1e16}', 'unsafe-integer', '/a', '1e16'],
    ['{"a":1e400}', 'unsafe-integer', '/a', '1e400'],
    ['{"a":1e99999999999999999999}', 'unsafe-integer', '/a', '1e99999999999999999999'],
    ['[0,{"a/b~c":[[1.5]]}]', 'fraction', '/1/a~1b~0c/0/0', '1.5'],
    ['1.5', 'fraction', '', '1.5'],
  ])('remarks on %s', (text, kind, pointer, literal) => {
    expect(remarksOf(text)).toEqual([{ kind, pointer, text: literal }])
    expect(parseJson(utf8(text)).value).toEqual(JSON.parse(text))
  })

  it('counts the digits of integers, not those of other numbers', () => {
    expect(remarksOf(`[${'9'.repeat(4301)}]`)).toMatchObject([{ kind: 'long-integer' }])
    expect(remarksOf(`[-${'9'.repeat(4301)}]`)).toMatchObject([{ kind: 'long-integer' }])
    expect(remarksOf(`[-${'9'.repeat(4300)}]`)).toMatchObject([{ kind: 'unsafe-integer' }])
    expect(remarksOf(`[1.${'0'.repeat(5000)}]`)).toMatchObject([{ kind: 'integral-float' }])
    expect(remarksOf(`[1.${'0'.repeat(5000)}1]`)).toMatchObject([{ kind: 'fraction' }])
  })

  it('lists remarks in order of appearance', () => {
    const text = '{"a":1.0,"b":{"a":2.5,"a":-0},"a":["\\ud800",1e3]}'
    expect(remarksOf(text).map(({ kind, pointer }) => `${kind} ${pointer}`)).toEqual([
      'integral-float /a',
      'fraction /b/a',
      'duplicate-key /b/a',
      'negative-zero /b/a',
      'duplicate-key /a',
      'lone-surrogate /a/0',
      'integral-float /a/1',
    ])
  })

  it('keeps the first remark of each kind when there are too many', () => {
    const text = `[${'1.5,'.repeat(200_000)}1.0,{"a":1,"a":2}]`
    const kinds = remarksOf(text).map(({ kind }) => kind)
    expect(kinds.length).toBeLessThan(200_000)
    expect(kinds.slice(-2)).toEqual(['integral-float', 'duplicate-key'])
  })

  it('does not copy a long key for each item below it', () => {
    const text = `{"${'k'.repeat(500_000)}":[${'1.5,'.repeat(50_000)}1]}`
    expect(remarksOf(text).length).toBeLessThan(50)
  })

  it('gives __proto__ as an own key', () => {
    const { value } = parseJson(utf8('{"__proto__": {"a": 1}}'))
    expect(Object.keys(value as object)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  it.each<[string, string | Uint8Array, number, number, number]>([
    ['nothing', '', 1, 1, 0],
    ['white space only', ' \n ', 2, 2, 3],
    ['a comma at the end', '{"a":1,\n"b":2,}', 2, 7, 14],
    ['a comma at the end of a list', '[1,]', 1, 4, 3],
    ['a missing comma', '[1 2]', 1, 4, 3],
    ['a missing colon', '{"a" 1}', 1, 6, 5],
    ['a bare key', '{\n\n  a: 1}', 3, 3, 5],
    ['single quotes', "{'a': 1}", 1, 2, 1],
    ['NaN', '{"a": NaN}', 1, 7, 6],
    ['Infinity', '[Infinity]', 1, 2, 1],
    ['-Infinity', '[-Infinity]', 1, 3, 2],
    ['a leading zero', '[01]', 1, 3, 2],
    ['a plus sign', '[+1]', 1, 2, 1],
    ['a bare point', '[1.]', 1, 4, 3],
    ['a point first', '[.5]', 1, 2, 1],
    ['a bare exponent', '[1e]', 1, 4, 3],
    ['a bare signed exponent', '[1e+]', 1, 5, 4],
    ['a minus alone', '[-]', 1, 3, 2],
    ['a number that ends the text in a point', '1.', 1, 3, 2],
    ['a comment', '[1]/**/', 1, 4, 3],
    ['a second value', '{}{}', 1, 3, 2],
    ['a cut list', '[1,', 1, 4, 3],
    ['a cut string', '["abc', 1, 6, 5],
    ['a cut escape', '["\\', 1, 3, 2],
    ['an unknown escape', '["a\\x"]', 1, 4, 3],
    ['a short escape', '["\\u12"]', 1, 3, 2],
    ['an escape that is no hexadecimal', '["\\u12g4"]', 1, 3, 2],
    ['a raw newline in a string', '["a\nb"]', 1, 4, 3],
    ['a raw tab in a key', '{"a\t":1}', 1, 4, 3],
    ['a wrong word', '[nul]', 1, 2, 1],
    ['a word that goes on', '[truex]', 1, 6, 5],
    ['a no-break space', '[1,\u00a02]', 1, 4, 3],
    ['a full-width digit', '["é😀", １]', 1, 8, 11],
    ['a byte order mark', '\ufeff{}', 1, 1, 0],
    ['a NUL behind', '{}\0', 1, 3, 2],
    ['bad UTF-8', Buffer.from('{\n"a":"é\xff"}', 'latin1'), 2, 6, 7],
    ['a surrogate in UTF-8', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), 1, 2, 1],
    ['a cut UTF-8 sequence', Uint8Array.of(0x22, 0xc3, 0xa9, 0xe2, 0x82), 1, 3, 3],
  ])('refuses %s with its place', (_name, text, line, column, offset) => {
    expect(() => parseJson(typeof text === 'string' ? utf8(text) : text)).toThrow(
      expect.objectContaining({
        code: 'HSTORE_JSON_INVALID',
        details: { line, column, offset },
        message: expect.stringMatching(new RegExp(`^[^\\n]* at line ${line} column ${column}$`)),
      }),
    )
  })

  it('bounds size and depth', () => {
    const invalid = expect.objectContaining({ code: 'HSTORE_JSON_INVALID' })
    expect(() => parseJson(utf8('[1]'), { maxBytes: 2 })).toThrow(invalid)
    expect(parseJson(utf8('[1]'), { maxBytes: 3 }).value).toEqual([1])
    const nested = (levels: number) => utf8(`${'['.repeat(levels)}${']'.repeat(levels)}`)
    expect(parseJson(nested(512)).remarks).toEqual([])
    expect(() => parseJson(nested(513))).toThrow(invalid)
    expect(() => parseJson(nested(100_000))).toThrow(invalid)
    expect(() => parseJson(utf8('{"a":'.repeat(100_000)))).toThrow(invalid)
    expect(parseJson(nested(1000), { maxDepth: 1000 }).remarks).toEqual([])
    expect(() => parseJson(nested(3), { maxDepth: 2 })).toThrow(invalid)
    expect(() => parseJson(utf8('{"a":[[1]]}'), { maxDepth: 2 })).toThrow(invalid)
    expect(() => parseJson(nested(1), { maxDepth: 0 })).toThrow(RangeError)
    expect(() => parseJson(nested(1), { maxDepth: 5000 })).toThrow(RangeError)
  })
})

describe('toBlockForm', () => {
  it.each(validBlocks)('normalises to the canonical form: $name', ({ text, loose = text }) => {
    expect(encodeFormText(toBlockForm(parseJson(utf8(loose))))).toBe(text)
  })

  it.each<[string, string, string]>([
    ['{"a":1,"a":1}', 'duplicate-key', '/a'],
    ['{"a":[{"b":"\\udc00"}]}', 'lone-surrogate', '/a/0/b'],
    ['{"a":1.5}', 'fraction', '/a'],
    ['{"a":1.0,"b":-0}', 'negative-zero', '/b'],
    ['{"a":1e2,"b":9007199254740993}', 'unsafe-integer', '/b'],
    [`{"a":${'1'.repeat(5000)}}`, 'unsafe-integer', '/a'],
    ['[]', 'root-not-map', ''],
    ['"text"', 'root-not-map', ''],
    ['{"a":{"/":"text"}}', 'invalid-link', '/a'],
    ['{"a":{"/":1}}', 'slash-key', '/a'],
    ['{"/":"not a link","b":1}', 'slash-key', ''],
    ['{"a":{"/":{"bytes":"AQ=="}}}', 'invalid-bytes', '/a'],
    [`{"a":${'['.repeat(64)}${']'.repeat(64)}}`, 'too-deep', `/a${'/0'.repeat(63)}`],
  ])('refuses %s with %s at "%s"', (text, reason, pointer) => {
    expect(() => toBlockForm(parseJson(utf8(text)))).toThrow(
      expect.objectContaining({ code: 'HSTORE_BLOCK_INVALID', details: { reason, pointer } }),
    )
  })

  it('names the number or key', () => {
    expect(() => toBlockForm(parseJson(utf8('{"size":9007199254740993}')))).toThrow(
      /9007199254740993.*\/size/,
    )
    expect(() => toBlockForm(parseJson(utf8('{"amount":1, "amount":2}')))).toThrow(/"amount/)
  })
})
