import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CidText } from '../../../store/cid-text.ts'
import { verifyAll, verifyRefs } from '../../../src/verify.ts'
import { agents, makeSharedFolder, makeTestStore } from '../../support/store.ts'
import type { TestStore } from '../../support/store.ts'
import { observedIn } from '../../../src/lanes/bodies.ts'
import type { Draft } from './lane-bench.ts'
import { Lanes } from '../../../src/lanes/lanes.ts'
import { signerOf } from '../../support/forge.ts'
import { ack, commit, LaneBench, offer, opening, signal, status } from './lane-bench.ts'

const { a, b, merger } = agents
/** An entry that is in no store. */
const nothing = 'baguqeeraiqjw7i2vwntyuekgvulpp2det2kpwt6cd7tx5ayqybqpmhfk76fa' as CidText

let bench: LaneBench
let store: TestStore
let count = 0
let name = ''
let head: CidText

beforeAll(async () => {
  store = await makeTestStore(await makeSharedFolder())
  bench = await LaneBench.open(store)
})
afterAll(() => bench.close())

/** Opens a lane of its own for a test, whose owner is agent a. */
async function begin(): Promise<void> {
  name = `lane-${++count}`
  head = await bench.sign(a, name, opening(name))
}

interface Offered {
  readonly proposal: CidText
  readonly by: CidText
  readonly accepted: CidText
}

/** Offers the lane to agent b, who signals and accepts. */
async function offered(on = head, from: string = a, to: string = b, epoch = 1): Promise<Offered> {
  const proposal = await bench.sign(from, name, offer(name, on, to, epoch), {
    parents: [nodeOf(on)],
  })
  const by = await bench.sign(to, name, signal(name), { parents: [nodeOf(on)] })
  const accepted = await bench.sign(to, name, ack(name, proposal, on, epoch + 1), {
    parents: [nodeOf(on)],
  })
  return { proposal, by, accepted }
}

/** The entries of commits, by the id that they have in HRC's documents. */
const commits = new Map<CidText, CidText>()
const nodeOf = (event: CidText): CidText => commits.get(event) ?? event

async function handOver(made: Offered, from: string = a, epoch = 1, tick = 530): Promise<CidText> {
  const { proposal, by, accepted } = made
  const { heads } = await bench.shown(name)
  const cid = await bench.sign(from, name, commit(name, [proposal, by, accepted], epoch, tick), {
    parents: heads[0]!.entries.slice(0, 1),
  })
  commits.set(proposal, cid)
  return cid
}

async function holder(): Promise<readonly [owner: string | null, epoch: number]> {
  const { owner, epoch } = await bench.shown(name)
  return [owner, epoch]
}

