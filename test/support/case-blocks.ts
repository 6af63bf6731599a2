import { describe, expect, it } from 'vitest'
import { cidOf } from '../../store/cid.ts'
import { decodeBlock, encodeBlock } from '../../store/codec.ts'
import type { Given } from './given-cases.ts'
import { bytesIn, replaced, valueIn, workedBundle } from './given-cases.ts'
import { expectRefused } from './refusal.ts'
import type { TestStore } from './store.ts'
import { digestOf, makeTestStore, ok } from './store.ts'
import { makeTempFolder } from './temp-folder.ts'

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

/** The cases of blocks and of envelopes that become blocks: r01, r03, r05, r07, r09. */
export function describeBlockCases(given: Given): void {
  describe('r01: a key "/" that is no link', () => {
    const id = 'r01-slash-key-encoded'
    it('is neither encoded nor decoded', () => {
      expect(() => encodeBlock(valueIn(given, id, 'value.json'))).toThrow(/"\/"/)
      expect(() => decodeBlock(bytesIn(given, id, 'value.json'))).toThrow(/"\/"/)
      const two = decodeBlock(bytesIn(given, id, 'value-2.json')) as { data: Uint8Array }
      expect([...two.data]).toEqual([1, 2, 3])
      expect(() => encodeBlock(valueIn(given, id, 'value-2.json'))).toThrow(/"\/"/)
    })
    it('is refused by put', () => refusesPut(given, id, [1, 2], '"/"'))
  })

  describe('r03: a key __proto__', () => {
    const id = 'r03-proto-key'
    it('is a key like others, once', () => {
      const bytes = bytesIn(given, id, 'block.json')
      const value = decodeBlock(bytes) as Record<string, unknown>
      expect(Object.hasOwn(value, '__proto__')).toBe(true)
      expect(Object.getPrototypeOf({})).toBe(Object.prototype)
      expect(value['verdict']).toBeUndefined()
      expect(text(encodeBlock(value))).toBe(text(bytes))
      expect(() => decodeBlock(bytesIn(given, id, 'dup.json'))).toThrow(/__proto__/)
    })
    it('is refused by put as unknown', () => refusesPut(given, id, [1], '__proto__'))
  })

  describe('r05: integers past 2^53', () => {
    const id = 'r05-big-integers'
    it('are refused by name, the last safe one is kept', () => {
      const safe = bytesIn(given, id, 'safe.json')
      expect(text(encodeBlock(decodeBlock(safe)))).toBe(text(safe))
      for (const name of ['unsafe.json', 'unsafe-negative.json', 'u64.json']) {
        const bytes = bytesIn(given, id, name)
        const [number = ''] = /-?\d{10,}/.exec(text(bytes)) ?? []
        expect(() => decodeBlock(bytes)).toThrow(number)
        expect(() => encodeBlock(JSON.parse(text(bytes)))).toThrow(/[0-9]{10}/)
      }
    })
    it('are refused by put', () => refusesPut(given, id, [1, 2], 'byte_size'))
    it('do not validate', async () => {
      const { store, file } = await withReplaced(given, id)
      const { exit, out } = await store.run('validate', file)
      expect({ exit, named: out.includes('byte_size') }).toEqual({ exit: 1, named: true })
    })
  })

  describe('r07: the order of keys', () => {
    const id = 'r07-key-order-two-languages'
    it('is that of their UTF-8 bytes', () => {
      const right = bytesIn(given, id, 'right-order.json')
      const expected = valueIn<Record<string, string>>(given, id, 'expected.json')
      expect(cidOf(right, 'dag-json').toString()).toBe(expected['right-order.json'])
      expect(decodeBlock(right)).toEqual(JSON.parse(text(right)))
      const wrong = bytesIn(given, id, 'wrong-order.json')
      expect(() => decodeBlock(wrong)).toThrow(/stands after/)
      expect(text(encodeBlock(JSON.parse(text(wrong))))).toBe(text(right))
    })
  })

  describe('r09: one key twice', () => {
    const id = 'r09-amount-twice'
    it('is refused in a block', () => {
      expect(() => decodeBlock(bytesIn(given, id, 'block.json'))).toThrow(/amount/)
    })
    it('is refused by put', () => refusesPut(given, id, [1, 2], 'resolution'))
    it('is told by validate, which keeps upstream’s verdict', async () => {
      const { store, file } = await withReplaced(given, id)
      const { out, err } = await store.run('validate', file)
      expect(`${out}${err}`).toContain('resolution')
    })
  })
}

/** A store and a case's envelope, whose author the store trusts. */
async function withReplaced(given: Given, id: string): Promise<{ store: TestStore; file: string }> {
  const root = await makeTempFolder()
  const store = await makeTestStore(root)
  return { store, file: await replaced(given, id, `${root}/bundle`) }
}

async function refusesPut(
  given: Given,
  id: string,
  exits: readonly number[],
  name: string,
): Promise<void> {
  const { store, file } = await withReplaced(given, id)
  const before = await digestOf(store.store)
  const { exit } = await store.run('put', file, '--shallow')
  expect(exits).toContain(exit)
  await expectRefused(store, ['put', file, '--shallow'], { exit, names: [name] })
  expect(await digestOf(store.store)).toBe(before)
  await ok(store.run('put', workedBundle(given).envelope, '--shallow'))
}
