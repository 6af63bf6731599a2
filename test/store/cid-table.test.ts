import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CidTable } from '../../store/cid-table.ts'
import type { CidText } from '../../store/cid-text.ts'
import { cidTextOf, cidTextOfDigest } from '../../store/cid-text.ts'

const blockCid = fc
  .tuple(fc.integer({ min: 0, max: 200 }), fc.constantFrom('dag-json' as const, 'raw' as const))
  .map(([n, codec]) => cidTextOf(Uint8Array.of(n), codec))

describe('CidTable', () => {
  it('numbers CIDs as they come first, as a map does', () => {
    fc.assert(
      fc.property(fc.array(blockCid, { maxLength: 3000 }), (cids) => {
        const table = new CidTable()
        const wanted = new Map<CidText, number>()
        for (const cid of cids) {
          expect(table.find(cid)).toBe(wanted.get(cid))
          if (!wanted.has(cid)) wanted.set(cid, wanted.size)
          expect(table.add(cid)).toBe(wanted.get(cid))
        }
        expect(table.size).toBe(wanted.size)
        for (const [cid, number] of wanted) expect(table.cidAt(number)).toBe(cid)
      }),
      { numRuns: 30 },
    )
  })

  it('keeps what it has while it grows', () => {
    const table = new CidTable()
    const cids = Array.from({ length: 20_000 }, (_, i) =>
      cidTextOf(Buffer.from(String(i)), i % 3 === 0 ? 'raw' : 'dag-json'),
    )
    for (const [i, cid] of cids.entries()) expect(table.add(cid)).toBe(i)
    expect(cids.map((cid) => table.find(cid))).toEqual(cids.map((_, i) => i))
    expect(cids.map((_, i) => table.cidAt(i))).toEqual(cids)
  })

  it('tells digests apart that differ in one byte, and one digest under two codecs', () => {
    const table = new CidTable()
    const digests = Array.from({ length: 32 }, (_, i) => new Uint8Array(32).fill(1, i, i + 1))
    const cids = [new Uint8Array(32), ...digests].flatMap((digest) => [
      cidTextOfDigest(digest, 'raw'),
      cidTextOfDigest(digest, 'dag-json'),
    ])
    for (const [i, cid] of cids.entries()) expect(table.add(cid)).toBe(i)
    expect(cids.map((cid) => table.find(cid))).toEqual(cids.map((_, i) => i))
  })

  it('has nothing behind its last number', () => {
    const table = new CidTable()
    const cid = cidTextOf(new Uint8Array(0), 'raw')
    expect(table.find(cid)).toBeUndefined()
    table.add(cid)
    for (const number of [-1, 1, Number.NaN]) expect(() => table.cidAt(number)).toThrow(RangeError)
  })
})