describe('an entry that does not count', () => {
  it('is the node of another than the owner', async () => {
    await begin()
    const odd = await bench.sign(b, name, status(name, head, 'MINE'), { parents: [head] })
    expect(await bench.faultOf(name, odd)).toBe('BLOCKED_WRITER_NOT_OWNER')
    const join = { kind: 'lane-join', lane_id: name, ownership_epoch: 1, status: 'X' } as const
    const joined = await bench.sign(b, name, join, { parents: [head] })
    expect(await bench.faultOf(name, joined)).toBe('BLOCKED_WRITER_NOT_OWNER')
    expect(await bench.shown(name)).toMatchObject({ owner: a, epoch: 1, status: 'ACTIVE' })
  })

  it('is a commit by another than the owner, the addressee too', async () => {
    await begin()
    const made = await offered()
    for (const agent of [b, merger]) {
      const odd = await handOver(made, agent)
      expect(await bench.faultOf(name, odd)).toBe('BLOCKED_WRITER_NOT_OWNER')
    }
    expect(await holder()).toEqual([a, 1])
  })

  it('is the signal or the ack of one participant that another made', async () => {
    await begin()
    const { proposal, by, accepted } = await offered()
    const foreignSignal = await bench.sign(merger, name, signal(name), { parents: [head] })
    const foreignAck = await bench.sign(merger, name, ack(name, proposal, head), {
      parents: [head],
    })
    expect(await bench.faultOf(name, foreignAck)).toBe('BLOCKED_ACK_RECIPIENT_MISMATCH')
    const one = await handOver({ proposal, by: foreignSignal, accepted })
    expect(await bench.faultOf(name, one)).toBe('BLOCKED_REACHABILITY_PARTICIPANT_MISMATCH')
    const two = await handOver({ proposal, by, accepted: foreignAck })
    expect(await bench.faultOf(name, two)).toBe('BLOCKED_ACK_RECIPIENT_MISMATCH')
    const decline = { kind: 'decline', lane_id: name, proposal } as const
    const declined = await bench.sign(merger, name, decline, { parents: [head] })
    expect(await bench.faultOf(name, declined)).toBe('BLOCKED_ACK_RECIPIENT_MISMATCH')
    const withdraw = { kind: 'withdraw', lane_id: name, proposal } as const
    const withdrawn = await bench.sign(merger, name, withdraw, { parents: [head] })
    expect(await bench.faultOf(name, withdrawn)).toBe('BLOCKED_WRITER_NOT_OWNER')
    expect((await bench.shown(name)).offers).toMatchObject([{ cid: proposal, ends: [] }])
  })

  it('claims to have read what its author has not', async () => {
    await begin()
    const next = await bench.sign(a, name, status(name, head, 'ON'), { parents: [head] })
    const held = new Uint8Array(32)
    for (const through of [[next], [nothing, next].sort()]) {
      const forged = { ...status(name, next, 'DONE'), observed: { held, through } }
      const one = await bench.sign(a, name, forged, { parents: [next] })
      expect(await bench.faultOf(name, one)).toBe('HS4403')
    }
    // a true digest of less than was claimed
    const two = await bench.sign(a, name, status(name, next, 'DONE'), {
      parents: [next],
      through: [head],
    })
    expect(await bench.faultOf(name, two)).toBe('BLOCKED_UNREAD_PREDECESSOR')
    const proposal = await bench.sign(a, name, offer(name, next, b), { parents: [next] })
    const unread = await bench.sign(b, name, ack(name, proposal, next), {
      parents: [next],
      through: [next],
    })
    expect(await bench.faultOf(name, unread)).toBe('BLOCKED_UNREAD_PREDECESSOR')
    // the digest of another reader
    const { folding } = await bench.lane(name)
    const body = folding.items.get(proposal)!.body
    const copied = { ...ack(name, proposal, next), observed: observedIn(body)! }
    const copy = await bench.sign(b, name, copied, { parents: [next] })
    expect(await bench.faultOf(name, copy)).toBe('BLOCKED_UNREAD_PREDECESSOR')
  })

  it('has other refs than its body names', async () => {
    await begin()
    const { proposal, by, accepted } = await offered()
    const padded = [proposal, by, accepted, head].sort()
    const odd = await bench.sign(a, name, commit(name, [proposal, by, accepted]), {
      parents: [head],
      payload: { refs: padded },
    })
    expect(await bench.faultOf(name, odd)).toBe('HS4401')
    const few = await bench.sign(a, name, commit(name, [proposal, by, accepted]), {
      parents: [head],
      payload: { refs: [] },
    })
    expect(await bench.faultOf(name, few)).toBe('HS4401')
    expect(await holder()).toEqual([a, 1])
  })

  it('is named otherwise than its body, or of another lane', async () => {
    await begin()
    const { proposal, by, accepted } = await offered()
    const named = await bench.sign(a, name, commit(name, [proposal, by, accepted]), {
      parents: [head],
      payload: { name: '2' },
    })
    expect(await bench.faultOf(name, named)).toBe('HS3001')
    const other = await bench.sign(a, name, status('elsewhere', head, 'X'), { parents: [head] })
    expect(await bench.faultOf(name, other)).toBe('BLOCKED_LANE_MISMATCH')
  })

  it('rests on a signal over another surface, from the future, or that has expired', async () => {
    await begin()
    const { proposal, accepted } = await offered()
    const odds = [
      [{ surface_ref: 'own-table' }, 'BLOCKED_REACHABILITY_NOT_SURFACED'],
      [{ observed_at_tick: 531 }, 'BLOCKED_FUTURE_REACHABILITY_SIGNAL'],
      [{ valid_until_tick: 529 }, 'PENDING_UNREACHABLE'],
      [{ status: 'UNAVAILABLE' }, 'PENDING_UNREACHABLE'],
    ] as const
    for (const [odd, code] of odds) {
      const by = await bench.sign(
        b,
        name,
        { ...signal(name), ...odd },
        {
          parents: [head],
        },
      )
      const made = await handOver({ proposal, by, accepted })
      expect({ odd, fault: await bench.faultOf(name, made) }).toEqual({ odd, fault: code })
    }
    expect(await holder()).toEqual([a, 1])
  })

  it('knows of a later signal that its addressee is not to be reached', async () => {
    await begin()
    const { proposal, by } = await offered()
    const later = { ...signal(name), status: 'UNAVAILABLE', observed_at_tick: 510 } as const
    await bench.sign(b, name, later, { parents: [head] })
    // the ack brings the chain of its author into the past of the commit
    const accepted = await bench.sign(b, name, ack(name, proposal, head), { parents: [head] })
    const odd = await handOver({ proposal, by, accepted })
    expect(await bench.faultOf(name, odd)).toBe('PENDING_UNREACHABLE')
    expect(await holder()).toEqual([a, 1])
  })

  it('has a tick below one that it rests on', async () => {
    await begin()
    const first = await offered()
    await handOver(first, a, 1, 550)
    expect(await holder()).toEqual([b, 2])
    const back = await offered(first.proposal, b, a, 2)
    const odd = await handOver(back, b, 2, 549)
    expect(await bench.faultOf(name, odd)).toBe('HS4406')
    expect(await holder()).toEqual([b, 2])
  })

  it('rests on an ack of an earlier epoch or of another offer', async () => {
    await begin()
    const first = await offered()
    await handOver(first)
    const back = await offered(first.proposal, b, a, 2)
    await handOver(back, b, 2)
    expect(await holder()).toEqual([a, 3])
    const again = await bench.sign(a, name, offer(name, back.proposal, b, 3), {
      parents: [nodeOf(back.proposal)],
    })
    const replayed = await handOver({ ...first, proposal: again }, a, 3, 540)
    expect(await bench.faultOf(name, replayed)).toBe('BLOCKED_ACK_EVENT_MISMATCH')
    expect(await holder()).toEqual([a, 3])
  })

  it('names as offer, signal or ack what is none', async () => {
    await begin()
    const { proposal, by, accepted } = await offered()
    const swapped = await handOver({ proposal, by: accepted, accepted: by })
    expect(await bench.faultOf(name, swapped)).toBe('HS4409')
    const absent = await handOver({ proposal, by, accepted: nothing })
    expect(await bench.faultOf(name, absent)).toBe('HS4409')
  })

  it('hangs on no node that counts', async () => {
    await begin()
    const odd = await bench.sign(b, name, status(name, head, 'MINE'), { parents: [head] })
    const on = await bench.sign(a, name, status(name, odd, 'NEXT'), { parents: [odd] })
    expect(await bench.faultOf(name, on)).toBe('HS4402')
    const loose = await bench.sign(a, name, signal(name))
    expect(await bench.faultOf(name, loose)).toBe('HS4402')
    const second = await bench.sign(a, name, opening(name), { parents: [head] })
    expect(await bench.faultOf(name, second)).toBe('HS4402')
  })

  it('leaves out a head that its author knows', async () => {
    await begin()
    await bench.sign(a, name, status(name, head, 'ON'), { parents: [head] })
    const odd = await bench.sign(a, name, status(name, head, 'BACK'), { parents: [head] })
    expect(await bench.faultOf(name, odd)).toBe('BLOCKED_CAS_CONFLICT')
    expect(await bench.shown(name)).toMatchObject({ status: 'ON' })
  })
})

