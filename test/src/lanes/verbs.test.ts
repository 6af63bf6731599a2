import { cp, rm } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyPath } from '../../../keys/key-ring.ts'
import type { Signer } from '../../../keys/signer.ts'
import { HashedBlock } from '../../../store/block.ts'
import { planRows } from '../../../store/indexes.ts'
import type { Context } from '../../../src/context.ts'
import { rowOf } from '../../../src/entry/row.ts'
import { HandoffError } from '../../../src/errors.ts'
import { Lanes } from '../../../src/lanes/lanes.ts'
import { loadLane } from '../../../src/lanes/load.ts'
import type { LaneReport } from '../../../src/lanes/write.ts'
import { openBelow, signerOf } from '../../support/forge.ts'
import type { TestStore } from '../../support/store.ts'
import { agents, copyStore, makeSharedFolder, makeTestStore, ok } from '../../support/store.ts'
import type { Dice } from '../turns/dice.ts'
import { diceOf } from '../turns/dice.ts'

const { a, b, merger } = agents
const surface = 'board:v2'
const rounds = process.env['HSTORE_SOAK'] ? 400 : 12

/** A store of its own, with keys of its own for each agent. */
interface Machine {
  readonly context: Context
  readonly as: Readonly<Record<string, Lanes>>
}

let machines: readonly [Machine, Machine]
let name = ''
let count = 0

beforeAll(async () => {
  const root = await makeSharedFolder()
  const first = await makeTestStore(path.join(root, 'one'))
  const second = await copyStore(first, path.join(root, 'two'))
  for (const agent of [a, b]) {
    await rm(keyPath(second.keys, agent))
    const did = (await ok(second.run('key', 'new', agent, '--no-passphrase'))).out.trim()
    await ok(first.run('roster', 'add', agent, did))
  }
  await rm(second.store, { recursive: true })
  await cp(first.store, second.store, { recursive: true })
  machines = [await open(first), await open(second)]
})
afterAll(async () => {
  for (const { context } of machines) await context[Symbol.asyncDispose]()
})

async function open(store: TestStore): Promise<Machine> {
  const context = await openBelow(store)
  const lanesOf = (agent: string, signer: Signer): Lanes =>
    new Lanes(
      async () => ({ context, agent, signer }),
      async () => context,
    )
  const as: Record<string, Lanes> = {}
  for (const agent of [a, b, merger]) as[agent] = lanesOf(agent, await signerOf(store, agent))
  return { context, as }
}

/** Brings entries of the lane from one machine to the other: all, or as many as are asked for. */
async function bring(from: Machine, to: Machine, most = Infinity): Promise<void> {
  const lane = await loadLane(from.context, name)
  for (const cid of lane.folding.graph.order.slice(0, most)) {
    if (await to.context.db.has(cid)) continue
    const entry = lane.entries.get(cid)!
    const [own, body] = lane.readable.blocksOf(cid)!
    await to.context.db.commit({
      blocks: [HashedBlock.of(own, 'dag-json'), HashedBlock.of(body, 'dag-json')],
      rows: planRows((index, key) => to.context.db.readRow(index, key), rowOf(entry)),
    })
  }
}

async function meet(): Promise<void> {
  await bring(machines[0], machines[1])
  await bring(machines[1], machines[0])
}

async function begin(): Promise<void> {
  name = `lane-${++count}`
  await machines[0].as[a]!.open(name)
  await meet()
}

/** Returns whether an entry counts in a store's own fold. */
async function counts({ context }: Machine, { cid }: LaneReport): Promise<boolean> {
  const { folding } = await loadLane(context, name)
  return cid !== null && (folding.placed.has(cid) || folding.notes.has(cid))
}

const propose = (machine: Machine, by: string, to: string) =>
  machine.as[by]!.propose(name, { to, surface })
const ready = (machine: Machine, by: string, now: number, status: 'READY' | 'UNAVAILABLE') =>
  machine.as[by]!.signal(name, { surface, status, now, forSeconds: 1000 })

async function codeOf(doing: Promise<unknown>): Promise<readonly [code: string, message: string]> {
  try {
    return ['none', JSON.stringify(await doing)]
  } catch (error) {
    if (error instanceof HandoffError) return [error.code, error.message]
    throw error
  }
}

