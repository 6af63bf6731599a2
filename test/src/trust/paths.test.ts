import { describe, expect, it } from 'vitest'
import { signerOfSeed } from '../../../keys/signer.ts'
import { encodeForm } from '../../../store/canonical.ts'
import type { CidText } from '../../../store/cid-text.ts'
import { cidTextOf } from '../../../store/cid-text.ts'
import type { Candidate, Remembered, RosterPath } from '../../../src/trust/path.ts'
import { acceptPath } from '../../../src/trust/path.ts'
import type { Roster, Root } from '../../../src/trust/roster.ts'
import { rosterForm } from '../../../src/trust/roster.ts'
import { Dice } from '../../fuzz/dice.ts'
import { bytesOf } from '../../support/envelope.ts'

const isSoak = Boolean(process.env['HSTORE_SOAK'])
const names = ['p', 'q', 'r', 's']
const rootOf = (holder: string): Root => ({
  holder,
  did: signerOfSeed(bytesOf(`root ${holder}`, 32)).did,
})
const roots = new Map(names.map((name) => [name, rootOf(name)]))
const rootsOf = (letters: string): Root[] => letters.split('').map((name) => roots.get(name)!)

/** Returns a version with these roots, signed by `by`. */
function version(
  before: Candidate | undefined,
  holders: string,
  by: string,
  threshold = 1,
  word = '',
): Candidate {
  const roster: Roster = {
    agents: [
      { id: `agent ${word}`, aliases: [], read: [], keys: [] },
      ...(before?.roster.agents ?? []),
    ],
    format: 1,
    nonce: before === undefined ? bytesOf('nonce', 16) : undefined,
    prev: before?.body,
    roots: rootsOf(holders),
    threshold,
    version: (before?.roster.version ?? -1) + 1,
  }
  const body = cidTextOf(encodeForm(rosterForm(roster)), 'dag-json')
  return { body, roster, signers: new Set(rootsOf(by).map(({ did }) => did)) }
}

/** A user who takes in what comes, and remembers the path. */
class Reader {
  readonly #genesis: CidText
  readonly #there = new Map<CidText, Candidate>()
  known: Remembered
  found: RosterPath = { path: [], fork: [], beside: [] }

  constructor(genesis: Candidate) {
    this.#genesis = genesis.body
    this.known = { path: [genesis.body], chosen: null }
    this.take(genesis)
  }

  take(...candidates: readonly Candidate[]): this {
    for (const candidate of candidates) this.#there.set(candidate.body, candidate)
    this.#look()
    return this
  }

  choose(chosen: Candidate): this {
    this.known = { path: [...this.known.path, chosen.body], chosen: chosen.body }
    this.#look()
    return this
  }

  #look(): void {
    this.found = acceptPath(this.#genesis, [...this.#there.values()], this.known)
    this.known = { ...this.known, path: this.bodies }
  }

  get bodies(): readonly CidText[] {
    return this.found.path.map(({ body }) => body)
  }
}

const bodiesOf = (...candidates: readonly Candidate[]): readonly CidText[] =>
  candidates.map(({ body }) => body)