describe('offers', () => {
  it('of which one follows the other: the first stays', async () => {
    await begin()
    const first = await bench.sign(a, name, offer(name, head, b), { parents: [head] })
    const second = await bench.sign(a, name, offer(name, head, merger), { parents: [head] })
    expect(await bench.faultOf(name, second)).toBe('HS4404')
    expect((await bench.shown(name)).offers.map(({ cid }) => cid)).toEqual([first])
  })

  it('that are withdrawn or declined take no commit', async () => {
    for (const [kind, agent] of [
      ['withdraw', a],
      ['decline', b],
    ] as const) {
      await begin()
      const { proposal, by, accepted } = await offered()
      await bench.sign(agent, name, { kind, lane_id: name, proposal }, { parents: [head] })
      const node = await bench.sign(a, name, commit(name, [proposal, by, accepted]), {
        parents: [head],
      })
      const fault = await bench.faultOf(name, node)
      // what the addressee said after its ack is not in the past of the commit
      expect({ kind, fault }).toEqual({ kind, fault: kind === 'withdraw' ? 'HS4405' : undefined })
    }
  })

  it('that their addressee has declined take no ack of it', async () => {
    await begin()
    const proposal = await bench.sign(a, name, offer(name, head, b), { parents: [head] })
    await bench.sign(b, name, { kind: 'decline', lane_id: name, proposal }, { parents: [head] })
    const late = await bench.sign(b, name, ack(name, proposal, head), { parents: [head] })
    expect(await bench.faultOf(name, late)).toBe('HS4405')
  })

  it('can not be taken back once they are committed', async () => {
    await begin()
    const made = await offered()
    await handOver(made)
    const withdraw = { kind: 'withdraw', lane_id: name, proposal: made.proposal } as const
    await bench.sign(a, name, withdraw, { parents: [head], payload: { prev: [], seq: 1 } })
    expect(await holder()).toEqual([b, 2])
  })
})

