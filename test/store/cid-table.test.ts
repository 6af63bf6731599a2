import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CidTable } from '../../store/cid-table.ts'
import type { CidText, Codec } from '../../store/cid-text.ts'
import {
  cidTextOf,
  cidTextOfDigest,
  digestOf,
  findDigest,
  isCidText,
} from '../../store/cid-text.ts'

const codecs: readonly Codec[] = ['dag-json', 'raw']
const cids = fc
  .tuple(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.constantFrom(...codecs))
  .map(([digest, codec]) => cidTextOfDigest(digest, codec))

describe('CidTable', () => {
  it('gives each CID the number under which it came first, as a list does', () => {
    fc.assert(
      fc.property(fc.array(cids, { maxLength: 300 }), fc.array(cids), (given, others) => {
        const table = new CidTable()
        const list: CidText[] = []
        for (const cid of [...given, ...given]) {
          if (!list.includes(cid)) list.push(cid)
          expect(table.add(cid)).toBe(list.indexOf(cid))
        }
        expect(table.size).toBe(list.length)
        expect(list.map((_, number) => table.at(number))).toEqual(list)
        for (const cid of [...given, ...others]) {
          const at = list.indexOf(cid)
          expect(table.find(cid)).toBe(at < 0 ? undefined : at)
        }
      }),
    )
  })

  it('grows', () => {
    const table = new CidTable()
    const many = Array.from({ length: 5000 }, (_, i) =>
      cidTextOf(Buffer.from(String(i)), codecs[i % 2]!),
    )
    for (const cid of many) table.add(cid)
    expect(many.map((cid) => table.find(cid))).toEqual(many.map((_, i) => i))
    expect(many.map((_, i) => table.at(i))).toEqual(many)
  })

  it('knows digests that begin alike apart, and one digest under two codecs', () => {
    const digests = Array.from({ length: 40 }, (_, i) =>
      Uint8Array.from({ length: 32 }, (_, at) => (at < 31 ? 7 : i)),
    )
    const table = new CidTable()
    const all = digests.flatMap((digest) => codecs.map((codec) => cidTextOfDigest(digest, codec)))
    expect(all.map((cid) => table.add(cid))).toEqual(all.map((_, i) => i))
  })

  it('finds nothing under what is no CID, also where it spells a digest that is there', () => {
    const table = new CidTable()
    const cid = cidTextOf(Buffer.from('a block'), 'dag-json')
    table.add(cid)
    const respelt = `${cid.slice(0, -1)}${cid.endsWith('a') ? 'b' : 'r'}` as CidText
    expect(digestOf(respelt)).toEqual(digestOf(cid))
    for (const text of [respelt, cid.toUpperCase(), '', 'bag', `${cid}a`] as CidText[]) {
      expect(table.find(text)).toBeUndefined()
      expect(() => table.add(text)).toThrow(RangeError)
    }
    expect(() => table.at(1)).toThrow(RangeError)
  })
})

describe('findDigest', () => {
  it('admits what isCidText does', () => {
    const near = cids.chain((cid) =>
      fc
        .tuple(
          fc.nat(cid.length - 1),
          fc.constantFrom('a', 'b', 'h', 'i', '8', '=', 'A', '7', 'q', 'é', '\u{1d11e}'),
        )
        .map(([at, one]) => `${cid.slice(0, at)}${one}${cid.slice(at + 1)}`),
    )
    const digest = new Uint8Array(32)
    fc.assert(
      fc.property(fc.oneof(cids, near, fc.string()), (text) => {
        const found = findDigest(text, digest)
        expect(found !== undefined).toBe(isCidText(text))
        if (found !== undefined) expect(cidTextOfDigest(digest, found)).toBe(text)
      }),
      { numRuns: 2000 },
    )
  })
})
