import { describe, expect, it } from 'vitest'
import type { VerifiedEntry } from '../../../src/entry/entry.ts'
import { EntryTable } from '../../../src/entry/entry-table.ts'
import { cyclicNodes } from '../../../src/graph/cyclic-nodes.ts'
import type { Node } from '../../../src/graph/nodes.ts'
import { NodeTable, nodesOf } from '../../../src/graph/nodes.ts'
import type { CidText } from '../../../store/cid-text.ts'
import { cidTextOf } from '../../../store/cid-text.ts'
import { randomOf } from '../../support/envelope.ts'

const cidOf = (text: string): CidText => cidTextOf(Buffer.from(text), 'dag-json')

/** Entries of few documents, with links to each other in whatever direction. */
function randomTable(random: () => number): EntryTable {
  const table = new EntryTable()
  const below = (most: number): number => Math.floor(random() * most)
  const count = 1 + below(14)
  for (let i = 0; i < count; i++) {
    const parents = Array.from({ length: below(3) }, () => cidOf(`entry ${below(count + 1)}`))
    table.add({
      cid: cidOf(`entry ${i}`),
      body: cidOf(`body ${below(10)}`),
      author: `author ${below(2)}`,
      kind: ['envelope', 'envelope', 'turn', 'certificate'][below(4)],
      parents: [...new Set(parents)].sort(),
      prev: [],
      refs: [],
      shallow: random() < 0.2 ? ['elsewhere'] : [],
      seq: i + 1,
      stream: 'csag:w',
      witness: random() < 0.2,
    } as unknown as VerifiedEntry)
  }
  return table
}

/** The names of nodes that lead to themselves, found by going every way from each. */
function circlesIn(nodes: readonly Node[]): ReadonlySet<CidText> {
  const byEntry = new Map(nodes.flatMap((node) => node.entries.map(({ cid }) => [cid, node])))
  const found = new Set<CidText>()
  for (const start of nodes) {
    const seen = new Set<Node>()
    const waiting = [start]
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      for (const parent of node.parents.map((cid) => byEntry.get(cid))) {
        if (parent === start) found.add(start.entry.cid)
        if (parent === undefined || seen.has(parent)) continue
        seen.add(parent)
        waiting.push(parent)
      }
    }
  }
  return found
}

const told = (node: Node | undefined) =>
  node && [node.entry.cid, node.entries.map(({ cid }) => cid), node.parents]

describe('NodeTable', () => {
  it('has the nodes that are made all at once', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const entries = randomTable(randomOf(seed))
      const nodes = nodesOf(entries.values())
      const table = new NodeTable(entries)
      for (const cid of entries.keys()) {
        const wanted = nodes.find((node) => node.entries.some((entry) => entry.cid === cid))
        expect(told(table.get(cid)), `seed ${seed}`).toEqual(told(wanted))
        expect(table.nameOf(cid)).toBe(wanted?.entry.cid)
      }
      const several = nodes.filter((node) => node.entries.length > 1)
      expect(table.restated().map(told)).toEqual(several.map(told))
      expect(table.get(cidOf('another'))).toBeUndefined()
    }
  })

  it('leaves kinds out that nobody wants', () => {
    for (let seed = 1; seed <= 100; seed++) {
      const entries = randomTable(randomOf(seed))
      const table = new NodeTable(entries, (kind) => kind === 'turn')
      for (const { cid, kind } of entries.values())
        expect(table.nameOf(cid) === undefined, `seed ${seed}`).toBe(kind !== 'turn')
    }
  })
})

describe('cyclicNodes', () => {
  it('finds each node that leads to itself through one that was restated', () => {
    let circles = 0
    for (let seed = 1; seed <= 600; seed++) {
      const entries = randomTable(randomOf(seed))
      const nodes = nodesOf(entries.values())
      const found = cyclicNodes(new NodeTable(entries)).map(({ entry }) => entry.cid)
      const wanted = circlesIn(nodes)
      // entries that name each other by hash make no circle alone
      const isRestated = nodes.some((node) => node.entries.length > 1)
      const real = [...found].every((cid) => wanted.has(cid))
      expect(real, `seed ${seed}`).toBe(true)
      if (!isRestated) expect(found).toEqual([])
      for (const { entry, entries: all } of nodes)
        if (all.length > 1)
          expect(found.includes(entry.cid), `seed ${seed}`).toBe(wanted.has(entry.cid))
      circles += found.length
    }
    expect(circles).toBeGreaterThan(100)
  })
})
