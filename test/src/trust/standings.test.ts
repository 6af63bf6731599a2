import { describe, expect, it } from 'vitest'
import { diceOf } from '../../fuzz/dice.ts'
import { oraclePath, oracleStanding } from './oracle.ts'
import type { World } from './world.ts'
import { blocksOf, makeWorld, trustOf } from './world.ts'

const isSoak = Boolean(process.env['HSTORE_SOAK'])
const worlds = isSoak ? 120_000 : 600
const orderWorlds = isSoak ? 2500 : 25
const orders = 20
const seed = Number(process.env['HSTORE_SEED'] ?? 7)

/** Returns the standing of every entry of a world, asked for in the order of its maps. */
function standingsOf(world: World): Map<string, string> {
  const trust = trustOf(world)
  const found = new Map<string, string>()
  if (trust !== undefined)
    for (const entry of world.entries.values())
      found.set(entry.cid, trust.standingOf(entry).standing)
  return found
}

function oracleStandings(world: World): Map<string, string> {
  const blocks = blocksOf(world)
  const accepted = oraclePath(world.genesis, blocks)
  const found = new Map<string, string>()
  if (accepted.path.length > 0)
    for (const entry of world.entries.values())
      found.set(entry.cid, oracleStanding(entry, world.genesis, accepted, blocks))
  return found
}

describe('the standing of every entry', () => {
  it(`is what the oracle says, in ${worlds} random graphs`, { timeout: 3_600_000 }, () => {
    const counts = new Map<string, number>()
    for (let i = 0; i < worlds; i++) {
      const world = makeWorld(diceOf(seed, 'standings', i))
      const wanted = oracleStandings(world)
      const found = standingsOf(world)
      const wrong = [...wanted].filter(([cid, word]) => found.get(cid) !== word)
      if (wrong.length > 0 || wanted.size !== found.size) {
        const told = wrong.map(([cid, word]) => {
          const entry = world.entries.get(cid as never)!
          return `${entry.kind} in ${entry.stream}: wanted ${word}, got ${found.get(cid)}`
        })
        expect(told, `graph ${i} of seed ${seed}`).toEqual([])
      }
      for (const word of wanted.values()) counts.set(word, (counts.get(word) ?? 0) + 1)
    }
    if (isSoak) console.log(`standings: ${worlds} graphs, ${JSON.stringify([...counts])}`)
    for (const word of ['valid', 'held', 'rejected', 'unknown'])
      expect(counts.get(word) ?? 0, word).toBeGreaterThan(worlds / 4)
  })

  it(
    `ends alike in ${orders} orders of arrival, in ${orderWorlds} graphs`,
    { timeout: 3_600_000 },
    () => {
      for (let i = 0; i < orderWorlds; i++) {
        const dice = diceOf(seed, 'orders', i)
        const world = makeWorld(dice)
        const wanted = standingsOf(world)
        for (let order = 0; order < orders; order++) {
          const arrived = shuffled(world, dice)
          expect(standingsOf(arrived), `graph ${i}, order ${order}`).toEqual(wanted)
        }
      }
    },
  )

  it('turns from held alone as more blocks come, under one path and the same freezes', () => {
    let turned = 0
    for (let i = 0; i < worlds / 4; i++) {
      const dice = diceOf(seed, 'growing', i)
      const world = makeWorld(dice)
      const less: World = { ...world, entries: new Map(world.entries), forms: new Map(world.forms) }
      const loose = [...world.entries.values()].filter(
        ({ kind }) => kind !== 'roster' && kind !== 'freeze',
      )
      for (const { cid } of loose) if (dice.isBelow(30)) less.entries.delete(cid)
      for (const cid of world.cuts.keys()) if (dice.isBelow(20)) less.forms.delete(cid)
      const [before, after] = [standingsOf(less), standingsOf(world)]
      const settled = (one: World): string =>
        trustOf(one)
          ?.freezes.flatMap(({ signer }) => trustOf(one)!.freezesOf(signer))
          .map(({ entry }) => entry.cid)
          .sort()
          .join() ?? ''
      if (settled(less) !== settled(world)) continue
      for (const [cid, word] of before) {
        if (after.get(cid) !== word) turned += 1
        if (word !== 'held') expect(after.get(cid), `graph ${i}: ${cid} was ${word}`).toBe(word)
      }
    }
    expect(turned).toBeGreaterThan(worlds / 40)
  })
})

/** Returns the same blocks as they come in another order. */
function shuffled(world: World, dice: ReturnType<typeof diceOf>): World {
  const inAnyOrder = <K, V>(map: Map<K, V>): Map<K, V> =>
    new Map(
      [...map]
        .map((item) => [dice.below(1e9), item] as const)
        .sort(([a], [b]) => a - b)
        .map(([, item]) => item),
    )
  return { ...world, entries: inAnyOrder(world.entries), forms: inAnyOrder(world.forms) }
}