describe('two versions for one number', () => {
  const first = version(undefined, 'pq', 'p')
  const left = version(first, 'pq', 'p', 1, 'left')
  const right = version(first, 'pq', 'q', 1, 'right')
  const fork = bodiesOf(left, right).toSorted()

  it('stop whoever has accepted one, as they stop a newcomer', () => {
    for (const reader of [
      new Reader(first).take(left).take(right),
      new Reader(first).take(right).take(left),
      new Reader(first).take(left, right),
    ]) {
      expect(reader.bodies).toEqual(bodiesOf(first))
      expect(reader.found.fork).toEqual(fork)
    }
  })

  it('stop nobody who has chosen, and are settled for all by the roots of both', () => {
    const chose = new Reader(first).take(left, right).choose(left)
    expect(chose.bodies).toEqual(bodiesOf(first, left))
    expect(chose.found).toMatchObject({ fork: [], beside: [right.body] })
    const settled = version(right, 'pq', 'q')
    const readers = [chose, new Reader(first).take(left).take(right), new Reader(first).take(right)]
    for (const reader of readers) {
      reader.take(left, right, settled)
      expect(reader.bodies).toEqual(bodiesOf(first, right, settled))
      expect(reader.found).toMatchObject({ fork: [], beside: [left.body] })
    }
  })

  it('change nothing where one was followed, and are told', () => {
    const followed = version(left, 'pq', 'p')
    const reader = new Reader(first).take(left, followed).take(right)
    expect(reader.bodies).toEqual(bodiesOf(first, left, followed))
    expect(reader.found).toMatchObject({ fork: [], beside: [right.body] })
    const late = new Reader(first).take(left).take(right, followed)
    expect(late.bodies).toEqual(bodiesOf(first, left, followed))
  })

  it('need the threshold of roots that are still there', () => {
    const three = version(undefined, 'pqr', 'pqr', 2)
    const one = version(three, 'pqr', 'pq', 2, 'one')
    const other = version(three, 'pqr', 'pr', 2, 'other')
    const short = version(three, 'pqr', 'r', 2, 'short')
    expect(new Reader(three).take(one).take(short).found).toMatchObject({ fork: [], beside: [] })
    expect(new Reader(three).take(one).take(other).found.fork).toHaveLength(2)
  })
})

describe('a root that was retired', () => {
  const first = version(undefined, 'pr', 'p')
  const without = version(first, 'p', 'p', 1, 'without r')
  const forged = version(first, 'r', 'r', 1, 'forged')

  it('does not veto the version that retired it, and is told of', () => {
    const reader = new Reader(first).take(without).take(forged)
    expect(reader.bodies).toEqual(bodiesOf(first, without))
    expect(reader.found).toMatchObject({ fork: [], beside: [forged.body] })
  })

  it('stops a newcomer, and is found out by whoever it has caught', () => {
    expect(new Reader(first).take(forged, without).found.fork).toHaveLength(2)
    const caught = new Reader(first).take(forged).take(without, version(without, 'p', 'p'))
    expect(caught.found).toMatchObject({ fork: [], beside: [without.body] })
    const milder = version(first, 'pr', 'r', 1, 'keeps p')
    expect(new Reader(first).take(milder).take(without).found.fork).toHaveLength(2)
  })
})

/** Returns candidates as several roots may make them, apart and together. */
function makeCandidates(dice: Dice): readonly Candidate[] {
  const all = [version(undefined, 'pqr', 'pqr', 1 + dice.below(2))]
  const some = (): string => names.filter(() => dice.below(2) === 0).join('') || dice.pick(names)
  for (let i = 3 + dice.below(8); i > 0; i--) {
    const before = dice.below(3) === 0 ? dice.pick(all) : all.at(-1)!
    const holders =
      dice.below(3) === 0 ? some() : before.roster.roots.map(({ holder }) => holder).join('')
    const threshold = Math.min(holders.length, 1 + dice.below(2))
    all.push(version(before, holders, dice.below(3) === 0 ? some() : 'pqrs', threshold, `${i}`))
  }
  return all
}

describe('readers that end with the same rosters', () => {
  const rounds = isSoak ? 200_000 : 2000
  it(`never go apart in silence, in ${rounds} rounds`, { timeout: 1_800_000 }, () => {
    const dice = new Dice(Number(process.env['HSTORE_SEED'] ?? 4711))
    let apart = 0
    for (let i = 0; i < rounds; i++) {
      const candidates = makeCandidates(dice)
      const readers = [1, 2].map(() => {
        const reader = new Reader(candidates[0]!)
        for (let parts = dice.below(4); parts > 0; parts--) {
          const { known } = reader
          reader.take(...candidates.filter(() => dice.below(2) === 0))
          // what was followed stays
          expect(reader.bodies.slice(0, known.path.length - 1)).toEqual(known.path.slice(0, -1))
        }
        return reader.take(...candidates)
      })
      const [one, other] = readers
      if (one!.bodies.join() === other!.bodies.join()) continue
      apart += 1
      for (const { found } of readers)
        expect(found.fork.length + found.beside.length).toBeGreaterThan(0)
    }
    expect(apart).toBeGreaterThan(rounds / 100)
  })
})
