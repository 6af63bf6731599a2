import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  bytesForm,
  decodeForm,
  encodeForm,
  encodeFormText,
  findBytes,
  findLink,
  linkForm,
  parsePassed,
} from '../../store/canonical.ts'
import type { JsonForm } from '../../store/canonical.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import { bytesOf, refusedBlocks, utf8, validBlocks } from './known-answers.ts'

const link = cidTextOf(utf8('{}'), 'dag-json')

describe('decodeForm', () => {
  it.each(validBlocks)('accepts: $name', ({ text, cid }) => {
    const bytes = utf8(text)
    const decoded = decodeForm(bytes)
    expect(decoded.text).toBe(text)
    expect(decoded.form).toEqual(JSON.parse(text))
    expect(cidTextOf(bytes, 'dag-json')).toBe(cid)
    expect(encodeForm(decoded.form)).toEqual(bytes)
    expect(parsePassed(bytes)).toEqual(decoded.form)
  })

  it.each(refusedBlocks)('refuses with $reason: $name', (block) => {
    expect(() => decodeForm(bytesOf(block))).toThrow(
      expect.objectContaining({
        code: 'HSTORE_BLOCK_INVALID',
        details: expect.objectContaining({ reason: block.reason }),
      }),
    )
  })

  it('names the place by offset and pointer', () => {
    expect(faultOf(() => decodeForm(utf8('{"a":[{"x/y":1},{"b":2,"a~":3}]}')))).toEqual({
      reason: 'unsorted-key',
      offset: 23,
      pointer: '/a/1/a~0',
    })
    expect(faultOf(() => decodeForm(utf8('{"a":{"b":[1,2,1.5]}}')))).toEqual({
      reason: 'fraction',
      offset: 15,
      pointer: '/a/b/2',
    })
    expect(faultOf(() => decodeForm(utf8('{"a":{"\\u0062":1}}')))).toMatchObject({ pointer: '/a' })
    expect(faultOf(() => decodeForm(utf8('{"a":1,"b":2,"a":3}')))).toMatchObject({ offset: 13 })
  })

  it('counts the bytes before it looks at them', () => {
    const room = 2 * 1024 * 1024 - '{"a":""}'.length
    expect(decodeForm(utf8(`{"a":"${'x'.repeat(room)}"}`)).text).toHaveLength(2 * 1024 * 1024)
    expect(faultOf(() => decodeForm(utf8(`{"a":"${'x'.repeat(room + 1)}"}`)))).toEqual({
      reason: 'too-large',
    })
    expect(faultOf(() => decodeForm(utf8('{"a":1}'), 6))).toEqual({ reason: 'too-large' })
  })

  it('reads a view into a larger buffer', () => {
    const buffer = Buffer.from('xx{"a":1}yy')
    expect(decodeForm(buffer.subarray(2, 9)).form).toEqual({ a: 1 })
  })

  it('keeps __proto__ as an own key and touches no prototype', () => {
    const { form } = decodeForm(utf8('{"__proto__":{"verdict":"complete"}}'))
    expect(Object.keys(form)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(form)).toBe(Object.prototype)
    expect(form['verdict']).toBeUndefined()
  })
})

describe('hostile blocks of the full size', () => {
  const size = 2 * 1024 * 1024
  it.each([
    ['opening brackets', '['.repeat(size - 5)],
    ['nested maps', '{"a":'.repeat(size / 5 - 1)],
    ['one long number', '9'.repeat(size - 6)],
    ['a long fraction', `0.${'9'.repeat(size - 8)}`],
    ['one long string of escapes', `"${'\\n'.repeat(size / 2 - 10)}"`],
    ['empty lists', `[${'[],'.repeat(size / 3 - 10)}[]]`],
    ['backslashes without end', `"${'\\'.repeat(size - 7)}`],
  ])('are judged soon: %s', (_name, value) => {
    const bytes = utf8(`{"a":${value}`)
    const start = performance.now()
    expect(faultOf(() => decodeForm(bytes))).toMatchObject({ reason: expect.any(String) })
    expect(performance.now() - start).toBeLessThan(1000)
  })
})

