import { describe, expect, it } from 'vitest'
import { judgeAttribution } from '../../../src/attribution/judge.ts'
import type { TestRecord, TestRevision } from './graphs.ts'
import { graphOf } from './graphs.ts'

const action: TestRecord = {
  kind: 'action',
  id: 'a1',
  created_by: 'ann',
  owner: 'bob',
  action_status: 'ready',
  acceptance_criteria: ['The slope is given.'],
}
const assessment: TestRecord = {
  kind: 'assessment',
  id: 's1',
  created_by: 'ann',
  assessment_status: 'accepted',
  assessment_text: 'It drifts.',
}
const conflict: TestRecord = {
  kind: 'conflict',
  id: 'c1',
  created_by: 'ann',
  conflict_status: 'open',
}
const run: TestRecord = {
  kind: 'execution',
  id: 'e1',
  created_by: 'ann',
  action_ref: 'a1',
  execution_status: 'running',
}

const all = [action, assessment, conflict, run]
const first: TestRevision = { name: 'r0', author: 'ann', parents: [], records: all }

/** Returns how the record of an id stands in the last revision, with the codes of all findings. */
function judged(id: string, ...more: readonly Partial<TestRevision>[]): readonly string[] {
  const revisions = [first]
  for (const [i, revision] of more.entries()) {
    const before = revisions.at(-1)!
    const name = `r${i + 1}`
    revisions.push({ name, author: 'cyd', parents: [i], records: before.records, ...revision })
  }
  const { graph, trust, cids } = graphOf(revisions)
  const { judged, findings } = judgeAttribution(graph, cids.slice(-1), trust)
  const of = judged[0]!.records.filter(({ facts }) => facts.id === id)
  return [...of.map(({ verdict }) => verdict), ...findings.map(({ code }) => code)]
}

/** Returns the records with those of the same id replaced. */
function having(...changed: readonly TestRecord[]): readonly TestRecord[] {
  return all.map((one) => changed.find(({ id }) => id === one.id) ?? one)
}

const without = (id: string): readonly TestRecord[] => all.filter((one) => one.id !== id)

describe('whoever may set a record', () => {
  const done = { ...action, action_status: 'completed' }
  const ran = { ...run, execution_status: 'completed', outputs: [{ id: 'o1' }] }
  const solved = { ...conflict, conflict_status: 'resolved', resolution: 'So.' }

  it.each<[string, string, Partial<TestRevision>]>([
    ['the creator, by another name too', 'a1', { author: 'ann', records: having(done) }],
    ['the creator, its words', 's1', { author: 'ann', records: having({ ...assessment, a: 1 }) }],
    ['the owner of an action', 'a1', { author: 'bob', records: having(done) }],
    ['the owner of the action of a run', 'e1', { author: 'bob', records: having(ran) }],
    [
      'anybody who disputes',
      's1',
      { records: having({ ...assessment, assessment_status: 'disputed' }) },
    ],
    [
      'anybody who resolves by the revision itself',
      'c1',
      { records: having({ ...solved, resolved_by_head: 'r1' }) },
    ],
  ])('is %s', (_who, id, revision) => {
    expect(judged(id, revision)).toEqual(['proven'])
  })

  it('is the author of an earlier revision that resolves', () => {
    const records = having({ ...solved, resolved_by_head: 'r1' })
    expect(judged('c1', {}, { author: 'bob' }, { records })).toEqual(['proven'])
    expect(judged('c1', {}, {}, { author: 'bob', records })).toEqual(['changed', 'HS2103'])
  })

  it.each<[string, string, Partial<TestRevision>]>([
    ['another agent, an action', 'a1', { records: having(done) }],
    ['another agent, a run', 'e1', { records: having(ran) }],
    [
      'who accepts what another said',
      's1',
      { records: having({ ...assessment, assessment_status: 'open' }) },
    ],
    [
      'who resolves by another revision',
      'c1',
      { records: having({ ...solved, resolved_by_head: 'r0' }) },
    ],
  ])('is not %s: changed', (_who, id, revision) => {
    expect(judged(id, revision)).toEqual(['changed', 'HS2103'])
  })

  it('is not who becomes owner by the same revision, nor by one that was forged', () => {
    const taken = having({ ...action, owner: 'cyd' })
    const both = having({ ...done, owner: 'cyd' })
    expect(judged('a1', { records: both })).toEqual(['forged', 'HS2101'])
    const back = having(done)
    expect(judged('a1', { records: taken }, { records: back })).toEqual(['changed', 'HS2103'])
  })
})