describe('what was read', () => {
  it('is in the past: an offer made again once a refusal was read counts', async () => {
    const [one] = machines
    await begin()
    const first = await propose(one, a, b)
    await one.as[b]!.decline(name)
    await one.as[a]!.read(name, a)
    const second = await propose(one, a, b)
    expect(second.cid).not.toBe(first.cid)
    expect(await counts(one, second)).toBe(true)
    const { offers } = (await one.as[a]!.show(name, 5))!
    expect(offers.filter(({ ends }) => ends.length === 0).map(({ cid }) => cid)).toEqual([
      second.cid,
    ])
  })

  it('is in the past: an offer withdrawn on the other machine of its owner', async () => {
    const [one, two] = machines
    await begin()
    await propose(one, a, b)
    await meet()
    await two.as[a]!.withdraw(name)
    await meet()
    // what is not read is not known, and the offer is refused instead of written for nothing
    expect((await codeOf(propose(one, a, b)))[0]).toBe('HSTORE_LANE_REFUSED')
    await one.as[a]!.read(name, a)
    expect(await counts(one, await propose(one, a, b))).toBe(true)
  })

  it('comes with the ack into the past of the commit', async () => {
    const [one, two] = machines
    await begin()
    await ready(one, b, 5, 'READY')
    await propose(one, a, b)
    await two.as[a]!.read(name, a)
    await propose(two, a, merger)
    await meet()
    await two.as[b]!.read(name, b)
    const { offers } = (await two.as[b]!.show(name, 5))!
    await two.as[b]!.ack(name, offers.find(({ to }) => to === b)!.cid)
    await bring(two, one)
    await two.as[a]!.withdraw(name, offers.find(({ to }) => to === merger)!.cid)
    await bring(two, one)
    // the ack knows of both offers, and nothing in the past of the commit of the withdrawal
    const [code, why] = await codeOf(one.as[a]!.commit(name, { now: 6 }))
    expect({ code, why }).toMatchObject({
      code: 'HSTORE_LANE_REFUSED',
      why: expect.stringContaining('HS4405') as string,
    })
  })
})

describe('an offer', () => {
  it('that has ended takes no answer without a name', async () => {
    const [one] = machines
    await begin()
    const { cid } = await propose(one, a, b)
    await one.as[b]!.read(name, b)
    await ready(one, b, 5, 'READY')
    const ack = await one.as[b]!.ack(name)
    await one.as[a]!.withdraw(name)
    const ended = ['HSTORE_LANE_REFUSED', expect.stringContaining('was ended by') as string]
    expect([...(await codeOf(one.as[b]!.ack(name)))]).toEqual(ended)
    expect([...(await codeOf(one.as[a]!.commit(name, { now: 6 })))]).toEqual(ended)
    expect(await one.as[b]!.ack(name, cid!)).toMatchObject({ cid: ack.cid, new: false })
    const again = await propose(one, a, b)
    await one.as[b]!.read(name, b)
    const next = await one.as[b]!.ack(name)
    expect(next.new).toBe(true)
    expect(again.cid).not.toBe(cid)
  })

  it('is for another agent than its owner', async () => {
    await begin()
    expect((await codeOf(propose(machines[0], a, a)))[0]).toBe('HSTORE_USAGE')
  })

  it('says what an addressee can do where there is none', async () => {
    await begin()
    for (const verb of ['ack', 'decline'] as const)
      expect((await codeOf(machines[0].as[b]![verb](name)))[1]).toContain('hstore inbox')
  })

  it('names the surface that its signal has to be over', async () => {
    const [one] = machines
    await begin()
    await propose(one, a, b)
    await one.as[b]!.signal(name, { surface: 'other', status: 'READY', now: 5, forSeconds: 9 })
    expect(await one.as[a]!.commit(name, { now: 6 })).toMatchObject({
      status: 'BLOCKED_REACHABILITY_NOT_SURFACED',
      why: expect.stringContaining(surface) as string,
    })
  })
})

describe('a fork', () => {
  it('asks for the status that holds where its heads differ', async () => {
    const [one, two] = machines
    await begin()
    await two.as[a]!.read(name, a)
    await one.as[a]!.status(name, 'ONE')
    await two.as[a]!.status(name, 'TWO')
    await meet()
    await one.as[a]!.read(name, a)
    expect(await codeOf(one.as[a]!.join(name))).toEqual([
      'HSTORE_USAGE',
      expect.stringContaining('--status') as string,
    ])
    expect(await counts(one, await one.as[a]!.join(name, 'BOTH'))).toBe(true)
  })
})