describe('a contested lane', () => {
  it('has two openings, until the roots take it over', async () => {
    await begin()
    const other = await bench.sign(b, name, opening(name))
    expect(await bench.shown(name)).toMatchObject({
      owner: null,
      contested: { why: 'openings', cids: [head, other].sort() },
    })
    const odd = await bench.sign(a, name, status(name, head, 'X'), { parents: [head] })
    expect(await bench.faultOf(name, odd)).toBeUndefined() // of the other opening it knew nothing
    expect(await holder()).toEqual([null, 1])
    const body = {
      kind: 'lane-takeover',
      lane_id: name,
      ownership_epoch: 2,
      owner_ref: b,
      reason: 'opened twice',
    } as const
    const parents = [odd, other]
    const foreign = await bench.sign(b, name, body, { parents })
    expect(await bench.faultOf(name, foreign)).toBe('BLOCKED_WRITER_NOT_OWNER')
    const stale = await bench.sign(merger, name, { ...body, ownership_epoch: 1 }, { parents })
    expect(await bench.faultOf(name, stale)).toBe('BLOCKED_OWNERSHIP_EPOCH_MISMATCH')
    await bench.sign(merger, name, body, { parents })
    expect(await holder()).toEqual([b, 2])
  })

  it('has two commits of one epoch for two offers: an equivocation', async () => {
    await begin()
    const first = await offered()
    await handOver(first)
    expect(await holder()).toEqual([b, 2])
    // the old owner goes back behind its commit with a second chain
    const fork = { payload: { prev: [], seq: 1 } }
    const rival = await bench.sign(a, name, offer(name, head, merger), { parents: [head], ...fork })
    const by = await bench.sign(merger, name, signal(name), { parents: [head] })
    const accepted = await bench.sign(merger, name, ack(name, rival, head), { parents: [head] })
    const second = await bench.sign(a, name, commit(name, [rival, by, accepted]), {
      parents: [head],
      payload: { prev: [rival], seq: 2 },
    })
    expect(await bench.shown(name)).toMatchObject({
      owner: null,
      epoch: 1,
      contested: { why: 'commits', cids: [commits.get(first.proposal)!, second].sort() },
    })
    const { findings, exit } = await verifyRefs(bench.context, [second], false)
    expect(findings.filter(({ severity }) => severity === 'error')).toMatchObject([
      { code: 'HS3009' },
    ])
    expect(exit).toBe(6)
  })

  it('is not for a commit that counts for nothing, which proves against its author all the same', async () => {
    await begin()
    const first = await offered()
    const moved = await handOver(first)
    const late = await bench.sign(a, name, commit(name, [moved, first.by, first.accepted]), {
      parents: [moved],
    })
    expect(await bench.faultOf(name, late)).toBe('BLOCKED_WRITER_NOT_OWNER')
    // names an offer that is none, and knows of no other commit
    const fork = { payload: { prev: [], seq: 1 } }
    const odd = await bench.sign(a, name, commit(name, [head, first.by, first.accepted]), {
      parents: [head],
      ...fork,
    })
    expect(await bench.faultOf(name, odd)).toBe('HS4409')
    expect(await holder()).toEqual([b, 2])
    expect((await bench.shown(name)).contested).toBeNull()
    const { findings } = await verifyRefs(bench.context, [odd], false)
    expect(findings.map(({ code }) => code)).toContain('HS3009')
  })

  it('is not made by a verb: who has closed an epoch closes it for no other offer', async () => {
    await begin()
    const odd = await bench.sign(a, name, commit(name, [head, head, nothing]), { parents: [head] })
    expect((await bench.shown(name)).voidCommits).toEqual([odd])
    await offered()
    const { context } = bench
    const signer = await signerOf(store, a)
    const lanes = new Lanes(
      async () => ({ context, agent: a, signer }),
      async () => context,
    )
    await expect(lanes.commit(name, { now: 530 })).rejects.toMatchObject({
      code: 'HSTORE_EQUIVOCATION',
      message: expect.stringContaining('the roots take the lane over') as string,
    })
  })

  it('has not: two commits of one epoch for one offer are one', async () => {
    await begin()
    const { proposal, by, accepted } = await offered()
    await handOver({ proposal, by, accepted })
    const later = await bench.sign(b, name, { ...signal(name), valid_until_tick: 600 } as Draft, {
      parents: [head],
    })
    await bench.sign(a, name, commit(name, [proposal, later, accepted]), {
      parents: [head],
      payload: { prev: [proposal], seq: 3 },
    })
    expect(await holder()).toEqual([b, 2])
    expect((await bench.shown(name)).heads).toMatchObject([{ event: proposal }])
  })
})

