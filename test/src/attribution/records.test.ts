import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonForm } from '../../../store/canonical.ts'
import { KnownRecords, recordLists, recordsOf } from '../../../src/attribution/records.ts'
import { randomOf } from '../../support/envelope.ts'

type Item = Record<string, JsonForm>

const values: readonly (JsonForm | undefined)[] = [
  undefined,
  null,
  [],
  'open',
  '{}',
  '"open"',
  ':null []',
  0,
  false,
  {},
  { a: null },
  { a: [] },
  [null],
  [[]],
  [{ b: null, c: 'x'.repeat(80) }],
  'x'.repeat(80),
]

function randomItem(random: () => number, state: readonly string[]): Item {
  const item: Item = { id: 'r1' }
  for (const key of [...state, 'note', '__proto__']) {
    const value = values[Math.floor(random() ** 2 * values.length)]
    if (random() < 0.5 || value === undefined) continue
    Object.defineProperty(item, key, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
  return item
}

/** What a part of a record says: an absent field, null and an empty list are the same. */
function told(item: Item, isWanted: (key: string) => boolean): string {
  const saying = (_key: string, value: unknown): unknown =>
    value === null || (Array.isArray(value) && value.length === 0) ? undefined : value
  const fields = Object.entries(item).filter(([key]) => isWanted(key))
  return JSON.stringify(Object.fromEntries(fields), saying)
}

describe('origin and state of a record', () => {
  it.each(recordLists)('are equal where they say the same, and nowhere else: $key', (list) => {
    const known = new KnownRecords()
    const isState = (key: string): boolean => list.state.includes(key)
    const parts = { origin: new Map<string, string>(), state: new Map<string, string>() }
    const random = randomOf(1)
    for (let i = 0; i < 3000; i++) {
      const item = randomItem(random, list.state)
      const listed = recordsOf({ [list.key]: [item] })
      const [facts] = listed.flat()
      expect(known.keep(listed).read()).toEqual(listed)
      const said = { origin: told(item, (key) => !isState(key)), state: told(item, isState) }
      for (const part of ['origin', 'state'] as const) {
        const before = parts[part].get(said[part])
        expect({ item, part, is: facts![part] }).toEqual({ item, part, is: before ?? facts![part] })
        parts[part].set(said[part], facts![part])
      }
    }
    for (const map of Object.values(parts)) {
      expect(map.size).toBeGreaterThan(5)
      expect(new Set(map.values()).size).toBe(map.size)
    }
  })

  it('are kept once, however many revisions carry the record along', () => {
    const known = new KnownRecords()
    const form = { actions: [{ id: 'a', action_status: 'ready', owner: 'ann' }] }
    known.keep(recordsOf(form))
    const before = known.sizeBytes
    for (let i = 0; i < 100; i++) known.keep(recordsOf(structuredClone(form)))
    expect(known.sizeBytes - before).toBeLessThan(1000)
  })

  it('come out as they went in, whatever they are called, beside records that are none', () => {
    const known = new KnownRecords()
    const texts = fc.string({ unit: 'binary', maxLength: 300 })
    const item = fc.oneof(
      fc.dictionary(
        fc.constantFrom('created_by', 'owner', 'action_ref', 'resolved_by_head'),
        texts,
      ),
      fc.constant(null),
    )
    const record = fc.tuple(fc.option(texts, { nil: undefined }), item)
    const lists = fc.record(
      Object.fromEntries(recordLists.map(({ key }) => [key, fc.array(record, { maxLength: 4 })])),
    )
    const property = fc.property(lists, (drawn) => {
      const form = Object.fromEntries(
        Object.entries(drawn).map(([key, items]) => [
          key,
          items.map(([id, more]) => (id === undefined || more === null ? more : { ...more, id })),
        ]),
      )
      const listed = recordsOf(form)
      const kept = known.keep(listed)
      const isEmpty = listed.every(({ length }) => length === 0)
      expect(kept.read()).toEqual(isEmpty ? [] : listed)
    })
    fc.assert(property, { numRuns: 100 })
  })

  it('come out as they went in where they are too long for a piece of memory', () => {
    const known = new KnownRecords()
    const kept = [700_000, 3, 300_000, 1_000_000, 5].map((length) => {
      const listed = recordsOf({
        actions: [{ id: `/x/${'\u{1f41f}'.repeat(length / 2)}`, owner: 'a' }],
      })
      return { listed, kept: known.keep(listed) }
    })
    for (const { listed, kept: packed } of kept) expect(packed.read()).toEqual(listed)
  })
})
