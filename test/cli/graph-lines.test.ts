import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { drawGraph } from '../../src/cli/graph-lines.ts'
import type { DrawnHistory } from '../../src/cli/graph-order.ts'
import { lineByLine } from '../../src/cli/graph-order.ts'
import { traceGraph } from '../support/graph-tracer.ts'

/** A node by its name, and those of what it follows. */
interface GraphNode {
  readonly key: string
  readonly parents: readonly string[]
}

/** Reads `child:parent,parent` words, children first. */
function nodesIn(text: string): GraphNode[] {
  return text
    .trim()
    .split(/\s+/)
    .map((word) => {
      const [key = '', parents = ''] = word.split(':')
      return { key, parents: parents.split(',').filter((parent) => parent !== '') }
    })
}

/** The history of nodes: a name that no node has gets a number behind theirs. */
function historyOf(nodes: readonly GraphNode[]): DrawnHistory {
  const numbers = new Map(nodes.map(({ key }, i) => [key, i]))
  const indexes = nodes.map(({ parents }) =>
    parents.map((parent) => {
      if (!numbers.has(parent)) numbers.set(parent, numbers.size)
      return numbers.get(parent)!
    }),
  )
  return { size: nodes.length, indexesAt: (index) => indexes[index]! }
}

/** The nodes in their order, line by line. */
function ordered(nodes: readonly GraphNode[]): GraphNode[] {
  return Array.from(lineByLine(historyOf(nodes)), (index) => nodes[index]!)
}

function linesOf(nodes: readonly GraphNode[], maxLanes: number) {
  const history = historyOf(nodes)
  const lines = drawGraph(history, lineByLine(history), maxLanes)
  return Array.from(lines, ({ node, ...line }) => ({
    ...line,
    node: node === undefined ? undefined : nodes[node]!,
  }))
}

function drawn(nodes: readonly GraphNode[], maxLanes = 12): string[] {
  return linesOf(nodes, maxLanes).map(({ graph, node }) =>
    node === undefined ? graph : `${graph} ${node.key}`,
  )
}

/** Any history: node `n` follows some of the nodes with a larger number, and they stand children first. */
const histories: fc.Arbitrary<GraphNode[]> = fc
  .array(fc.array(fc.nat(11), { maxLength: 5 }), { minLength: 1, maxLength: 40 })
  .map((steps) =>
    steps.map((parents, i) => ({
      key: `n${i}`,
      parents: parents
        .filter((step) => i + 1 + step < steps.length)
        .map((step) => `n${i + 1 + step}`),
    })),
  )

describe('a drawn graph', () => {
  it('shows a fork and its merge', () => {
    expect(drawn(nodesIn('m:a,b a:r b:r r'))).toEqual(['* m', '|\\', '| * b', '* | a', '|/', '* r'])
  })

  it('shows a merge of many parents as a fan', () => {
    expect(drawn(nodesIn('m:a,b,c,d a:r b:r c:r d:r r'))).toEqual([
      '* m',
      '|\\',
      '|\\ \\',
      '|\\ \\ \\',
      '| | | * d',
      '| | * | c',
      '| | |/',
      '| * | b',
      '| |/',
      '* | a',
      '|/',
      '* r',
    ])
  })

  it('shows merges that cross', () => {
    expect(drawn(nodesIn('x:a,b y:a,b a:r b:r r'))).toEqual([
      '* x',
      '|\\',
      '| | * y',
      '| |/|',
      '|/|/',
      '| * b',
      '* | a',
      '|/',
      '* r',
    ])
  })

  it('shows several roots', () => {
    expect(drawn(nodesIn('m:a,b c a b'))).toEqual(['* m', '|\\', '| * b', '* a', '', '* c'])
  })

  it('goes on below where history was cut off', () => {
    expect(drawn(nodesIn('m:a,b b:gone'))).toEqual(['* m', '|\\', '| * b'])
    expect(drawn(nodesIn('h:gone,also g'))).toEqual(['* h', '|\\', '| | * g'])
  })

  it('passes far lanes by', () => {
    expect(drawn(nodesIn('h:a,b,c,d i:a a b c d:a'))).toContain('|/| |')
  })

  it('has every node once, children before parents, and each edge reaches its parent', () => {
    fc.assert(
      fc.property(histories, (nodes) => {
        const lines = linesOf(nodes, 1000)
        const order = lines.flatMap(({ node }) => node?.key ?? [])
        expect([...order].sort()).toEqual(nodes.map(({ key }) => key).sort())
        const at = new Map(order.map((key, i) => [key, i]))
        const edges = nodes.flatMap(({ key, parents }) =>
          [...new Set(parents)].map((parent) => `${key} ${parent}`),
        )
        for (const edge of edges) {
          const [child = '', parent = ''] = edge.split(' ')
          expect(at.get(child)).toBeLessThan(at.get(parent)!)
        }
        const traced = traceGraph(lines.map(({ graph, node }) => ({ graph, key: node?.key })))
        expect([...traced].sort()).toEqual(edges.sort())
        for (const { isAfterParent, node } of lines)
          expect(isAfterParent ?? false, node?.key).toBe(false)
      }),
      { numRuns: 2000 },
    )
  })

  it('is never wider than its lanes, whatever their number', () => {
    fc.assert(
      fc.property(histories, fc.integer({ min: 1, max: 4 }), (nodes, maxLanes) => {
        const lines = linesOf(nodes, maxLanes)
        for (const { graph } of lines) {
          expect(graph.length).toBeLessThanOrEqual(2 * maxLanes + 1)
          expect(graph).toMatch(/^(?:[*|\\/_: ]*[^ ])?$/)
        }
        const stars = lines.filter(({ graph }) => graph.includes('*'))
        expect(stars.map(({ node }) => node?.key)).toEqual(ordered(nodes).map(({ key }) => key))
      }),
    )
  })

  it('marks nodes that are their own ancestors, and ends', () => {
    const lines = linesOf(nodesIn('top:a a:b b:a self:self'), 12)
    expect(
      lines.flatMap(({ node, isAfterParent }) => (isAfterParent === true ? node?.key : [])),
    ).toEqual(['b', 'self'])
  })

  it('of 60 forks with a line of history each keeps two lanes', () => {
    const forks = Array.from({ length: 60 }, (_, i) => `h${i}:m${i} m${i}:r`)
    const lines = drawn(nodesIn(`${forks.join(' ')} r`))
    expect(Math.max(...lines.map((line) => line.indexOf(' h') + 1))).toBeLessThanOrEqual(4)
  })

  it('of 1,000 open lanes and 10,000 nodes is drawn in a few lines a node', () => {
    const width = 1000
    const nodes = Array.from({ length: 10_000 }, (_, i) => ({
      key: `n${i}`,
      parents: [i + width, i + 2 * width - 1].filter((n) => n < 10_000).map((n) => `n${n}`),
    }))
    const lines = linesOf(nodes, 12)
    expect(lines.filter(({ node }) => node !== undefined)).toHaveLength(10_000)
    expect(lines.length).toBeLessThan(50_000)
  })
})
