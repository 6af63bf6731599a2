import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DocumentDiff } from '../../src/diff.ts'
import { diffDocuments } from '../../src/diff.ts'
import { fieldChanges, textOf } from '../../src/diff-fields.ts'
import type { JsonForm } from '../../store/canonical.ts'

type Document = { [key: string]: JsonForm }

const lists = {
  source_artifacts: 'artifact',
  assessments: 'assessment',
  actions: 'action',
  executions: 'execution',
  conflicts: 'conflict',
} as const

const value: fc.Arbitrary<JsonForm> = fc.oneof(
  fc.constantFrom<JsonForm>('a', 'b', 1, null, true, [], {}),
  fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 3 }),
  fc.array(fc.record({ id: fc.constantFrom('p', 'q'), n: fc.nat(2) }), { maxLength: 2 }),
  fc.record({ in: fc.nat(2), '/': fc.constantFrom('link', 'other') }, { requiredKeys: [] }),
)
const record: fc.Arbitrary<JsonForm> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record(
      { id: fc.constantFrom('1', '2', '3', '__proto__', 'constructor'), s: value, t: value },
      { requiredKeys: ['id'] },
    ),
  },
  { weight: 1, arbitrary: fc.record({ id: fc.constantFrom(1, null), s: value }) },
  { weight: 1, arbitrary: value },
)
const list = fc.oneof(
  { weight: 6, arbitrary: fc.array(record, { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom<JsonForm>(null, [], 'no list') },
)
const documents: fc.Arbitrary<Document> = fc.record(
  { id: fc.constantFrom('w', 'v'), note: value, __proto__: value, ...mapOf(list) },
  { requiredKeys: [] },
)

function mapOf(arbitrary: fc.Arbitrary<JsonForm>): Record<string, fc.Arbitrary<JsonForm>> {
  return Object.fromEntries(Object.keys(lists).map((key) => [key, arbitrary]))
}

/** Returns the records of each kind, as texts in no order. */
function recordsOf(document: Document): Map<string, string[]> {
  return new Map(
    Object.entries(lists).map(([key, kind]) => {
      const value = Object.hasOwn(document, key) ? document[key] : undefined
      return [kind, (Array.isArray(value) ? value : []).map((one) => textOf(one)).sort()]
    }),
  )
}

/** Does to the records of a document what a diff says. */
function applied(document: Document, { added, changed, dropped }: DocumentDiff): unknown {
  const records = recordsOf(document)
  for (const { kind, id, fields } of changed) {
    const of = records.get(kind)
    const at = of?.findIndex((text) => (JSON.parse(text) as { id?: unknown } | null)?.id === id)
    if (of === undefined || at === undefined) continue
    const record = JSON.parse(of[at]!) as Document
    for (const { pointer, to } of fields) set(record, pointer.split('/').slice(1), to)
    of[at] = textOf(record)
  }
  for (const { kind, record } of dropped) {
    const of = records.get(kind)!
    const at = of.indexOf(textOf(record))
    expect(at).toBeGreaterThanOrEqual(0)
    of.splice(at, 1)
  }
  for (const { kind, record } of added) records.get(kind)!.push(textOf(record))
  return new Map([...records].map(([kind, of]) => [kind, of.sort()]))
}

function set(target: Document, [step = '', ...more]: string[], to: JsonForm | undefined): void {
  const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
  if (more.length > 0) set(target[key] as Document, more, to)
  else if (to === undefined) delete target[key]
  else Object.defineProperty(target, key, { value: to, enumerable: true, configurable: true })
}

describe('the diff of two documents', () => {
  it('gives the records of the second when it is done to the first', () => {
    fc.assert(
      fc.property(documents, documents, (a, b) => {
        const diff = diffDocuments('envelope', a, b)
        expect(applied(a, diff)).toEqual(recordsOf(b))
      }),
      { numRuns: 3000 },
    )
  })

  it('is empty exactly where they are the same', () => {
    fc.assert(
      fc.property(documents, documents, fc.boolean(), (a, other, isCopy) => {
        const b = isCopy ? (JSON.parse(textOf(a)) as Document) : other
        const { added, changed, dropped } = diffDocuments('envelope', a, b)
        expect(added.length + changed.length + dropped.length === 0).toBe(textOf(a) === textOf(b))
      }),
      { numRuns: 3000 },
    )
  })

  it('turned round adds what it dropped', () => {
    fc.assert(
      fc.property(documents, documents, (a, b) => {
        const [there, back] = [diffDocuments('envelope', a, b), diffDocuments('envelope', b, a)]
        expect(back.added).toEqual(there.dropped)
        expect(back.dropped).toEqual(there.added)
      }),
    )
  })

  it('knows a record by its id, wherever it stands', () => {
    const before = [{ id: 'a', s: 1 }, { id: 'b' }]
    const after = [{ id: 'c' }, { id: 'b' }, { id: 'a', s: 2 }]
    expect(
      diffDocuments('envelope', { id: 'w', actions: before }, { id: 'w', actions: after }),
    ).toEqual({
      added: [{ kind: 'action', id: 'c', record: { id: 'c' } }],
      changed: [{ kind: 'action', id: 'a', fields: [{ pointer: '/s', from: 1, to: 2 }] }],
      dropped: [],
    })
  })

  it('tells another order of the same records', () => {
    const [a, b] = [{ id: 'a' }, { id: 'b' }]
    const diff = diffDocuments(
      'envelope',
      { id: 'w', actions: [a, b] },
      { id: 'w', actions: [b, a] },
    )
    const fields = [{ pointer: '/actions', from: ['a', 'b'], to: ['b', 'a'] }]
    expect(diff).toEqual({
      added: [],
      dropped: [],
      changed: [{ kind: 'envelope', id: 'w', fields }],
    })
  })

  it('takes records that share an id as a whole', () => {
    const twice = [
      { id: 'a', s: 1 },
      { id: 'a', s: 2 },
    ]
    const { added, changed, dropped } = diffDocuments(
      'envelope',
      { actions: twice },
      {
        actions: [
          { id: 'a', s: 2 },
          { id: 'a', s: 3 },
        ],
      },
    )
    expect(changed).toEqual([])
    expect(added.map(({ record }) => record)).toEqual([{ id: 'a', s: 3 }])
    expect(dropped.map(({ record }) => record)).toEqual([{ id: 'a', s: 1 }])
  })

  it('is by agent, root and check where a roster or a certificate is compared', () => {
    const agent = (machine: string): Document => ({ id: 'bot', keys: [{ did: 'd', machine }] })
    const roster = diffDocuments('roster', { agents: [agent('pier')] }, { agents: [agent('quay')] })
    expect(roster.changed).toEqual([
      {
        kind: 'agent',
        id: 'bot',
        fields: [{ pointer: '/keys/0/machine', from: 'pier', to: 'quay' }],
      },
    ])
    const check = (result: string): Document => ({ checks: [{ name: 'trust', result }] })
    expect(diffDocuments('certificate', check('ok'), check('failed')).changed[0]).toMatchObject({
      kind: 'check',
      id: 'trust',
    })
  })

  it('is field by field for kinds that this version does not know', () => {
    const diff = diffDocuments('riddle', { a: { 'b/c': 1 }, d: 1 }, { a: { 'b/c': 2 } })
    expect(diff.changed).toEqual([
      {
        kind: 'riddle',
        id: null,
        fields: [
          { pointer: '/a/b~1c', from: 1, to: 2 },
          { pointer: '/d', from: 1 },
        ],
      },
    ])
  })

  it('does not take long over lists of nothing that has an id', () => {
    const many = Array.from({ length: 200_000 }, (_, i) => i)
    const { added, dropped } = diffDocuments(
      'envelope',
      { actions: many },
      { actions: [...many, 'x'] },
    )
    expect({ added: added.length, dropped: dropped.length }).toEqual({ added: 1, dropped: 0 })
  })
})

describe('the fields in which two values differ', () => {
  it('leave out what is not there', () => {
    expect(fieldChanges({ a: null }, {})).toEqual([{ pointer: '/a', from: null }])
    expect(fieldChanges({}, { a: null })).toEqual([{ pointer: '/a', to: null }])
  })

  it('have links as one piece', () => {
    const [from, to] = [{ '/': 'x' }, { '/': 'y' }]
    expect(fieldChanges({ a: from }, { a: to })).toEqual([{ pointer: '/a', from, to }])
  })
})
