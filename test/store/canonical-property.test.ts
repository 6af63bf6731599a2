import * as dagJson from '@ipld/dag-json'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeForm, encodeForm, encodeFormText } from '../../store/canonical.ts'
import type { JsonForm, JsonMap } from '../../store/canonical.ts'
import { writeCanonical } from '../../store/canonical-write.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import { decodeBlock, encodeBlock } from '../../store/codec.ts'
import { parseJson, toBlockForm } from '../../store/json-input.ts'
import { StoreError } from '../../store/errors.ts'
import { canonicalSpelling } from '../support/one-spelling.ts'
import { utf8, validBlocks } from './known-answers.ts'

const runs = process.env['HSTORE_SOAK'] ? 100_000 : 300

const cidText = fc
  .tuple(fc.uint8Array({ maxLength: 8 }), fc.constantFrom('dag-json' as const, 'raw' as const))
  .map(([bytes, codec]) => cidTextOf(bytes, codec))
const link = cidText.map((cid): JsonForm => ({ '/': cid }))
const bytesForm = fc.uint8Array({ maxLength: 20 }).map((bytes): JsonForm => ({
  '/': { bytes: Buffer.from(bytes).toString('base64').replaceAll('=', '') },
}))
const key = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 6 }),
    fc.constantFrom(
      '__proto__',
      'constructor',
      'toJSON',
      '0',
      '10',
      '9',
      'ä',
      '｡',
      '😀',
      '\n',
      '"',
    ),
  )
  .filter((text) => text !== '/')
const scalar = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.maxSafeInteger(),
  fc.integer({ min: -20, max: 20 }).map((n) => n + 0),
  fc.string({ unit: 'binary', maxLength: 12 }),
)

/** Maps are made by defining keys, so that `__proto__` is one like any other. */
function mapOf(entries: readonly (readonly [string, JsonForm])[]): JsonMap {
  const map: JsonMap = {}
  for (const [name, value] of entries) {
    Object.defineProperty(map, name, {
      value,
      configurable: true,
      enumerable: true,
      writable: true,
    })
  }
  return map
}

const { tree } = fc.letrec<{ tree: JsonForm }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    scalar,
    link,
    bytesForm,
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('tree')), { maxLength: 4 }).map(mapOf),
  ),
}))
const root = fc.array(fc.tuple(key, tree), { maxLength: 5 }).map(mapOf)

describe('the canonical form', () => {
  it('comes back from its bytes, and its bytes from it', () => {
    fc.assert(
      fc.property(root, (form) => {
        const bytes = encodeForm(form)
        const decoded = decodeForm(bytes)
        expect(decoded.form).toEqual(form)
        expect(encodeForm(decoded.form)).toEqual(bytes)
        expect(encodeBlock(decodeBlock(bytes))).toEqual(bytes)
      }),
      { numRuns: runs },
    )
  })

  it('does not depend on the order of keys, nor on which encoder wrote it', () => {
    fc.assert(
      fc.property(root, (form) => {
        const bytes = writeCanonical(form)
        expect(encodeForm(form)).toEqual(bytes)
        expect(encodeForm(reversed(form) as JsonMap)).toEqual(bytes)
      }),
      { numRuns: runs },
    )
  })

  it('is what @ipld/dag-json writes, where keys sort alike by UTF-16 and by UTF-8', () => {
    fc.assert(
      fc.property(root, (form) => {
        const text = encodeFormText(form)
        fc.pre(!/[\ud800-\udfff\ue000-\uffff]/.test(text))
        const reference = dagJson.decode(utf8(text))
        expect(Buffer.from(dagJson.encode(reference)).toString()).toBe(text)
        expect(Buffer.from(encodeBlock(decodeBlock(utf8(text)))).toString()).toBe(text)
      }),
      { numRuns: runs },
    )
  })

  it('is what every looser spelling of a file is read as', () => {
    fc.assert(
      fc.property(root, fc.nat(3), (form, indent) => {
        const bytes = encodeForm(form)
        const loose = JSON.stringify(reversed(form), null, indent)
        expect(encodeForm(toBlockForm(parseJson(utf8(loose))))).toEqual(bytes)
        const escaped = loose.replaceAll(/[^\0-\u007f]/g, (unit) => {
          return `\\u${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
        })
        expect(encodeForm(toBlockForm(parseJson(utf8(escaped))))).toEqual(bytes)
      }),
      { numRuns: runs },
    )
  })
})

describe('changed bytes', () => {
  it('are refused, or are the one spelling of another value', () => {
    fc.assert(
      fc.property(root, fc.nat(), fc.nat(255), (form, place, byte) => {
        const bytes = encodeForm(form)
        const changed = bytes.slice()
        changed[place % bytes.length] = byte
        expectOneSpelling(changed)
      }),
      { numRuns: runs * 5 },
    )
  })

  it('are so for every single bit of the known answers', () => {
    for (const { text } of validBlocks.filter((block) => block.text.length < 80)) {
      const bytes = utf8(text)
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const changed = bytes.slice()
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        expectOneSpelling(changed)
      }
    }
  })

  it('are so when cut, doubled or joined', () => {
    fc.assert(
      fc.property(root, fc.nat(), fc.nat(), (form, from, to) => {
        const bytes = encodeForm(form)
        const [start, end] = [from % bytes.length, to % bytes.length]
        expectOneSpelling(bytes.slice(0, end))
        expectOneSpelling(Buffer.concat([bytes, bytes.slice(start)]))
        expectOneSpelling(Buffer.concat([bytes.slice(0, start), bytes.slice(end)]))
      }),
      { numRuns: runs },
    )
  })

  it('are so for text made of the pieces of JSON', () => {
    const piece = fc.constantFrom(
      ...'{|}|[|]|:|,|"|\\|/|"a"|"b"|"/"|"bytes"|"AQ"|1|0|-|.5|e1|true|null| |\\u|00|1f|d8|é|{"a":|}}'.split(
        '|',
      ),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        expectOneSpelling(utf8(pieces.join('')))
        expectOneSpelling(utf8(`{"a":${pieces.join('')}}`))
      }),
      { numRuns: runs * 10 },
    )
  })
})

/** Judged without the scanner: what is accepted has to be what the writer gives for the natively parsed value. */
function expectOneSpelling(bytes: Uint8Array): void {
  const accepted = isAccepted(bytes)
  const spelling = canonicalSpelling(bytes)
  expect(accepted).toBe(spelling !== undefined && Buffer.compare(spelling, bytes) === 0)
}

function isAccepted(bytes: Uint8Array): boolean {
  try {
    decodeForm(bytes)
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(StoreError)
    return false
  }
}

function reversed(form: JsonForm): JsonForm {
  if (typeof form !== 'object' || form === null) return form
  if (Array.isArray(form)) return form.map(reversed)
  return mapOf(
    Object.entries(form)
      .toReversed()
      .map(([name, value]) => [name, reversed(value)] as const),
  )
}
