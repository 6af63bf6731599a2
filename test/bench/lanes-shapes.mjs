// Lanes without a store, as the fold takes them: an honest one, and what an agent can do to make it slow. `b` owns
// nothing but where it is said.
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { dist } from './build.mjs'
import { stepsOf } from './lanes-build.mjs'

const { Folding } = await import(pathToFileURL(path.join(dist, 'src/lanes/fold.js')).href)
const { nameOf, refsOf } = await import(pathToFileURL(path.join(dist, 'src/lanes/bodies.js')).href)

const lane = 'bench'
const most = 256

/** By name: what half of a lane's entries are about, while the other half is honest. */
export const shapes = {
  /** Statuses, with a handoff in every 33. */
  honest: (bench, size) => bench.honest(size),
  /** A chain of signals beside the honest ones, each on the head. */
  signals: (bench, size) => bench.beside(size, () => bench.add('b', signal())),
  /** Offers by one who may make none, each beginning a chain of its own. */
  offers: (bench, size) =>
    bench.beside(size, () => bench.add('b', offer(bench), { prev: [], isRead: true })),
  /** Offers to oneself, refusals of them, and then acks that each know of all. */
  acks: (bench, size) => {
    const first = bench.add('b', offer(bench))
    for (let i = 0; i < size / 3; i++) bench.add('b', { kind: 'decline', proposal: first })
    const prev = bench.add('b', signal())
    for (let i = 0; i < size / 3; i++)
      bench.add('b', ack(bench, first), { prev: [prev], isRead: true })
    bench.honest(size / 3)
  },
  /** Signals that each link to the last 256. */
  links: (bench, size) => {
    const made = [bench.head]
    bench.beside(size, () => {
      made.push(bench.add('b', signal(), { parents: made.slice(-most) }))
    })
  },
  /** Openings, and offers that know of them. */
  openings: (bench, size) => {
    for (let i = 0; i < size / 3; i++) bench.add('b', opening(), { parents: [] })
    for (let i = 0; i < size / 3; i++) bench.add('b', offer(bench))
    bench.honest(size / 3)
  },
  /** Commits of epochs to come, two for each. */
  commits: (bench, size) => {
    const some = [bench.add('b', offer(bench)), bench.add('b', offer(bench))]
    let i = 0
    bench.beside(size, () => bench.add('b', commit(some[i % 2], 2 + (i++ >> 1))))
  },
  /** An owner closes its epoch for two offers, and goes on. */
  twice: (bench, size) => {
    bench.honest(33)
    bench.add('a', commit(bench.head, 1), { prev: [], parents: [bench.first] })
    bench.honest(size - 33)
  },
  /** An owner forks its epoch with every status; notes know of more and more of the heads, and offers of them. */
  forks: (bench, size) => {
    const forks = []
    for (let i = 0; i < size / 3; i++)
      forks.push(bench.add('a', status(bench, i), { prev: [], parents: [bench.first] }))
    for (const fork of forks) {
      bench.add('b', signal(), { parents: [fork] })
      bench.add('b', offer(bench), { parents: [fork] })
    }
  },
  /** Two machines of one owner, which know nothing of each other; each writes as much. */
  machines: (bench, size) => {
    const ends = [bench.first, bench.first]
    const chains = [[], []]
    for (let i = 0; i < size; i++) {
      const at = i % 2
      const cid = bench.add('a', status({ head: ends[at] }, i), {
        prev: chains[at],
        parents: [ends[at]],
        signer: `a-${at}`,
      })
      ends[at] = cid
      chains[at] = [cid]
    }
    bench.add('b', offer(bench), { parents: ends })
  },
}

/** Returns the CPU time in ms of the fold of a shape, for each size: the least of three. */
export async function foldTimes(shape, sizes) {
  return sizes.map((size) => {
    const bench = new ItemBench()
    shapes[shape](bench, size)
    const times = [1, 2, 3].map(() => {
      const before = process.cpuUsage()
      const folding = new Folding(lane, bench.items, { holders: new Map(), threshold: 1 })
      const { user, system } = process.cpuUsage(before)
      if (folding.placed.size === 0) throw new Error('nothing counts')
      return (user + system) / 1000
    })
    return Math.min(...times)
  })
}

