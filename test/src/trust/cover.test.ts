import { describe, expect, it } from 'vitest'
import type { CidText } from '../../../store/cid-text.ts'
import { cidTextOf } from '../../../store/cid-text.ts'
import type { Entry } from '../../../src/entry/entry.ts'
import { Cover } from '../../../src/trust/cover.ts'
import type { Ground } from '../../../src/trust/ground.ts'

const cidOf = (name: string): CidText => cidTextOf(Buffer.from(name), 'dag-json')

interface Link {
  readonly prev?: readonly string[]
  readonly seq: number
  readonly signer?: string
  readonly stream?: string
  readonly isSigned?: boolean
}

/** Chains by name: `a2: { prev: ['a1'], seq: 2 }`. */
function groundOf(chain: Readonly<Record<string, Link>>): {
  ground: Ground
  entries: ReadonlyMap<string, Entry>
} {
  const entries = new Map(
    Object.entries(chain).map(([name, { prev = [], seq, signer = 'K', stream = 's' }]) => [
      name,
      { cid: cidOf(name), prev: prev.map(cidOf), seq, signer, stream } as unknown as Entry,
    ]),
  )
  const byCid = new Map([...entries.values()].map((entry) => [entry.cid, entry]))
  const unsigned = new Set(
    Object.keys(chain).flatMap((name) => (chain[name]!.isSigned === false ? [cidOf(name)] : [])),
  )
  const ground: Ground = {
    findEntry: (cid) => byCid.get(cid) ?? 'absent',
    isSigned: ({ cid }) => !unsigned.has(cid),
    findForm: () => 'absent',
  }
  return { ground, entries }
}

/** What a cut of K with these pins says of each entry, asked in this order and in the other. */
function coverOf(
  chain: Readonly<Record<string, Link>>,
  pins: readonly string[],
  readmitted: readonly string[] = [],
): Record<string, string> {
  const { ground, entries } = groundOf(chain)
  const cut = { key: 'K', pins: pins.map(cidOf), readmitted: readmitted.map(cidOf) }
  const askIn = (names: readonly string[]): Record<string, string> => {
    const cover = new Cover(ground, cut)
    return Object.fromEntries(names.map((name) => [name, cover.has(entries.get(name)!)]))
  }
  const found = askIn([...entries.keys()])
  expect(askIn([...entries.keys()].toReversed())).toEqual(found)
  return found
}

const line = { a1: { seq: 1 }, a2: { prev: ['a1'], seq: 2 }, a3: { prev: ['a2'], seq: 3 } }

describe('a cut covers', () => {
  it('a pin and what it goes back to', () => {
    expect(coverOf(line, ['a2'])).toEqual({ a1: 'yes', a2: 'yes', a3: 'no' })
    expect(coverOf(line, [])).toEqual({ a1: 'no', a2: 'no', a3: 'no' })
    expect(coverOf(line, ['a1'], ['a3'])).toEqual({ a1: 'yes', a2: 'no', a3: 'yes' })
  })

  it('all that was joined, where a chain splits', () => {
    const split = { ...line, b2: { prev: ['a1'], seq: 2 }, c3: { prev: ['a2', 'b2'], seq: 3 } }
    expect(coverOf(split, ['c3'])).toEqual({ a1: 'yes', a2: 'yes', a3: 'no', b2: 'yes', c3: 'yes' })
  })

  it('nothing behind a link that leaves the signer', () => {
    const chain = {
      a1: { seq: 1 },
      x2: { prev: ['a1'], seq: 2, signer: 'X' },
      a3: { prev: ['x2'], seq: 3 },
    }
    expect(coverOf(chain, ['a3'])).toEqual({ a1: 'no', x2: 'no', a3: 'yes' })
  })

  it('nothing behind a link that leaves the stream', () => {
    const chain = {
      a1: { seq: 1 },
      t2: { prev: ['a1'], seq: 2, stream: 't' },
      a3: { prev: ['t2'], seq: 3 },
    }
    expect(coverOf(chain, ['a3'])).toEqual({ a1: 'no', t2: 'no', a3: 'yes' })
  })

  it('nothing behind a link that does not lead down', () => {
    const chain = { a1: { seq: 1 }, b5: { prev: ['a1'], seq: 5 }, a3: { prev: ['b5'], seq: 3 } }
    expect(coverOf(chain, ['a3'])).toEqual({ a1: 'no', b5: 'no', a3: 'yes' })
    const level = { a1: { seq: 1 }, b3: { prev: ['a1'], seq: 3 }, a3: { prev: ['b3'], seq: 3 } }
    expect(coverOf(level, ['a3'])).toEqual({ a1: 'no', b3: 'no', a3: 'yes' })
  })

  it('nothing by a pin of another key, or one whose signature does not stand', () => {
    const foreign = { ...line, x4: { prev: ['a3'], seq: 4, signer: 'X' } }
    expect(coverOf(foreign, ['x4'])).toEqual({ a1: 'no', a2: 'no', a3: 'no', x4: 'no' })
    const forged = { ...line, a4: { prev: ['a3'], seq: 4, isSigned: false } }
    expect(coverOf(forged, ['a4'])).toEqual({ a1: 'no', a2: 'no', a3: 'no', a4: 'no' })
  })
})

describe('a cut leaves undecided', () => {
  it('all but what it covers, while a pin is not here', () => {
    expect(coverOf(line, ['a1', 'gone'])).toEqual({ a1: 'yes', a2: 'undecided', a3: 'undecided' })
  })

  it('what may lie behind a gap: below it in its stream, and nothing else', () => {
    const chain = {
      a1: { seq: 1 },
      a3: { prev: ['gone'], seq: 3 },
      a4: { prev: ['a3'], seq: 4 },
      t1: { seq: 1, stream: 't' },
    }
    expect(coverOf(chain, ['a3'])).toEqual({ a1: 'undecided', a3: 'yes', a4: 'no', t1: 'no' })
  })
})
