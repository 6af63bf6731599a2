import { describe, expect, it } from 'vitest'
import type { Io } from '../../src/cli/io.ts'
import { printJson, writeLines } from '../../src/cli/pieces.ts'
import { jsonLine } from '../../src/cli/render.ts'

function collector(): { io: Io; pieces: string[] } {
  const pieces: string[] = []
  const io = { out: (data: string) => void pieces.push(data) } as unknown as Io
  return { io, pieces }
}

describe('a document that is written in pieces', () => {
  const numbers = (count: number): object[] =>
    Array.from({ length: count }, (_, i) => ({ i, text: `${i}\u202e"\n` }))
  it.each([
    {},
    { a: undefined, b: null, c: 'text', d: { deep: [1, { e: [] }] } },
    { list: [], more: [], last: 1 },
    { list: numbers(1), more: numbers(2) },
    {
      first: true,
      list: numbers(255),
      next: numbers(256),
      after: numbers(257),
      last: numbers(1000),
    },
  ])('is what it is as a whole, %#', async (value) => {
    const { io, pieces } = collector()
    await printJson(io, 'test', value)
    expect(pieces.join('')).toBe(jsonLine('test', value))
  })

  it('takes its items one by one, and waits for stdout before it takes more', async () => {
    let taken = 0
    const items = (function* () {
      for (; taken < 10_000; taken++) yield { taken }
    })()
    const seen: number[] = []
    const io = {
      out: async () => {
        const before = taken
        await new Promise((resolve) => setImmediate(resolve))
        expect(taken).toBe(before)
        seen.push(taken)
      },
    } as unknown as Io
    await printJson(io, 'test', { items })
    expect(seen.length).toBeGreaterThan(30)
    expect(seen[0]).toBeLessThan(300)
  })

  it('writes lines in parts, in order', async () => {
    const { io, pieces } = collector()
    await writeLines(io, numbers(600), (one) => `${JSON.stringify(one)}\n`)
    expect(pieces.join('')).toBe(
      numbers(600)
        .map((one) => `${JSON.stringify(one)}\n`)
        .join(''),
    )
    expect(pieces.length).toBeLessThan(10)
  })
})
