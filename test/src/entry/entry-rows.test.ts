import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EntryRows } from '../../../src/entry/entry-rows.ts'
import type { Entry, VerifiedEntry } from '../../../src/entry/entry.ts'
import { CidTable } from '../../../store/cid-table.ts'
import type { CidText } from '../../../store/cid-text.ts'
import { cidTextOf } from '../../../store/cid-text.ts'

const links = fc
  .nat({ max: 300 })
  .map((n): CidText => cidTextOf(Buffer.from(`linked ${n}`), n % 2 === 0 ? 'dag-json' : 'raw'))
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', 'a/b/', 'ä/é'),
)
const list = fc.array(links, { maxLength: 5 })

const entries = fc
  .record({
    artifacts: fc.option(links, { nil: undefined }),
    author: text,
    body: links,
    cid: links,
    kind: fc.constantFrom('envelope', 'turn', 'roster', 'made up'),
    name: fc.option(text, { nil: undefined }),
    parents: list,
    prev: fc.option(list, { nil: undefined }),
    refs: list,
    roster: links,
    seq: fc.oneof(fc.nat(), fc.constant(Number.MAX_SAFE_INTEGER)),
    shallow: fc.array(text, { maxLength: 3 }),
    signer: text,
    source: fc.option(links, { nil: undefined }),
    store: links,
    stream: text,
    witness: fc.boolean(),
  })
  // a chain is mostly what its entries follow
  .map((one) => ({ ...one, prev: one.prev ?? one.parents }) as Entry as VerifiedEntry)

describe('EntryRows', () => {
  it('gives back the entries that were added, whole and by field', () => {
    fc.assert(
      fc.property(fc.array(entries, { maxLength: 80 }), (added) => {
        const rows = new EntryRows(new CidTable())
        for (const entry of added) rows.add(entry)
        expect(rows.size).toBe(added.length)
        for (const [row, entry] of added.entries()) {
          expect(rows.entryAt(row)).toEqual(entry)
          expect({
            author: rows.authorOf(row),
            body: rows.bodyOf(row),
            cid: rows.cidOf(row),
            kind: rows.kindOf(row),
            name: rows.nameOf(row),
            parents: rows.parentsOf(row),
            prev: rows.prevOf(row),
            refs: rows.refsOf(row),
            roster: rows.rosterOf(row),
            seq: rows.seqOf(row),
            signer: rows.signerOf(row),
            store: rows.storeOf(row),
            stream: rows.streamOf(row),
            witness: rows.isWitness(row),
            ...rows.moreOf(row),
          }).toEqual(entry)
        }
      }),
    )
  })
})
