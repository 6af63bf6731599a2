import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CidText } from '../../../store/cid-text.ts'
import type { Inbox } from '../../../src/inbox/inbox.ts'
import { readInbox } from '../../../src/inbox/inbox.ts'
import type { InboxOffer } from '../../../src/inbox/offers.ts'
import { agents, makeSharedFolder, makeTestStore } from '../../support/store.ts'
import { ack, commit, LaneBench, offer, opening, signal, status } from '../lanes/lane-bench.ts'

const { a, b, merger } = agents
let bench: LaneBench
let count = 0
let name = ''
let head: CidText
let proposal: CidText

beforeAll(async () => {
  bench = await LaneBench.open(await makeTestStore(await makeSharedFolder()))
})
afterAll(() => bench.close())

/** Opens a lane of its own for a test, offered by agent a to agent b. */
async function begin(): Promise<void> {
  name = `lane-${++count}`
  head = await bench.sign(a, name, opening(name))
  proposal = await bench.sign(a, name, offer(name, head, b), { parents: [head] })
}

/** Signs and returns signal and acknowledgement of the offer by agent b. */
async function accept(): Promise<readonly [CidText, CidText]> {
  const by = await bench.sign(b, name, signal(name), { parents: [head] })
  return [by, await bench.sign(b, name, ack(name, proposal, head), { parents: [head] })]
}

const inboxOf = (agent: string): Promise<Inbox> => readInbox(bench.context, agent, 530)
const ofLane = (all: readonly InboxOffer[]): readonly InboxOffer[] =>
  all.filter(({ lane }) => lane === name)

/** The one offer of the lane: as its addressee has it, which is how its owner has it too. */
async function told(): Promise<Pick<InboxOffer, 'answer' | 'states' | 'waitsFor'>> {
  const received = ofLane((await inboxOf(b)).received)
  expect(received).toEqual(ofLane((await inboxOf(a)).made))
  expect(received).toHaveLength(1)
  const { answer, states, waitsFor } = received[0]!
  return { answer, states, waitsFor }
}

