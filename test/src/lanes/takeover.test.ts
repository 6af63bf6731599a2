import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agents, makeSharedFolder, makeTestStore } from '../../support/store.ts'
import { LaneBench, opening } from './lane-bench.ts'
import { twoRoots } from './two-roots.ts'

const { a, b, merger } = agents
let bench: LaneBench

beforeAll(async () => {
  const store = await makeTestStore(await makeSharedFolder())
  await twoRoots(store)
  bench = await LaneBench.open(store)
})
afterAll(() => bench.close())

describe('a takeover', () => {
  it('waits until enough roots have signed the same', async () => {
    const name = 'lane'
    const holder = async (): Promise<readonly unknown[]> => {
      const { owner, epoch } = await bench.shown(name)
      return [owner, epoch]
    }
    const head = await bench.sign(a, name, opening(name))
    const body = {
      kind: 'lane-takeover',
      lane_id: name,
      ownership_epoch: 2,
      owner_ref: b,
      reason: 'gone',
    } as const
    const one = await bench.sign(merger, name, body, { parents: [head] })
    expect(await bench.faultOf(name, one)).toBe('HS4408')
    expect(await holder()).toEqual([a, 1])
    await bench.sign(a, name, body, { parents: [head] })
    expect(await bench.faultOf(name, one)).toBeUndefined()
    expect(await holder()).toEqual([b, 2])
    const rival = { ...body, owner_ref: a }
    for (const agent of [a, merger])
      await bench.sign(agent, name, rival, { parents: [head], payload: { prev: [], seq: 1 } })
    expect(await bench.shown(name)).toMatchObject({ owner: null, contested: { why: 'takeovers' } })
  })
})
