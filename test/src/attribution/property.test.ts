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

  it('is the same where records that were taken back are put away, but for some of these', () => {
    let putAway = 0
    for (let seed = 1; seed <= runs / 3; seed++) {
      const random = randomOf(seed)
      const revisions = seed % 2 === 0 ? randomHistory(random) : takingBack(random)
      const { graph, trust, cids } = graphOf(revisions)
      const whole = judgeAttribution(graph, cids, trust)
      const short = judgeAttribution(graph, cids, trust, { leavesOutDue: true })
      expect({ seed, of: short.findings }).toEqual({ seed, of: whole.findings })
      for (const [i, { records }] of whole.judged.entries()) {
        const left = new Set(short.judged[i]!.records.map(({ facts }) => facts.key))
        const told = records.filter(
          ({ absence, facts }) => absence !== 'due' || left.has(facts.key),
        )
        putAway += records.length - told.length
        expect({ seed, i, of: short.judged[i]!.records.map(shown) }).toEqual({
          seed,
          i,
          of: told.map(shown),
        })
      }
    }
    expect(putAway).toBeGreaterThan(3 * runs)
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

/** A history with few forks, merges and roots, in which records are stated, taken back and sometimes brought back. */
function takingBack(random: () => number): readonly TestRevision[] {
  const below = (count: number): number => Math.floor(random() * count)
  const records = (['action', 'assessment', 'execution'] as const).flatMap((kind) =>
    ['1', '2', '3', '4', '5', '6', '7', '8'].map((id) => ({
      kind,
      id,
      created_by: 'ann',
      text: 'one',
      action_ref: id,
    })),
  )
  return Array.from({ length: 6 + below(20) }, (_, i) => {
    const ways = random() < 0.9 ? 1 : below(3)
    const back = (): number => (random() < 0.8 ? 1 : 1 + below(4))
    const parents = i === 0 ? [] : Array.from({ length: ways }, () => Math.max(0, i - back()))
    // most have their time, a few come back
    const stated = records.filter((_record, at) => random() < (at % 8 === i % 8 ? 0.8 : 0.03))
    const changed = stated.map((one) => (random() < 0.05 ? { ...one, text: 'two' } : one))
    const as = random() < 0.1 ? (['rejected', 'witness'] as const)[below(2)]! : undefined
    const author = random() < 0.9 ? 'ann' : 'bob'
    const revision = { name: `r${i}`, author, parents: [...new Set(parents)], records: changed }
    return as === undefined ? revision : { ...revision, as }
  })
}

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

function shown({ facts, first, since, ...others }: Judged['records'][number]): object {
  return { ...others, facts, first: first.entry.cid, since: since.entry.cid }
}

function sorted(map: ReadonlyMap<string, string>): readonly (readonly [string, string])[] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1))
}
