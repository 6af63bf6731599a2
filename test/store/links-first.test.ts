import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { orderByLinks } from '../../store/links-first.ts'

/** Each number links to some before it, in another naming: what comes first is not what has the least number. */
const graphs = fc
  .array(fc.array(fc.nat({ max: 400 }), { maxLength: 4 }), { maxLength: 60 })
  .chain((links) =>
    fc.tuple(
      fc.constant(links),
      fc.shuffledSubarray(
        links.map((_, i) => i),
        { minLength: links.length },
      ),
    ),
  )
  .map(([links, names]) => {
    const named = new Map<number, readonly number[]>()
    for (const [i, of] of links.entries())
      named.set(
        names[i]!,
        of.map((back) => (back >= i ? -1 : names[back]!)),
      )
    return named
  })

describe('orderByLinks', () => {
  it('puts each number once, behind those that it links to', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const order = [...orderByLinks(graph.size, (number) => graph.get(number)!)]
        expect([...order].sort((a, b) => a - b)).toEqual(order.map((_, i) => i))
        for (const [number, links] of graph)
          for (const link of links)
            if (link >= 0) expect(order.indexOf(link)).toBeLessThan(order.indexOf(number))
      }),
    )
  })

  it('goes down a long chain, and ends where numbers link to each other', () => {
    const chain = orderByLinks(300_000, (number) => [number + 1 < 300_000 ? number + 1 : -1])
    expect([chain[0], chain[299_999]]).toEqual([299_999, 0])
    expect(new Set(orderByLinks(3, (number) => [(number + 1) % 3]))).toEqual(new Set([0, 1, 2]))
  })
})
