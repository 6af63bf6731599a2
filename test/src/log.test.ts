import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Context } from '../../src/context.ts'
import type { VerifiedEntry } from '../../src/entry/entry.ts'
import { nodeKey } from '../../src/entry/kinds.ts'
import { logOf } from '../../src/log.ts'
import type { CidText } from '../../store/cid-text.ts'
import { cidTextOf } from '../../store/cid-text.ts'

const cidOf = (text: string): CidText => cidTextOf(Buffer.from(text), 'dag-json')

describe('a log of the first few', () => {
  it('is the beginning of the whole log, whatever forks, merges and restatements there are', async () => {
    await fc.assert(
      fc.asyncProperty(
        history(150),
        fc.integer({ min: 1, max: 40 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        async (entries, limit, at) => {
          // a second one lies behind the first, beside it, or is the same
          const starts = [entries.at(-1)!.cid, entries[Math.floor(at * entries.length)]!.cid]
          const { context } = holding(entries)
          const expected = oracle(entries, starts)
          const few = [...(await logOf(context, starts, limit))]
          expect(few.map(({ entry }) => entry.cid)).toEqual(
            expected.slice(0, limit).map(({ cid }) => cid),
          )
          const all = [...(await logOf(context, starts, Number.MAX_SAFE_INTEGER))]
          expect(all.map(({ entry }) => entry.cid)).toEqual(expected.map(({ cid }) => cid))
          expect(all.slice(0, limit)).toEqual(few)
        },
      ),
      { numRuns: process.env['HSTORE_SOAK'] ? 20_000 : 200 },
    )
  })

  it('reads as much of a history as it takes, not all', async () => {
    const entries: VerifiedEntry[] = []
    for (let i = 0; i < 5000; i++) {
      // of every 50 the 10th forks from the 8th, the 30th merges both
      const back = i % 50 === 10 ? [2] : i % 50 === 30 ? [1, 21] : [1]
      const parents = i === 0 ? [] : back.map((by) => entries[i - by]!.cid)
      entries.push(entryOf(i, { parents, seq: i + 1 }))
    }
    const { context, reads } = holding(entries)
    const few = [...(await logOf(context, [entries.at(-1)!.cid], 10))]
    expect(few.map(({ entry }) => entry.name)).toEqual(
      Array.from({ length: 10 }, (_, i) => `R${4999 - i}`),
    )
    expect(reads.size).toBeLessThan(200)
  })

  it('ends over documents that are each other’s ancestors, and shows them last', async () => {
    const first = entryOf(0, {})
    const second = entryOf(1, { parents: [first.cid] })
    const again = entryOf(0, { parents: [second.cid], twin: 1 })
    const third = entryOf(2, { parents: [again.cid] })
    const { context } = holding([first, second, again, third])
    const logged = [...(await logOf(context, [third.cid], Number.MAX_SAFE_INTEGER))]
    expect(logged[0]!.entry).toEqual(third)
    expect(new Set(logged.map(({ entry }) => entry.name))).toEqual(new Set(['R2', 'R1', 'R0']))
  })
})

interface Shape {
  readonly parents?: readonly CidText[]
  readonly seq?: number
  /** Tells a restatement from its first entry. */
  readonly twin?: number
}

function entryOf(i: number, { parents = [], seq = 1, twin = 0 }: Shape): VerifiedEntry {
  const plain = {
    artifacts: undefined,
    author: `agent ${i % 3}`,
    body: cidOf(`body ${i}`),
    cid: cidOf(`entry ${i} ${twin} ${parents.join()}`),
    kind: 'envelope',
    name: `R${i}`,
    parents,
    prev: [],
    refs: [],
    roster: cidOf('roster'),
    seq,
    shallow: [],
    signer: 'did:key:z',
    source: undefined,
    store: cidOf('roster'),
    stream: 'csag:w',
    witness: false,
  }
  return plain as unknown as VerifiedEntry
}

/** Nodes that follow others before them, some of them stated two or three times; seq says nothing. */
function history(most: number): fc.Arbitrary<readonly VerifiedEntry[]> {
  // now and then far back, past what the other links reach in as many steps
  const back = fc.oneof({ weight: 6, arbitrary: fc.nat({ max: 2 }) }, fc.nat({ max: most }))
  const link = fc.record({ back, twin: fc.nat({ max: 2 }) })
  const statement = fc.record({
    seq: fc.nat({ max: 40 }),
    links: fc.array(link, { maxLength: 2 }),
  })
  const node = fc.array(statement, { minLength: 1, maxLength: 3, size: 'small' })
  return fc.array(node, { minLength: most / 2, maxLength: most, size: 'max' }).map((nodes) => {
    const made: VerifiedEntry[][] = []
    for (const [i, statements] of nodes.entries()) {
      const entries = statements.map(({ seq, links }, twin) => {
        const parents = links.flatMap(({ back, twin: at }) => {
          const parent = made[i - 1 - back]
          return parent === undefined ? [] : [parent[at % parent.length]!.cid]
        })
        const step = made.at(-1)?.[0]!.cid
        const all = parents.length === 0 && step !== undefined ? [step] : parents
        return entryOf(i, { parents: [...new Set(all)].sort(), seq, twin })
      })
      made.push(entries)
    }
    return made.flat()
  })
}

/** The order as it is defined, found the long way. */
function oracle(
  entries: readonly VerifiedEntry[],
  starts: readonly CidText[],
): readonly VerifiedEntry[] {
  const byCid = new Map(entries.map((entry) => [entry.cid, entry]))
  const groups = new Map<string, VerifiedEntry[]>()
  for (const entry of entries) {
    groups.set(nodeKey(entry), [...(groups.get(nodeKey(entry)) ?? []), entry])
  }
  const parentsOf = (key: string): readonly string[] =>
    groups.get(key)!.flatMap(({ parents }) => parents.map((cid) => nodeKey(byCid.get(cid)!)))
  const left = new Map<string, readonly string[]>()
  for (const waiting = starts.map((cid) => nodeKey(byCid.get(cid)!)); waiting.length > 0;) {
    const key = waiting.pop()!
    if (left.has(key)) continue
    left.set(key, parentsOf(key))
    waiting.push(...parentsOf(key))
  }
  const order: VerifiedEntry[] = []
  while (left.size > 0) {
    const followed = new Set([...left.values()].flat())
    const free = [...left.keys()]
      .filter((key) => !followed.has(key))
      .map((key) => groups.get(key)!.toSorted((a, b) => (a.cid < b.cid ? -1 : 1))[0]!)
    free.sort((a, b) => b.seq - a.seq || (a.cid < b.cid ? -1 : 1))
    left.delete(nodeKey(free[0]!))
    order.push(free[0]!)
  }
  return order
}

/** A context that holds these entries at hand, and what was asked of it. */
function holding(entries: readonly VerifiedEntry[]) {
  const byCid = new Map(entries.map((entry) => [entry.cid, entry]))
  const byBody = new Map<string, CidText[]>()
  for (const { body, cid } of entries) byBody.set(body, [...(byBody.get(body) ?? []), cid])
  const reads = new Set<CidText>()
  const recent = {
    get: (cid: CidText) => {
      reads.add(cid)
      return byCid.get(cid)
    },
  }
  const db = { readRow: (_index: string, key: string) => byBody.get(key) }
  const trust = { standingOf: () => ({ standing: 'valid', code: '', why: '' }) }
  return { context: { db, recent, trust } as unknown as Context, reads }
}