describe('attacks on records', () => {
  const rewritten = { ...action, acceptance_criteria: ['Anything goes.'] }

  it('an owner rewrites the acceptance criteria: forged, until the creator says so', () => {
    const records = having(rewritten)
    expect(judged('a1', { author: 'bob', records })).toEqual(['forged', 'HS2101'])
    expect(judged('a1', { author: 'bob', records }, { author: 'dee' })).toContain('forged')
    expect(judged('a1', { author: 'bob', records }, { author: 'ann' })).toEqual(['proven'])
    expect(judged('a1', { author: 'bob', records }, { records: all })).toEqual(['proven'])
  })

  it('a withdrawn value is brought back: stale, in a line and in a merge', () => {
    const withdrawn = having({ ...assessment, assessment_status: 'superseded' })
    const change = { author: 'ann', records: withdrawn }
    expect(judged('s1', change, { records: all })).toEqual(['stale', 'HS2102'])
    const old = { author: 'bob', parents: [0], records: all }
    const merge = { parents: [1, 2] }
    expect(judged('s1', change, old, { ...merge, records: all })).toEqual(['stale', 'HS2102'])
    expect(judged('s1', change, old, { ...merge, records: withdrawn })).toEqual(['proven'])
    const back = { ...change, records: having(assessment) }
    expect(judged('s1', change, back)).toEqual(['proven'])
  })

  it('words that the creator has replaced are brought back: stale', () => {
    const records = having({ ...assessment, assessment_text: 'It jumped.' })
    expect(judged('s1', { author: 'ann', records }, { records: all })).toEqual(['stale', 'HS2102'])
  })

  it('a record that its creator took back is brought back: stale', () => {
    const change = { author: 'ann', records: without('s1') }
    expect(judged('s1', change)).toEqual(['dropped'])
    expect(judged('s1', change, { records: all })).toEqual(['stale', 'HS2102'])
    expect(judged('s1', change, { author: 'ann', records: all })).toEqual(['proven'])
  })

  it('a merge takes any of the latest values, and no other', () => {
    const blocked = having({ ...action, action_status: 'blocked' })
    const done = having({ ...action, action_status: 'completed' })
    const fork = [
      { author: 'ann', records: blocked },
      { author: 'bob', parents: [0], records: done },
    ]
    const merge = { parents: [1, 2] }
    expect(judged('a1', ...fork, { ...merge, records: blocked })).toEqual(['proven'])
    expect(judged('a1', ...fork, { ...merge, records: done })).toEqual(['proven'])
    expect(judged('a1', ...fork, { ...merge, records: all })).toEqual(['stale', 'HS2102'])
    const chosen = { ...merge, author: 'ann', records: blocked }
    expect(judged('a1', ...fork, chosen, { records: done })).toEqual(['stale', 'HS2102'])
  })

  it('records are left out of a merge: dropped, and missed where work is open', () => {
    const side = { author: 'bob', parents: [0] }
    const merge = (id: string): Partial<TestRevision> => ({ parents: [1, 2], records: without(id) })
    expect(judged('s1', {}, side, merge('s1'))).toEqual(['dropped', 'HS2105'])
    expect(judged('e1', {}, side, merge('e1'))).toEqual(['dropped', 'HS2105'])
    expect(judged('c1', {}, side, merge('c1'))).toEqual(['dropped', 'HS2106'])
    expect(judged('a1', {}, side, merge('a1'))).toEqual(['dropped', 'HS2106'])
    expect(judged('a1', {}, side, merge('a1'), { records: all })).toEqual(['proven'])
    const byOwner = { ...merge('a1'), author: 'bob' }
    expect(judged('a1', {}, side, byOwner)).toEqual(['dropped', 'HS2105'])
    expect(judged('a1', { author: 'ann', records: without('a1') }, side, merge('a1'))).toEqual([
      'dropped',
      'HS2105',
    ])
  })

  it('open work is called finished and then left out: missed all the same', () => {
    const records = having({ ...action, action_status: 'cancelled' })
    expect(judged('a1', { records }, { records: without('a1') })).toEqual(['dropped', 'HS2106'])
  })

  it('created_by is changed: forged, to oneself, to another, and to a name that nobody has', () => {
    for (const name of ['cyd', 'bob', 'ann-too', 'nobody']) {
      const records = having({ ...assessment, created_by: name })
      expect(judged('s1', { records })).toEqual(['forged', 'HS2101'])
    }
    const given = having({ ...assessment, created_by: 'bob' })
    expect(judged('s1', { author: 'ann', records: given })).toEqual(['forged', 'HS2101'])
  })

  it('a record is claimed by another first: forged, until its creator sets it', () => {
    const said = { ...assessment, id: 's9', created_by: 'bob' }
    const claim = { records: [...all, said] }
    expect(judged('s9', claim)).toEqual(['forged', 'HS2101'])
    expect(judged('s9', claim, { author: 'dee' })).toEqual(['forged', 'HS2101'])
    expect(judged('s9', claim, { author: 'bob' })).toEqual(['proven'])
    expect(judged('s9', claim, { records: all })).toEqual([])
    const taken = { ...said, created_by: 'cyd' }
    const own = { author: 'bob', records: [...all, said] }
    expect(judged('s9', own, { records: [...all, taken] })).toEqual(['forged', 'HS2101'])
  })

  it('a witness gives no proof, and weakens none', () => {
    const said = { ...assessment, id: 's9', created_by: 'bob' }
    const heard = { as: 'witness', records: [...having(rewritten), said] } as const
    expect(judged('s9', heard)).toContain('unproven')
    expect(judged('s9', heard, {})).toContain('unproven')
    expect(judged('a1', heard, {})).toContain('forged')
    expect(judged('a1', heard, { records: all })).toEqual(['proven'])
    expect(judged('a1', heard, { author: 'ann', records: all })).toEqual(['proven'])
  })

  it('an entry without a right gives no proof, and takes none away', () => {
    const wrong = { author: 'ann', as: 'rejected', records: having(rewritten) } as const
    expect(judged('a1', wrong, {})).toEqual(['forged', 'HS2101'])
    expect(judged('a1', wrong, { records: all })).toEqual(['proven'])
  })

  it('a record stands twice: neither is proven', () => {
    expect(judged('s1', { records: [...all, assessment] })).toEqual([
      'unproven',
      'unproven',
      'HS2104',
      'HS2104',
    ])
  })
})

