import type { CidText } from '../../store/cid-text.ts'
import { observedIn } from './bodies.ts'
import { Closings, doubledAmong } from './closings.ts'
import { EpochOrder } from './epoch-order.ts'
import type { Facts } from './facts.ts'
import { FactBits, joinFacts, noFacts } from './facts.ts'
import type { Linked } from './graph.ts'
import { LinkGraph } from './graph.ts'
import type { LaneItem, LaneRoots } from './item.ts'
import { eventKey, ofKind } from './item.ts'
import type { LaneFault } from './judge-node.ts'
import { judgeNode } from './judge-node.ts'
import { judgeNote } from './judge-note.ts'
import { factsAmong, offerKey, Past, refusalKey, silenceKey } from './past.ts'
import type { Seen } from './seen.ts'
import { joinSeen, seenWith } from './seen.ts'
import type { CountedCommit, HeldView, Placed, View } from './view.ts'
import { viewOf } from './view.ts'

/** An offer that counts. */
export interface CountedOffer {
  readonly item: LaneItem<'proposal'>
  /** The withdrawals and refusals that count, sorted. */
  readonly ends: readonly CidText[]
}

/** What is handed on from an entry to those that link to it. */
interface Known {
  readonly seen: Seen | undefined
  readonly facts: Facts
}

const nothing: Known = { seen: undefined, facts: noFacts }

/** What entries of a lane come to, one after the other. */
export class Folding {
  readonly lane: string
  readonly roots: LaneRoots
  readonly items: ReadonlyMap<CidText, LaneItem>
  readonly graph: LinkGraph
  /** The nodes that count. */
  readonly placed: Map<CidText, Placed> = new Map()
  /** The notes that count. */
  readonly notes: Set<CidText> = new Set()
  /** Why an entry does not count. */
  readonly faults: Map<CidText, LaneFault> = new Map()
  readonly #commits = new Map<CidText, CountedCommit>()
  readonly #signers = new Map<string, Set<string>>()
  readonly #doubled: ReadonlySet<CidText>
  readonly #bits: FactBits
  readonly #closings = new Closings()
  readonly #orders = new Map<string, EpochOrder>()
  readonly #offers = new Map<string, CidText[]>()
  readonly #ends = new Map<CidText, CidText[]>()
  readonly #refusals = new Map<string, CidText[]>()
  readonly #silences = new Map<string, LaneItem<'signal'>[]>()

  /**
   * @param others - What else stands in the stream: it says nothing, and those that link to it know what it links to.
   */
  constructor(
    lane: string,
    items: Iterable<LaneItem>,
    roots: LaneRoots,
    others: Iterable<Linked> = [],
  ) {
    this.lane = lane
    this.roots = roots
    this.items = new Map([...items].map((item) => [item.entry.cid, item]))
    this.graph = new LinkGraph(
      [...others, ...[...this.items.values()].map(({ entry }) => entry)],
      (entry) => linksOf(entry, this.items.get(entry.cid)),
    )
    const ordered = this.graph.order
      .map((cid) => this.items.get(cid))
      .filter((item) => item !== undefined)
    this.#doubled = doubledAmong(ordered)
    this.#bits = new FactBits(factsAmong(ordered, this.#doubled))
    for (const item of this.items.values()) this.#addSigner(item)
    this.#judgeAll()
  }

  /** Returns how many holders of roots have signed the same takeover. */
  holdersOf(item: LaneItem): number {
    return this.#signers.get(eventKey(item))?.size ?? 0
  }

  /** Returns what an entry reaches over all its links, in order. */
  pastOf(item: LaneItem): readonly CidText[] {
    return this.graph.reach(linksOf(item.entry, item))
  }

  /** Returns what the entries among `cids` say of the lane. */
  viewAmong(cids: readonly CidText[]): View {
    const nodes = cids.map((cid) => this.placed.get(cid)).filter((node) => node !== undefined)
    const commits = cids.map((cid) => this.#commits.get(cid)).filter((one) => one !== undefined)
    return viewOf(nodes, commits)
  }

  /** Returns the offers among `cids` that count and are of the view's epoch and head, with what ended them. */
  offersAmong(cids: readonly CidText[], view: HeldView): readonly CountedOffer[] {
    const items = cids.filter((cid) => this.notes.has(cid)).map((cid) => this.items.get(cid))
    const ends = new Map<CidText, CidText[]>()
    for (const item of items) {
      const end = ofKind(item, 'withdraw') ?? ofKind(item, 'decline')
      if (end !== undefined) push(ends, end.body.proposal, end.entry.cid)
    }
    return items
      .map((item) => ofKind(item, 'proposal'))
      .filter((item) => item !== undefined)
      .filter(({ entry, body }) => {
        const isHead = view.heads.some(({ event }) => event === body.expected_predecessor_id)
        return isHead && entry.author === view.owner && body.writer_ownership_epoch === view.epoch
      })
      .map((item) => ({ item, ends: ends.get(item.entry.cid)?.sort() ?? [] }))
  }

  #addSigner(item: LaneItem): void {
    if (item.body.kind !== 'lane-takeover') return
    const holder = this.roots.holders.get(item.entry.signer)
    if (holder === undefined) return
    const key = eventKey(item)
    this.#signers.set(key, (this.#signers.get(key) ?? new Set()).add(holder))
  }

