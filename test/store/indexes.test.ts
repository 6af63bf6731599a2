import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CidText } from '../../store/cid-text.ts'
import type { EntryRow } from '../../store/indexes.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import { planAll, planRows } from '../../store/indexes.ts'
import { entryKey, nameKey, nodeKey, tipKey } from '../../store/keyspace.ts'

type Rows = Record<string, readonly string[]>

const stream = 'csag:w'
const ada = 'did:key:z6MkAda'
const bob = 'did:key:z6MkBob'

describe('planRows', () => {
  it('makes the rows of a first entry', () => {
    const first = entry('first', { name: 'r1' })
    expect(fold([first])).toEqual({
      [`entries ${entryKey(stream, 1, first.cid)}`]: [ada],
      [`bodies ${first.body}`]: [first.cid],
      [`heads ${stream}`]: [first.cid],
      [`names ${nameKey(stream, 'r1')}`]: [first.cid],
      [`nodes ${nodeKey(stream, first.cid)}`]: [first.node, first.body],
      [`tips ${tipKey(stream, ada)}`]: [first.cid],
    })
  })

  it('writes six rows for a further entry of a chain, and none for one that is there', () => {
    const first = entry('first')
    const second = entry('second', { name: 'r2', parents: [first], prev: [first] })
    const rows = fold([first])
    const read = (index: string, key: string): readonly string[] | undefined =>
      rows[`${index} ${key}`]
    expect(planRows(read, second)).toHaveLength(6)
    expect(planRows(read, first)).toEqual([])
  })

  it('moves the head along a line and keeps both heads of a fork until they are merged', () => {
    const first = entry('first')
    const left = entry('left', { parents: [first], prev: [first] })
    const right = entry('right', { parents: [first], signer: bob })
    const merge = entry('merge', { parents: [left, right], prev: [left] })
    expect(heads([first, left])).toEqual([left.cid])
    expect(heads([first, left, right])).toEqual([left.cid, right.cid].sort())
    expect(heads([first, left, right, merge])).toEqual([merge.cid])
  })

  it('takes all entries of a node out of the heads when one of them is followed', () => {
    const first = entry('first')
    const again = entry('again', { like: first, signer: bob })
    const child = entry('child', { parents: [first], prev: [first] })
    expect(heads([first, again])).toEqual([first.cid, again.cid].sort())
    expect(heads([first, again, child])).toEqual([child.cid])
    expect(heads([first, child, again])).toEqual([child.cid])
  })

  it('does not bring back a followed node by a restatement that itself follows something', () => {
    const root = entry('root')
    const first = entry('first', { prev: [root] })
    const child = entry('child', { parents: [first], prev: [first] })
    const grafted = entry('grafted', { like: first, parents: [root], prev: [child] })
    expect(heads([root, first, child])).toEqual([root.cid, child.cid].sort())
    expect(heads([root, first, child, grafted])).toEqual([child.cid])
  })

  it('leaves no head where documents became each other’s ancestors', () => {
    const a = entry('a')
    const b = entry('b', { parents: [a], prev: [a] })
    const aAgain = entry('a again', { like: a, parents: [b], prev: [b] })
    expect(heads([a, b, aAgain])).toBeUndefined()
  })

  it('moves no head for a note, which has tips all the same', () => {
    const first = entry('first')
    const note = entry('note', { parents: [first], prev: [first], isNode: false, like: first })
    const rows = fold([first, note])
    expect(rows[`heads ${stream}`]).toEqual([first.cid])
    expect(rows[`tips ${tipKey(stream, ada)}`]).toEqual([note.cid])
  })

  it('keeps the tips of a forked chain until a later entry names both', () => {
    const first = entry('first')
    const left = entry('left', { prev: [first] })
    const right = entry('right', { prev: [first] })
    const joined = entry('joined', { prev: [left, right] })
    const tips = (entries: EntryRow[]): unknown => fold(entries)[`tips ${tipKey(stream, ada)}`]
    expect(tips([first, left, right])).toEqual([left.cid, right.cid].sort())
    expect(tips([first, left, right, joined])).toEqual([joined.cid])
  })
})

describe('planRows and planAll over histories of any shape', () => {
  it('give the same rows in every order, those that a plain count gives', () => {
    fc.assert(
      fc.property(history(), fc.array(fc.nat(), { maxLength: 40 }), (entries, choices) => {
        const expected = oracle(entries)
        expect(fold(entries)).toEqual(expected)
        const reordered = linearOrder(entries, choices)
        expect(fold([...reordered, ...entries])).toEqual(expected)
        const shuffled = reordered.toReversed()
        expect(asRows(planAll(shuffled))).toEqual(expected)
      }),
      { numRuns: process.env['HSTORE_SOAK'] ? 20_000 : 500 },
    )
  })

  it('rebuild a long history without running out of stack', () => {
    const entries: EntryRow[] = []
    for (let i = 0; i < 12_000; i++) {
      const links = entries.slice(-1)
      entries.push(entry(`e${i}`, { parents: links, prev: links }))
    }
    const rows = asRows(planAll(entries.toReversed()))
    expect(rows[`heads ${stream}`]).toEqual([entries.at(-1)!.cid])
  })
})

interface Shape {
  readonly stream?: string
  readonly signer?: string
  readonly name?: string
  readonly parents?: readonly EntryRow[]
  readonly prev?: readonly EntryRow[]
  readonly isNode?: boolean
  /** The entry whose body, and as a node whose node, this one has. */
  readonly like?: EntryRow
}

