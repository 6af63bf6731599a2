import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Entry, VerifiedEntry } from '../../../src/entry/entry.ts'
import { EntryTable } from '../../../src/entry/entry-table.ts'
import { cidTextOf } from '../../../store/cid-text.ts'
import type { CidText, Codec } from '../../../store/cid-text.ts'

const cids = (codec: Codec): fc.Arbitrary<CidText> =>
  fc.nat(40).map((n) => cidTextOf(Uint8Array.of(n), codec))
const links = fc.oneof(fc.constant([]), fc.uniqueArray(cids('dag-json'), { maxLength: 4 }))
const names = fc.oneof(
  fc.constantFrom('', 'rev/1', 'rev/2', 'rev/ü', 'rev/\u{1d11e}', 'x'.repeat(300)),
  fc.string({ unit: 'binary' }),
)
const texts = fc.constantFrom('one', 'two', 'three')
const entries: fc.Arbitrary<VerifiedEntry> = fc
  .record({
    artifacts: fc.option(cids('dag-json'), { nil: undefined }),
    author: texts,
    body: cids('dag-json'),
    cid: cids('dag-json'),
    kind: fc.constantFrom('envelope', 'turn', 'certificate', 'unheard-of'),
    name: fc.option(names, { nil: undefined }),
    parents: links,
    prev: links,
    refs: links,
    roster: cids('dag-json'),
    seq: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    shallow: fc.oneof(fc.constant([]), fc.array(names, { maxLength: 3 })),
    signer: texts,
    source: fc.option(cids('raw'), { nil: undefined }),
    store: cids('dag-json'),
    stream: texts,
    witness: fc.boolean(),
  })
  .map((entry) => entry as unknown as VerifiedEntry)

const fields = (entry: Entry): Entry => ({
  artifacts: entry.artifacts,
  author: entry.author,
  body: entry.body,
  cid: entry.cid,
  kind: entry.kind,
  name: entry.name,
  parents: entry.parents,
  prev: entry.prev,
  refs: entry.refs,
  roster: entry.roster,
  seq: entry.seq,
  shallow: entry.shallow,
  signer: entry.signer,
  source: entry.source,
  store: entry.store,
  stream: entry.stream,
  witness: entry.witness,
})

describe('EntryTable', () => {
  it('gives back what it took, as a map does', () => {
    fc.assert(
      fc.property(fc.array(entries, { maxLength: 60 }), (given) => {
        const table = new EntryTable()
        const map = new Map<CidText, Entry>()
        for (const entry of given) {
          table.add(entry)
          if (!map.has(entry.cid)) map.set(entry.cid, entry)
        }
        expect(table.size).toBe(map.size)
        expect([...table.keys()]).toEqual([...map.keys()])
        expect([...table.values()].map(fields)).toEqual([...map.values()])
        expect([...table].map(([cid, entry]) => [cid, fields(entry)])).toEqual([...map])
        for (let n = 0; n <= 40; n++) {
          const cid = cidTextOf(Uint8Array.of(n), 'dag-json')
          const found = table.get(cid)
          expect(table.has(cid)).toBe(map.has(cid))
          expect(found && fields(found)).toEqual(map.get(cid))
        }
      }),
    )
  })

  it('has nothing under a second spelling of a CID, or under that of a body', () => {
    const table = new EntryTable()
    const [cid, body] = [0, 1].map((n) => cidTextOf(Uint8Array.of(n), 'dag-json')) as [
      CidText,
      CidText,
    ]
    const lists = { parents: [], prev: [], refs: [], shallow: [] }
    table.add({ cid, body, ...lists, kind: 'turn', seq: 1 } as unknown as VerifiedEntry)
    const respelt = `${cid.slice(0, -1)}${cid.endsWith('a') ? 'b' : 'r'}` as CidText
    expect([cid, respelt, body, '' as CidText].map((one) => table.has(one))).toEqual([
      true,
      false,
      false,
      false,
    ])
    expect(table.get(respelt)).toBeUndefined()
  })
})
