import { describe, expect, it } from 'vitest'
import { Folding } from '../../../src/lanes/fold.ts'
import type { LaneItem } from '../../../src/lanes/item.ts'
import type { LaneState } from '../../../src/lanes/state.ts'
import { stateOf } from '../../../src/lanes/state.ts'
import { diceOf } from '../turns/dice.ts'
import { randomLane, roots } from './random-lane.ts'
import type { SecondView } from './second-fold.ts'
import { SecondFold } from './second-fold.ts'

const lanes = process.env['HSTORE_SOAK'] ? 2000 : 250
const orders = 20

function folded(items: readonly LaneItem[]): Folding {
  return new Folding('quay', items, roots)
}

function faultsOf({ faults }: Folding): readonly string[] {
  return [...faults].map((fault) => JSON.stringify(fault)).sort()
}

function shuffled<T>(list: readonly T[], seed: string): T[] {
  const dice = diceOf(seed)
  const left = [...list]
  return list.map(() => left.splice(dice.below(left.length), 1)[0]!)
}

function plainView(folding: Folding): SecondView | undefined {
  const state = stateOf(folding)
  if (state === undefined) return undefined
  const { owner, epoch, heads, branches, offers, contested } = state
  return {
    owner,
    epoch: contested === null ? epoch : 0,
    heads: heads.map(({ event }) => event).sort(),
    branches: branches.map(({ event }) => event).sort(),
    offers: offers.filter(({ ends }) => ends.length === 0).map(({ cid }) => cid),
  }
}

/** How often what a lane can be like has come up. */
const seen = { commits: 0, contested: 0, forks: 0, branches: 0, offers: 0, taken: 0 }

function count({ placed, items }: Folding, state: LaneState | undefined): void {
  const kinds = [...placed.keys()].map((cid) => items.get(cid)!.body.kind)
  seen.commits += kinds.filter((kind) => kind === 'lane-commit').length
  seen.taken += kinds.filter((kind) => kind === 'lane-takeover').length
  if (state === undefined) return
  seen.contested += Number(state.contested !== null)
  seen.forks += Number(state.heads.length > 1)
  seen.branches += Number(state.branches.length > 0)
  seen.offers += Number(state.offers.length > 1)
}

describe('the fold of a lane', () => {
  it(`gives one state for ${orders} orders of arrival of ${lanes} lanes, that of a second implementation`, () => {
    for (let seed = 0; seed < lanes; seed++) {
      const items = randomLane(seed)
      const first = folded(items)
      const second = new SecondFold('quay', items, roots)
      expect({ seed, state: plainView(first) }).toEqual({ seed, state: second.state() })
      const counted = [...first.placed.keys(), ...first.notes].sort()
      expect({ seed, counted }).toEqual({ seed, counted: second.counted() })
      const wanted = JSON.stringify([stateOf(first), faultsOf(first)])
      for (let order = 1; order < orders; order++) {
        const other = folded(shuffled(items, `${seed} ${order}`))
        const got = JSON.stringify([stateOf(other), faultsOf(other)])
        if (got !== wanted) expect({ seed, order, got }).toEqual({ seed, order, got: wanted })
      }
      count(first, stateOf(first))
    }
    // the lanes are no easy ones
    for (const [what, times] of Object.entries(seen))
      expect({ what, enough: times > 1 }).toEqual({ what, enough: true })
  }, 600_000)
})