  /** What an entry knows is kept until all that link to it are judged. */
  #judgeAll(): void {
    const { order } = this.graph
    const known: (Known | undefined)[] = []
    const followers = new Int32Array(order.length)
    for (const place of order.keys())
      for (const link of this.graph.linksAt(place)) followers[link]! += 1
    for (const [place, cid] of order.entries()) {
      let before = nothing
      for (const link of this.graph.linksAt(place)) {
        before = joined(before, known[link]!)
        followers[link]! -= 1
        if (followers[link] === 0) known[link] = undefined
      }
      const item = this.items.get(cid)
      const after = item === undefined ? before : this.#judge(item, before)
      known.push(followers[place] === 0 ? undefined : after)
    }
  }

  #judge(item: LaneItem, before: Known): Known {
    const { cid } = item.entry
    const notes = {
      offers: this.#offers,
      ends: this.#ends,
      refusals: this.#refusals,
      silences: this.#silences,
    }
    const past = new Past(before, { bits: this.#bits, notes, closings: this.#closings })
    this.#refuse(item)
    const facts = this.#bits.with(before.facts, cid)
    if (isNode(item)) {
      const judged = judgeNode(this, item, past)
      if (!('fault' in judged)) {
        this.#close(item, judged)
        return { seen: this.#place(judged, before.seen), facts }
      }
      this.faults.set(cid, judged.fault)
    } else {
      const fault = judgeNote(this, item, past)
      if (fault === undefined) this.#note(item)
      else this.faults.set(cid, fault)
    }
    return facts === before.facts ? before : { seen: before.seen, facts }
  }

  #note(item: LaneItem): void {
    const { cid } = item.entry
    this.notes.add(cid)
    const offer = ofKind(item, 'proposal')
    if (offer !== undefined) {
      const { writer_ownership_epoch: epoch, expected_predecessor_id: head } = offer.body
      push(this.#offers, offerKey(epoch, offer.entry.author, head), cid)
    }
    const end = ofKind(item, 'withdraw') ?? ofKind(item, 'decline')
    if (end !== undefined) push(this.#ends, end.body.proposal, cid)
    const signal = ofKind(item, 'signal')
    if (signal?.body.status === 'UNAVAILABLE')
      push(this.#silences, silenceKey(signal.entry.author, signal.body.surface_ref), signal)
  }

  #place(node: Placed, before: Seen | undefined): Seen {
    this.placed.set(node.cid, node)
    this.#closings.addOwner(node)
    const key = `${node.epoch} ${node.base}`
    const order = this.#orders.get(key) ?? new EpochOrder()
    this.#orders.set(key, order)
    order.add(node.key, node.follows)
    return seenWith(before, node, order)
  }

  /** A refusal speaks against its author even where it does not count. */
  #refuse(item: LaneItem): void {
    const decline = ofKind(item, 'decline')
    if (decline === undefined) return
    const { author, cid } = item.entry
    push(this.#refusals, refusalKey(decline.body.proposal, author), cid)
  }

  /** Keeps a commit that counts, to be held against others of its epoch. */
  #close(item: LaneItem, { base }: Placed): void {
    const commit = ofKind(item, 'lane-commit')
    if (commit === undefined) return
    const { author, cid } = item.entry
    const { ownership_epoch: epoch, proposal } = commit.body
    const counted = { cid, author, epoch, proposal, base }
    this.#commits.set(cid, counted)
    if (this.#doubled.has(cid)) this.#closings.addCommit(counted)
  }
}

/** What an entry follows: what it links to, and what it signs as read. */
function linksOf({ parents, prev, refs }: Linked, item: LaneItem | undefined): readonly CidText[] {
  const through = item && observedIn(item.body)?.through
  return [...parents, ...prev, ...refs, ...(through ?? [])]
}

function joined(a: Known, b: Known): Known {
  if (a === b || b === nothing) return a
  const seen = a.seen && b.seen ? joinSeen(a.seen, b.seen) : (a.seen ?? b.seen)
  const facts = joinFacts(a.facts, b.facts)
  if (seen === a.seen && facts === a.facts) return a
  return seen === b.seen && facts === b.facts ? b : { seen, facts }
}

function push<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

function isNode({ body }: LaneItem): boolean {
  return body.kind.startsWith('lane-')
}