function entry(id: string, shape: Shape = {}): EntryRow {
  const prev = shape.prev ?? []
  const body = shape.like?.body ?? cidOf(`body of ${id}`)
  const cid = cidOf(`entry ${id}`)
  const isNode = shape.isNode ?? true
  return {
    cid,
    stream: shape.stream ?? stream,
    signer: shape.signer ?? ada,
    name: shape.name,
    body,
    parents: (shape.parents ?? []).map((parent) => parent.cid),
    prev: prev.map((entry) => entry.cid),
    seq: 1 + Math.max(0, ...prev.map(({ seq }) => seq)),
    isNode,
    node: isNode ? `${body} author` : cid,
  }
}

function cidOf(text: string): CidText {
  return cidTextOf(new TextEncoder().encode(text), 'dag-json')
}

/** Histories over two streams, three signers and few bodies, so that restatements, forks and merges are common. */
function history(): fc.Arbitrary<EntryRow[]> {
  const step = fc.record({
    stream: fc.constantFrom('csag:w', 'lane:l'),
    signer: fc.constantFrom(ada, bob, 'did:key:z6MkEve'),
    body: fc.nat(5),
    author: fc.nat(1),
    name: fc.option(fc.constantFrom('r1', 'r2', ''), { nil: undefined }),
    isNode: fc.boolean(),
    parents: fc.array(fc.nat(), { maxLength: 3 }),
    prev: fc.array(fc.nat(), { maxLength: 2 }),
  })
  return fc.array(step, { maxLength: 14 }).map((steps) => {
    const entries: EntryRow[] = []
    for (const [i, { stream, signer, name, isNode, ...step }] of steps.entries()) {
      const nodes = entries.filter((e) => e.stream === stream && e.isNode)
      const own = entries.filter((e) => e.stream === stream && e.signer === signer)
      const cid = cidOf(`${i}`)
      const body = cidOf(`body ${step.body}`)
      const prev = pick(own, step.prev)
      entries.push({
        cid,
        stream,
        signer,
        name,
        body,
        parents: pick(nodes, step.parents).map((parent) => parent.cid),
        prev: prev.map((entry) => entry.cid),
        seq: 1 + Math.max(0, ...prev.map(({ seq }) => seq)),
        isNode,
        node: isNode && stream === 'csag:w' ? `${body} ${step.author}` : cid,
      })
    }
    return entries
  })
}

function pick(from: readonly EntryRow[], choices: readonly number[]): EntryRow[] {
  if (from.length === 0) return []
  return [...new Set(choices.map((choice) => from[choice % from.length]!))]
}

/** Another order in which links come first: at each step any entry whose links are placed. */
function linearOrder(entries: readonly EntryRow[], choices: readonly number[]): EntryRow[] {
  const placed = new Set<string>()
  const rest = [...entries]
  for (let i = 0; rest.length > 0; i++) {
    const ready = rest.filter(({ parents, prev }) =>
      [...parents, ...prev].every((link) => placed.has(link)),
    )
    const next = ready[(choices[i] ?? 0) % ready.length]!
    rest.splice(rest.indexOf(next), 1)
    placed.add(next.cid)
  }
  return [...placed].map((cid) => entries.find((entry) => entry.cid === cid)!)
}

function fold(entries: readonly EntryRow[]): Rows {
  const rows: Rows = {}
  for (const entry of entries) {
    for (const { index, key, values } of planRows((i, k) => rows[`${i} ${k}`], entry)) {
      if (values === undefined) delete rows[`${index} ${key}`]
      else rows[`${index} ${key}`] = values
    }
  }
  return rows
}

function asRows(changes: ReturnType<typeof planAll>): Rows {
  return Object.fromEntries(
    changes.map(({ index, key, values }) => [`${index} ${key}`, values ?? []]),
  )
}

function heads(entries: readonly EntryRow[]): readonly string[] | undefined {
  return fold(entries)[`heads ${stream}`]
}

/** The rows by their definition, over the whole set at once. */
function oracle(entries: readonly EntryRow[]): Rows {
  const rows: Record<string, string[]> = {}
  const add = (row: string, value: string): void => void (rows[row] ??= []).push(value)
  for (const e of entries) {
    const others = entries.filter(({ stream }) => stream === e.stream)
    add(`entries ${entryKey(e.stream, e.seq, e.cid)}`, e.signer)
    add(`bodies ${e.body}`, e.cid)
    if (e.name !== undefined) {
      const key = nameKey(e.stream, e.name)
      add(`names ${key}`, e.cid)
      const isDouble = others.some(({ cid, name }) => cid !== e.cid && name === e.name)
      if (isDouble) add(`doubles ${key}`, e.cid)
    }
    const named = others.some(({ prev }) => prev.includes(e.cid))
    if (!named) add(`tips ${tipKey(e.stream, e.signer)}`, e.cid)
    if (!e.isNode) continue
    const group = others.filter(({ isNode, node }) => isNode && node === e.node)
    const followed = others.some(
      ({ isNode, parents }) => isNode && group.some(({ cid }) => parents.includes(cid)),
    )
    if (!followed) add(`heads ${e.stream}`, e.cid)
    if (e.node !== e.cid) {
      add(`nodes ${nodeKey(e.stream, e.cid)}`, e.node)
      add(`nodes ${nodeKey(e.stream, e.cid)}`, e.body)
    }
  }
  for (const [row, values] of Object.entries(rows)) if (!row.startsWith('nodes ')) values.sort()
  return rows
}