describe('an offer', () => {
  it('is stored, and no more, though its addressee has signed what it did not read it with', async () => {
    await begin()
    expect(await told()).toMatchObject({
      states: [{ state: 'stored', cid: proposal }],
      answer: { status: 'PENDING_REACHABILITY_UNCHECKED' },
      waitsFor: b,
    })
    const odds = { parents: [head], through: [head] }
    await bench.sign(b, name, ack(name, proposal, head), odds)
    await bench.sign(b, name, signal(name), { parents: [head] })
    expect((await told()).states).toEqual([{ state: 'stored', cid: proposal }])
  })

  it('is not seen by a proof that does not recompute, nor by a reader who is not its addressee', async () => {
    await begin()
    const observed = { held: new Uint8Array(32), through: [proposal] }
    const forged = { ...ack(name, proposal, head), observed } as ReturnType<typeof ack>
    await bench.sign(b, name, forged, { parents: [head] })
    await bench.sign(merger, name, ack(name, proposal, head), { parents: [head] })
    expect((await told()).states).toEqual([{ state: 'stored', cid: proposal }])
  })

  it('is seen and acked by the acknowledgement, then waits for its owner', async () => {
    await begin()
    const [, accepted] = await accept()
    expect(await told()).toEqual({
      states: [
        { state: 'stored', cid: proposal },
        { state: 'seen', cid: accepted },
        { state: 'acked', cid: accepted },
      ],
      answer: expect.objectContaining({ status: 'HANDOFF_COMMIT_ALLOWED' }) as object,
      waitsFor: a,
    })
  })

  it('waits for its addressee again once the signal has run out', async () => {
    await begin()
    await accept()
    const [late] = ofLane((await readInbox(bench.context, b, 561)).received)
    expect(late).toMatchObject({ answer: { status: 'PENDING_UNREACHABLE' }, waitsFor: b })
  })

  it('is committed, and done once the new owner gives a status', async () => {
    await begin()
    const [by, accepted] = await accept()
    const closing = await bench.sign(a, name, commit(name, [proposal, by, accepted]), {
      parents: [head],
    })
    const before = await told()
    expect(before).toMatchObject({ answer: null, waitsFor: b })
    expect(before.states.at(-1)).toEqual({ state: 'committed', cid: closing })
    // the old owner's status is none of the new epoch
    await bench.sign(a, name, status(name, proposal, 'LATE'), { parents: [closing] })
    expect((await told()).states.at(-1)!.state).toBe('committed')
    const first = status(name, proposal, 'GOING', 2)
    const done = await bench.sign(b, name, first, { parents: [closing] })
    await bench.sign(b, name, status(name, done, 'DONE', 2), { parents: [done] })
    const after = await told()
    expect(after).toMatchObject({ answer: null, waitsFor: null })
    expect(after.states.slice(-2)).toEqual([
      { state: 'committed', cid: closing },
      { state: 'done', cid: done },
    ])
  })

  it.each([
    ['declined', 'decline', b],
    ['withdrawn', 'withdraw', a],
  ] as const)('is %s by the entry that says so, and waits for nobody', async (state, kind, by) => {
    await begin()
    const end = await bench.sign(by, name, { kind, lane_id: name, proposal }, { parents: [head] })
    const { states, answer, waitsFor } = await told()
    expect([states.at(-1), answer, waitsFor]).toEqual([{ state, cid: end }, null, null])
  })

  it('is gone when the head has moved on, and when it does not count', async () => {
    await begin()
    await bench.sign(a, name, status(name, head, 'ON'), { parents: [head] })
    await bench.sign(b, name, offer(name, head, b), { parents: [head] })
    expect(ofLane((await inboxOf(b)).received)).toEqual([])
  })

  it('waits for its owner while another is open beside it', async () => {
    await begin()
    const side = { parents: [head], through: [head], payload: { prev: [head], seq: 2 } }
    await bench.sign(a, name, offer(name, head, merger), side)
    await accept()
    const { made } = await inboxOf(a)
    expect(ofLane(made).map(({ waitsFor }) => waitsFor)).toEqual([a, a])
  })
})

describe('troubles', () => {
  const troubleOf = async () =>
    (await inboxOf(merger)).troubles.find(({ stream }) => stream === `lane:${name}`)

  it('are lanes that are forked, whomever they concern', async () => {
    await begin()
    const sign = (text: string, payload = {}): Promise<CidText> =>
      bench.sign(a, name, status(name, head, text), { parents: [head], through: [head], payload })
    const cids = [await sign('ONE'), await sign('TWO', { prev: [head], seq: 2 })]
    expect(await troubleOf()).toMatchObject({ trouble: 'forked', cids: cids.sort() })
  })

  it('are lanes that are contested, and nothing of them waits', async () => {
    await begin()
    const other = await bench.sign(b, name, opening(name))
    const trouble = await troubleOf()
    expect(trouble).toMatchObject({ trouble: 'contested', cids: [head, other].sort() })
    expect(ofLane((await inboxOf(b)).received)).toEqual([])
  })

  it('are lanes whose opening is not there', async () => {
    name = `lane-${++count}`
    const only = await bench.sign(b, name, signal(name))
    expect(await troubleOf()).toMatchObject({ trouble: 'unopened', cids: [only] })
  })
})

describe('readInbox', () => {
  it('counts what waits for the agent alone', async () => {
    const { received, made, turns, waiting } = await inboxOf(b)
    const ours = [...received, ...made].filter(({ waitsFor }) => waitsFor === b)
    expect([waiting, turns]).toEqual([ours.length, []])
    expect(ours.length).toBeGreaterThan(0)
  })

  it('refuses who is no agent of the roster', async () => {
    await expect(inboxOf('csag:agent/agent-bb')).rejects.toMatchObject({
      code: 'HSTORE_AGENT_UNKNOWN',
    })
  })
})