describe('a fork', () => {
  const apart = { payload: { prev: [], seq: 1 } }
  const join = (status = 'JOINED', epoch = 1): Draft => ({
    kind: 'lane-join',
    lane_id: name,
    ownership_epoch: epoch,
    status,
  })

  it('of one owner is two heads, until it joins them', async () => {
    await begin()
    const one = await bench.sign(a, name, status(name, head, 'ONE'), { parents: [head], ...apart })
    const two = await bench.sign(a, name, status(name, head, 'TWO'), { parents: [head], ...apart })
    expect(await bench.shown(name)).toMatchObject({ owner: a, head: null })
    const half = await bench.sign(a, name, join(), { parents: [one] })
    expect(await bench.faultOf(name, half)).toBe('HS4402')
    const joined = await bench.sign(a, name, join(), { parents: [one, two] })
    expect(await bench.shown(name)).toMatchObject({ owner: a, head: joined, status: 'JOINED' })
  })

  it('is beaten by a commit; the new owner may join what it left', async () => {
    await begin()
    const made = await offered()
    const left = await bench.sign(a, name, status(name, head, 'LEFT'), {
      parents: [head],
      ...apart,
    })
    const { proposal, by, accepted } = made
    const moved = await bench.sign(a, name, commit(name, [proposal, by, accepted]), {
      parents: [head],
      payload: { prev: [proposal], seq: 3 },
    })
    expect(await bench.shown(name)).toMatchObject({
      owner: b,
      epoch: 2,
      head: proposal,
      branches: [{ event: left }],
    })
    const old = await bench.sign(a, name, join('X', 1), { parents: [moved, left] })
    expect(await bench.faultOf(name, old)).toBe('BLOCKED_WRITER_NOT_OWNER')
    const joined = await bench.sign(b, name, join('JOINED', 2), { parents: [moved, left] })
    expect(await bench.shown(name)).toMatchObject({ owner: b, head: joined, branches: [] })
  })

  it('of two offers takes no commit that knows of both, until one is withdrawn', async () => {
    await begin()
    const made = await offered()
    const rival = await bench.sign(a, name, offer(name, head, merger), {
      parents: [head],
      ...apart,
    })
    expect((await bench.shown(name)).offers).toHaveLength(2)
    expect(await bench.faultOf(name, await handOver(made))).toBe('HS4405')
    await bench.sign(
      a,
      name,
      { kind: 'withdraw', lane_id: name, proposal: rival },
      { parents: [head] },
    )
    expect(await bench.faultOf(name, await handOver(made, a, 1, 531))).toBeUndefined()
    expect(await holder()).toEqual([b, 2])
  })
})

describe('verify', () => {
  it('names what is contested and what does not count', async () => {
    await begin()
    await bench.sign(b, name, opening(name))
    const odd = await verifyAll(bench.context, false)
    const codes = new Set(odd.findings.map(({ code }) => code))
    for (const code of ['HS3001', 'HS3002', 'HS3009', 'HS4401', 'HS4402', 'HS4403', 'HS4404'])
      expect(codes).toContain(code)
    for (const code of ['HS4405', 'HS4406', 'HS4407', 'HS4409', 'BLOCKED_WRITER_NOT_OWNER'])
      expect(codes).toContain(code)
  })

  it('says HS4001 of a body that is none of its kind', async () => {
    await begin()
    const { body } = (await bench.lane(name)).entries.get(head)!
    const odd = await bench.sign(a, name, status(name, head, 'X'), {
      parents: [head],
      payload: { body },
    })
    const { findings } = await verifyRefs(bench.context, [odd], false)
    expect(findings.map(({ code }) => code)).toEqual(['HS4001'])
    expect(await holder()).toEqual([a, 1])
  })
})