describe('what is not here', () => {
  it('proves nothing and accuses nobody: shallow history', () => {
    const records = having({ ...assessment, assessment_text: 'Other words.' })
    const cut = { isShallow: true, records }
    expect(judged('s1', cut)).toContain('unproven')
    expect(judged('s1', cut)).not.toContain('HS2101')
    expect(judged('s1', cut, { author: 'dee' })).toContain('unproven')
    expect(judged('s1', cut, { author: 'ann' })).toContain('proven')
    expect(judged('s1', { isShallow: true, author: 'ann' })).toEqual(['proven'])
    const altered = having({ ...assessment, assessment_text: 'Forged words.' })
    expect(judged('s1', cut, { records: altered })).toContain('forged')
  })

  it('is a key of a creator that the roster does not know', () => {
    const said = { ...assessment, id: 's9', created_by: 'a person' }
    const told = { records: [...all, said] }
    const more = { author: 'bob', records: [...all, { ...said, assessment_text: 'More.' }] }
    expect(judged('s9', told)).toEqual(['unproven', 'HS2104'])
    expect(judged('s9', told, more)).toEqual(['unproven', 'HS2104'])
    const taken = { author: 'bob', records: [...all, { ...said, created_by: 'bob' }] }
    expect(judged('s9', told, taken)).toEqual(['forged', 'HS2101'])
  })
})

it('an absent field, null and an empty list say the same', () => {
  const records = having({ ...assessment, basis_refs: [], basis_artifacts: null })
  expect(judged('s1', { records })).toEqual(['proven'])
})