describe('encodeForm', () => {
  it.each(validBlocks.filter(({ loose }) => loose !== undefined))(
    'writes from any order of keys: $name',
    ({ text, loose }) => {
      expect(encodeFormText(JSON.parse(loose ?? '') as JsonForm)).toBe(text)
    },
  )

  it('gives a Uint8Array of its own', () => {
    const bytes = encodeForm({ a: 1 })
    expect(Object.getPrototypeOf(bytes)).toBe(Uint8Array.prototype)
    expect(bytes.buffer.byteLength).toBe(bytes.length)
    expect(encodeForm({ b: 1, a: link }).buffer.byteLength).toBe(
      encodeForm({ b: 1, a: link }).length,
    )
  })

  it.each<[string, unknown]>([
    ['root-not-map', []],
    ['root-not-map', null],
    ['root-not-map', 'text'],
    ['root-not-map', linkForm(link)],
    ['root-not-map', bytesForm(utf8('x'))],
    ['fraction', { a: 0.5 }],
    ['fraction', { a: Number.NaN }],
    ['fraction', { a: Number.POSITIVE_INFINITY }],
    ['negative-zero', { a: -0 }],
    ['unsafe-integer', { a: 2 ** 53 }],
    ['lone-surrogate', { a: '\ud800' }],
    ['lone-surrogate', { '\udc00': 1 }],
    ['lone-surrogate', { a: '\udc00\ud800' }],
    ['slash-key', { a: { '/': 1 } }],
    ['slash-key', { a: { '/': link, b: 1 } }],
    ['slash-key', { '/': link, b: 1 }],
    ['slash-key', { a: { '/': { bytes: 'AQ', b: 1 } } }],
    ['slash-key', { a: { '/': { bytes: 1 } } }],
    ['invalid-link', { a: { '/': 'hello' } }],
    ['invalid-bytes', { a: { '/': { bytes: 'AQ==' } } }],
    ['not-plain-data', { a: undefined }],
    ['not-plain-data', { a: 1n }],
    ['not-plain-data', { a: () => 1 }],
    ['not-plain-data', { a: Symbol('a') }],
    ['not-plain-data', { [Symbol('a')]: 1 }],
    ['not-plain-data', { a: new Date(0) }],
    ['not-plain-data', { a: new Map([[1, 2]]) }],
    ['not-plain-data', { a: new String('a') }],
    ['not-plain-data', { a: new Uint8Array(1) }],
    ['not-plain-data', { a: Object.create({ inherited: 1 }) }],
    ['not-plain-data', Object.defineProperty({}, 'a', { get: () => 1, enumerable: true })],
    ['not-plain-data', Object.defineProperty({}, 'a', { value: 1 })],
    // oxlint-disable-next-line no-sparse-arrays -- a hole is what is tried
    ['not-plain-data', { a: [1, , 2] }],
    ['not-plain-data', { a: Object.assign([1], { extra: 2 }) }],
    ['not-plain-data', { a: new (class extends Array {})() }],
    ['not-plain-data', { toJSON: () => ({}) }],
    ['too-deep', cycle()],
    ['too-deep', JSON.parse(`{"a":${'['.repeat(64)}${']'.repeat(64)}}`)],
    ['too-large', { a: 'x'.repeat(2 * 1024 * 1024) }],
    ['too-large', { a: 'é'.repeat(1024 * 1024) }],
    ['too-large', { a: '\n'.repeat(1024 * 1024) }],
    ['too-large', shared()],
  ])('refuses with %s (%#)', (reason, form) => {
    expect(faultOf(() => encodeForm(form as JsonForm))).toMatchObject({ reason })
    // The key out of order sends the same tree through the writer that sorts.
    if (reason === 'root-not-map' || Reflect.ownKeys(form as object).includes('/')) return
    const unsorted = { z: 1, y: form as JsonForm }
    expect(() => encodeForm(unsorted)).toThrow(
      expect.objectContaining({ code: 'HSTORE_BLOCK_INVALID' }),
    )
  })

  it('names the place by pointer', () => {
    expect(faultOf(() => encodeForm({ a: [{ 'b/c': 0.5 }] }))).toEqual({
      reason: 'fraction',
      pointer: '/a/0/b~1c',
    })
  })

  it('takes maps without a prototype, and own keys of any name', () => {
    const map = Object.assign(Object.create(null) as Record<string, JsonForm>, { b: 1, a: 2 })
    Object.defineProperty(map, '__proto__', { value: 3, enumerable: true })
    expect(encodeFormText(map)).toBe('{"__proto__":3,"a":2,"b":1}')
  })

  it('writes a block of exactly 2 MiB', () => {
    const room = 2 * 1024 * 1024 - '{"a":""}'.length
    expect(encodeForm({ a: 'x'.repeat(room) })).toHaveLength(2 * 1024 * 1024)
    expect(faultOf(() => encodeForm({ a: 'x'.repeat(room + 1) }))).toEqual({ reason: 'too-large' })
  })
})

describe('the inner path', () => {
  // Loading multiformats costs more than a third of bare node's own start.
  it.each(['canonical', 'json-input', 'car-read', 'car-write'])('%s loads no package', (name) => {
    const left = [new URL(`../../store/${name}.ts`, import.meta.url)]
    const seen = new Set<string>()
    for (let file = left.pop(); file !== undefined; file = left.pop()) {
      if (seen.has(file.href)) continue
      seen.add(file.href)
      for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(
        /^(?:import|export|\}).* from '(.*)'/gm,
      )) {
        if (path.startsWith('.')) left.push(new URL(path, file))
        else expect(path).toMatch(/^node:/)
      }
    }
    expect(seen.size).toBeGreaterThan(5)
  })
})

describe('forms of links and bytes', () => {
  it('are found again', () => {
    expect(findLink(linkForm(link))).toBe(link)
    expect(findBytes(bytesForm(Uint8Array.of(0xff, 0x00)))).toEqual(Uint8Array.of(0xff, 0x00))
    expect(encodeFormText({ b: bytesForm(Uint8Array.of(1)), l: linkForm(link) })).toBe(
      `{"b":{"/":{"bytes":"AQ"}},"l":{"/":"${link}"}}`,
    )
  })

  it.each<[JsonForm | undefined]>([
    [undefined],
    [null],
    [link],
    [{}],
    [[link]],
    [{ '/': 'hello' }],
    [{ '/': link, a: 1 }],
    [{ '/': { bytes: 'AQ==' } }],
    [{ '/': { bytes: 1 } }],
    [{ '/': { bytes: 'AQ', a: 1 } }],
    [JSON.parse(`{"__proto__":{"/":"${link}"}}`) as JsonForm],
  ])('are nothing else (%j)', (form) => {
    expect(findLink(form)).toBeUndefined()
    expect(findBytes(form)).toBeUndefined()
  })
})

function faultOf(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    expect(error).toMatchObject({ name: 'StoreError', code: 'HSTORE_BLOCK_INVALID' })
    return (error as { details: unknown }).details
  }
  throw new Error('nothing was thrown')
}

function cycle(): object {
  const map: Record<string, unknown> = {}
  map['a'] = map
  return map
}

/** Sixty lists, each twice in the next: small in memory, 2^60 items when written. */
function shared(): object {
  let list: unknown[] = []
  for (let i = 0; i < 60; i++) list = [list, list]
  return { a: list }
}