class ItemBench {
  items = []
  #chains = new Map()
  #owner = 0
  #epoch = 1
  #last = {}

  constructor() {
    this.first = this.add('a', opening(), { parents: [] })
    this.head = this.first
    this.#last = { node: this.first }
  }

  /** Adds an entry and returns its CID. */
  add(author, document, { parents = [this.#last.node], prev, signer = author, isRead } = {}) {
    const body = { lane_id: lane, ...document }
    const cid = `b${((this.items.length * 2654435761) % 4294967296).toString(36)}-${this.items.length}`
    const links = {
      parents: [...parents].toSorted((a, b) => (a < b ? -1 : 1)),
      prev: prev ?? this.#chains.get(signer) ?? [],
    }
    const refs = refsOf(body)
    const entry = { author, body: cid, cid, kind: body.kind, name: nameOf(body), signer }
    const reads = new Set([...links.parents, ...refs])
    if (prev === undefined) this.#chains.set(signer, [cid])
    this.items.push({ entry: { ...entry, ...links, refs }, body, isHeld: isRead !== false, reads })
    return cid
  }

  /** Goes on as an honest owner and its addressee do. */
  honest(size, beside = () => undefined) {
    let i = 0
    for (const { kind } of stepsOf(size + 1)) {
      if (kind === 'lane-open') continue
      this.#step(kind, i++)
      beside()
    }
  }

  /** Does something beside each step of half as many. */
  beside(size, act) {
    this.honest(size / 2, act)
  }

  #step(kind, i) {
    const owner = 'ac'[this.#owner]
    const other = 'ac'[1 - this.#owner]
    const step = stepOf(this.head, this.#epoch)
    if (kind === 'lane-status') {
      this.head = this.#last.node = this.add(owner, { kind, ...step, next_status: `S${i}` })
    } else if (kind === 'proposal') {
      const to = { target_owner_ref: other, target_ownership_epoch: this.#epoch + 1 }
      this.#last[kind] = this.add(owner, {
        kind,
        ...step,
        ...to,
        reachability_surface_ref: 'board',
      })
    } else if (kind === 'signal') this.#last[kind] = this.add(other, signal())
    else if (kind === 'ack') {
      const of = { epoch: this.#epoch, head: this.head }
      this.#last[kind] = this.add(other, ack(of, this.#last.proposal))
    } else {
      const { proposal, signal: by, ack: accepted } = this.#last
      const named = { proposal, signal: by, ack: accepted }
      const node = { kind, ownership_epoch: this.#epoch, ...named, tick: 10 }
      this.#last.node = this.add(owner, node)
      this.head = proposal
      this.#epoch += 1
      this.#owner = 1 - this.#owner
    }
  }
}

function stepOf(head, epoch = 1) {
  return {
    writer_ownership_epoch: epoch,
    observed_through_event_id: head,
    expected_predecessor_id: head,
    observed: { held: new Uint8Array(32), through: [head] },
  }
}

function opening() {
  return { kind: 'lane-open', ownership_epoch: 1, status: 'ACTIVE' }
}

function status({ head, first }, i) {
  return { kind: 'lane-status', ...stepOf(first ?? head), next_status: `S${i}` }
}

function offer({ head }) {
  const to = { target_owner_ref: 'b', target_ownership_epoch: 2 }
  return { kind: 'proposal', ...stepOf(head), ...to, reachability_surface_ref: 'board' }
}

function signal() {
  const ticks = { observed_at_tick: 5, valid_until_tick: 50 }
  return { kind: 'signal', surface_ref: 'board', status: 'READY', ...ticks }
}

function ack({ head, epoch = 1 }, of) {
  const { observed } = stepOf(head)
  const accepted = { accepted_handoff_event_id: of, accepted_ownership_epoch: epoch + 1 }
  return { kind: 'ack', ...accepted, observed_predecessor_id: head, observed }
}

function commit(proposal, epoch) {
  const named = { proposal, signal: proposal, ack: proposal }
  return { kind: 'lane-commit', ownership_epoch: epoch, ...named, tick: 10 }
}