describe('signals of one tick', () => {
  async function accepted(): Promise<void> {
    await begin()
    await propose(machines[0], a, b)
    await meet()
    await machines[0].as[b]!.read(name, b)
    await machines[0].as[b]!.ack(name)
  }

  it('on one chain: the later counts', async () => {
    const [one] = machines
    for (const [first, last, status] of [
      ['READY', 'UNAVAILABLE', 'PENDING_UNREACHABLE'],
      ['UNAVAILABLE', 'READY', 'HANDOFF_COMMIT_ALLOWED'],
    ] as const) {
      await accepted()
      await ready(one, b, 5, first)
      await ready(one, b, 5, last)
      expect(await one.as[a]!.commit(name, { now: 6 })).toMatchObject({ status })
    }
  })

  it('by two keys: UNAVAILABLE counts', async () => {
    const [one, two] = machines
    await accepted()
    await ready(two, b, 5, 'UNAVAILABLE')
    await ready(one, b, 5, 'READY')
    await meet()
    expect(await one.as[a]!.commit(name, { now: 6 })).toMatchObject({
      status: 'PENDING_UNREACHABLE',
    })
  })

  it('and an older one that is named: what came after it counts', async () => {
    const [one] = machines
    await accepted()
    const { cid } = await ready(one, b, 5, 'READY')
    await ready(one, b, 6, 'UNAVAILABLE')
    expect(await one.as[a]!.commit(name, { now: 7, signal: cid! })).toMatchObject({
      status: 'PENDING_UNREACHABLE',
      cid: null,
    })
  })
})

describe('an answer of ok', () => {
  const times = new Map<string, number>()

  async function step(dice: Dice, now: number): Promise<void> {
    const machine = dice.pick(machines)
    const { owner } = (await machine.as[a]!.show(name, now)) ?? {}
    const agent = dice.below(4) > 0 && owner != null ? owner : dice.pick([a, b, merger])
    const other = dice.pick([a, b].filter((one) => one !== agent))
    const lanes = machine.as[agent]!
    const verbs: Readonly<Record<string, () => Promise<LaneReport>>> = {
      status: () => lanes.status(name, `S${dice.below(3)}`),
      propose: () => propose(machine, agent, other),
      withdraw: () => lanes.withdraw(name),
      decline: () => machine.as[other]!.decline(name),
      signal: () => ready(machine, other, now, dice.below(6) === 0 ? 'UNAVAILABLE' : 'READY'),
      ack: async () => {
        await machine.as[other]!.read(name, other)
        return machine.as[other]!.ack(name)
      },
      commit: () => lanes.commit(name, { now }),
      join: () => lanes.join(name, 'JOINED'),
      takeover: () => machine.as[merger]!.takeover(name, dice.pick([a, b]), 'because'),
    }
    const often = ['propose', 'propose', 'signal', 'ack', 'ack', 'commit', 'commit', 'join']
    const isRare = dice.below(2) === 0
    const verb = dice.pick(
      isRare
        ? ['withdraw', 'decline', 'status', ...(dice.below(6) > 0 ? [] : ['takeover'])]
        : often,
    )
    if (dice.below(3) === 0) await lanes.read(name, agent)
    const [code, told] = await codeOf(verbs[verb]!())
    if (code !== 'none') return
    const report = JSON.parse(told) as LaneReport
    if (report.cid === null) return
    expect({ verb, told, counts: await counts(machine, report) }).toMatchObject({ counts: true })
    if (report.new) times.set(verb, (times.get(verb) ?? 0) + 1)
  }

  it(`is that of an entry that counts in the store's own fold, over ${rounds} lanes`, async () => {
    for (let round = 0; round < rounds; round++) {
      const dice = diceOf(`verbs ${round}`)
      await begin()
      for (let now = 1; now < 40; now++) {
        await step(dice, now)
        if (dice.below(4) > 0) continue
        const [from, to] = dice.below(2) === 0 ? machines : machines.toReversed()
        await bring(from, to, dice.below(3) === 0 ? 4 + dice.below(now) : undefined)
      }
    }
    for (const verb of ['status', 'propose', 'withdraw', 'decline', 'signal', 'ack', 'commit'])
      expect({ verb, isMade: times.has(verb) }).toEqual({ verb, isMade: true })
    for (const verb of ['join', 'takeover'])
      expect({ verb, isMade: times.has(verb) }).toEqual({ verb, isMade: true })
  }, 300_000)
})
