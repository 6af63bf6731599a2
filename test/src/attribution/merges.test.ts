import { describe, expect, it } from 'vitest'
import { judgeAttribution } from '../../../src/attribution/judge.ts'
import { randomOf } from '../../support/envelope.ts'
import type { TestRecord, TestRevision } from './graphs.ts'
import { graphOf } from './graphs.ts'

const rounds = 12

/** What a dishonest merger does to one record. */
type Alteration = (record: TestRecord, old: TestRecord) => TestRecord | undefined

const alterations: Readonly<Record<string, Alteration>> = {
  altered: (record) => ({ ...record, text: 'something else' }),
  stale: (_record, old) => old,
  misattributed: (record) => ({ ...record, created_by: 'dee' }),
  dropped: () => undefined,
}

/**
 * Returns a history of honest rounds: in each, ann and bob work apart from what dee merged before, and dee merges. Each
 * changes what it may alone, so that a merge has one latest value of each record.
 */
function honest(random: () => number): readonly TestRevision[] {
  const revisions: TestRevision[] = [{ name: 'r0', author: 'dee', parents: [], records: [] }]
  for (let round = 1; round <= rounds; round++) {
    const base = revisions.length - 1
    const sides = ['ann', 'bob'].map((author, side) => {
      const records = revisions[base]!.records.map((record) =>
        record['created_by'] === author && random() < 0.5 ? changed(record) : record,
      )
      const made = { kind: 'assessment', id: `${author}-${round}`, created_by: author } as const
      const fresh = { ...made, text: 'said', assessment_status: 'open', step: 0 }
      return { name: `r${round}-${side}`, author, parents: [base], records: [...records, fresh] }
    })
    revisions.push(...sides)
    const [ann, bob] = sides as unknown as [TestRevision, TestRevision]
    const records = [
      ...ann.records.filter(({ created_by }) => created_by === 'ann'),
      ...bob.records.filter(({ created_by }) => created_by === 'bob'),
    ]
    revisions.push({ name: `r${round}`, author: 'dee', parents: [base + 1, base + 2], records })
  }
  return revisions
}

function changed(record: TestRecord): TestRecord {
  return { ...record, step: Number(record['step']) + 1 }
}

/** Returns the verdicts of the last revision's records, by id. */
function verdictsOf(revisions: readonly TestRevision[]): ReadonlyMap<string, string> {
  const { graph, trust, cids } = graphOf(revisions)
  const { judged } = judgeAttribution(graph, cids.slice(-1), trust)
  return new Map(judged[0]!.records.map(({ facts, verdict }) => [facts.id, verdict]))
}

describe('merges of honest work', () => {
  it('have nothing that is not proven, each of them', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const revisions = honest(randomOf(seed))
      const { graph, trust, cids } = graphOf(revisions)
      const { judged, findings } = judgeAttribution(graph, cids, trust)
      expect(findings).toEqual([])
      expect(judged).toHaveLength(revisions.length)
    }
  })

  it.each(Object.entries(alterations))(
    'in which one record is %s, 10 times over: found, and no other accused',
    (name, alter) => {
      for (let seed = 1; seed <= 10; seed++) {
        const random = randomOf(seed)
        const revisions = honest(random)
        const merge = revisions.at(-1)!
        // one that was changed, so that there is an older value to bring back
        const open = merge.records.filter(({ step }) => Number(step) > 0)
        const target = open[Math.floor(random() * open.length)]!
        const old = { ...target, step: Number(target['step']) - 1 }
        const records = merge.records.flatMap((one) =>
          one === target ? (alter(one, old) ?? []) : one,
        )
        const verdicts = verdictsOf([...revisions.slice(0, -1), { ...merge, records }])
        const wanted = { altered: 'forged', misattributed: 'forged' }[name] ?? name
        expect({ seed, of: verdicts.get(target.id) }).toEqual({ seed, of: wanted })
        const others = [...verdicts].filter(([id]) => id !== target.id).map(([, of]) => of)
        expect(new Set(others)).toEqual(new Set(['proven']))
      }
    },
  )
})

describe('a history', () => {
  const record = (id: string, step: number): TestRecord => ({
    kind: 'action',
    id,
    created_by: 'ann',
    owner: 'bob',
    action_status: `step ${step}`,
  })

  /** How many revisions behind one stands what it follows: a line, two lines that meet again and again, and late merges. */
  const shapes: Readonly<Record<string, (i: number) => readonly number[]>> = {
    line: (i) => [i - 1],
    ladder: (i) => (i < 2 ? [0] : [i - 1, i - 2]),
    diamonds: (i) => (i % 3 === 0 ? [i - 1, i - 2] : [i - 1 - ((i - 1) % 3)]),
    'late merges': (i) => (i % 2 === 0 ? [i - 1, Math.max(0, i - 2)] : [0]),
  }

  function timeOf(parentsOf: (i: number) => readonly number[], count: number): number {
    const revisions = Array.from({ length: count }, (_, i): TestRevision => ({
      name: `r${i}`,
      author: i % 2 === 0 ? 'ann' : 'bob',
      parents: i === 0 ? [] : [...new Set(parentsOf(i))],
      records: Array.from({ length: 10 }, (_, id) => record(`${id}`, id === i % 10 ? i : 0)),
    }))
    const { graph, trust, cids } = graphOf(revisions)
    let least = Number.POSITIVE_INFINITY
    for (let run = 0; run < 3; run++) {
      const start = process.cpuUsage()
      judgeAttribution(graph, cids.slice(-1), trust)
      const { user, system } = process.cpuUsage(start)
      least = Math.min(least, (user + system) / 1000)
    }
    return least
  }

  it.each(Object.entries(shapes))('costs what its size is: %s', (name, parentsOf) => {
    const [few, many] = [timeOf(parentsOf, 501), timeOf(parentsOf, 4001)]
    expect(many).toBeLessThan(200 + 8 * 4 * few)
  })
})
