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
      const [facts] = recordsOf({ [list.key]: [item] }, i % 2 === 0 ? known : undefined).flat()
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
    const [first] = recordsOf(form, known).flat()
    expect(recordsOf(structuredClone(form), known).flat()[0]).toBe(first)
  })
})
