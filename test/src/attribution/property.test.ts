import { describe, expect, it } from 'vitest'
import { judgeAttribution } from '../../../src/attribution/judge.ts'
import { randomOf } from '../../support/envelope.ts'
import type { TestRevision } from './graphs.ts'
import { graphOf } from './graphs.ts'
import { oracle } from './oracle.ts'
import { randomHistory } from './random-history.ts'

const runs = process.env['HSTORE_SOAK'] ? 100_000 : 1500

describe('attribution of random histories', () => {
  it('is what the oracle says, of every revision', () => {
    const counts = new Map<string, number>()
    for (let seed = 1; seed <= runs; seed++) {
      const revisions = randomHistory(randomOf(seed))
      const wanted = oracle(revisions)
      const found = verdictsOf(revisions)
      for (const [i, of] of wanted.entries()) {
        expect({ seed, i, of: sorted(found[i]!) }).toEqual({ seed, i, of: sorted(of) })
        for (const verdict of of.values()) counts.set(verdict, (counts.get(verdict) ?? 0) + 1)
      }
    }
    const kinds = ['changed', 'due', 'forged', 'missed', 'noted', 'proven', 'stale', 'unproven']
    expect([...counts.keys()].sort()).toEqual(kinds)
    expect(Math.min(...counts.values())).toBeGreaterThan(runs / 40)
  })

  it('of one revision is the same whatever else is there, and in any order', () => {
    for (let seed = 1; seed <= runs / 10; seed++) {
      const random = randomOf(seed)
      const revisions = randomHistory(random)
      const wanted = verdictsOf(revisions)
      const { graph, trust, cids } = graphOf(revisions)
      const shuffled = [...graph.entries].sort(() => random() - 0.5)
      const other = { ...graph, entries: new Map(shuffled) }
      const i = Math.floor(random() * revisions.length)
      const { judged } = judgeAttribution(other, [cids[i]!], trust)
      expect({ seed, of: sorted(wordsOf(judged[0]!)) }).toEqual({ seed, of: sorted(wanted[i]!) })
    }
  })
})

type Judged = ReturnType<typeof judgeAttribution>['judged'][number]

function verdictsOf(revisions: readonly TestRevision[]): readonly ReadonlyMap<string, string>[] {
  const { graph, trust, cids } = graphOf(revisions)
  const { judged } = judgeAttribution(graph, cids, trust)
  const byCid = new Map(judged.map((one) => [one.node.entry.cid, wordsOf(one)]))
  return cids.map((cid) => byCid.get(cid)!)
}

function wordsOf({ records }: Judged): ReadonlyMap<string, string> {
  return new Map(
    records.map(({ facts, verdict, absence }) => [`${facts.kind} ${facts.id}`, absence ?? verdict]),
  )
}

function sorted(map: ReadonlyMap<string, string>): readonly (readonly [string, string])[] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1))
}
