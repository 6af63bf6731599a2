import type { CidText } from '../../../store/cid-text.ts'
import { evaluateCommit, evaluateTransition } from '../../../src/contracts/hrc/evaluate.ts'
import { nameOf, observedIn, refsOf } from '../../../src/lanes/bodies.ts'
import type { LaneItem, LaneRoots } from '../../../src/lanes/item.ts'
import { ofKind } from '../../../src/lanes/item.ts'
import { projectAck, projectSignal, projectStep } from '../../../src/lanes/project.ts'

/** Where a node leaves a lane, told by itself alone. */
interface After {
  readonly epoch: number
  readonly owner: string
  readonly id: CidText
  readonly event: string
  readonly base: string
  readonly tick: number
}

/** A node that counts. */
interface Counted {
  readonly item: LaneItem
  readonly after: After
}

/** What a node of the owner is judged on. */
interface Rests {
  readonly view: SecondView
  readonly past: ReadonlySet<CidText>
  readonly follows: readonly CidText[]
  readonly common: Pick<After, 'event' | 'id'>
}

/** What a set of entries says: the plainest form that two folds can be compared in. */
export interface SecondView {
  readonly owner: string | null
  readonly epoch: number
  readonly heads: readonly string[]
  readonly branches: readonly string[]
  readonly offers: readonly string[]
}

/**
 * docs/lanes.md over again, without order, caches or graphs: each question is asked anew of the set of entries that it
 * is about. Slow, and made to be read.
 */
export class SecondFold {
  readonly #lane: string
  readonly #items: ReadonlyMap<CidText, LaneItem>
  readonly #roots: LaneRoots
  readonly #after = new Map<CidText, After | 'no'>()
  readonly #notes = new Map<CidText, boolean>()

  constructor(lane: string, items: readonly LaneItem[], roots: LaneRoots) {
    this.#lane = lane
    this.#items = new Map(items.map((item) => [item.entry.cid, item]))
    this.#roots = roots
  }

  /** Returns what all entries say; undefined where nobody opened the lane. */
  state(): SecondView | undefined {
    return this.#view(new Set(this.#items.keys()))
  }

  /** Returns the entries that count, sorted. */
  counted(): readonly CidText[] {
    return [...this.#items.keys()].filter((cid) => this.#counts(cid)).sort()
  }

  #counts(cid: CidText): boolean {
    const item = this.#items.get(cid)!
    return item.body.kind.startsWith('lane-') ? this.#nodeAfter(cid) !== 'no' : this.#note(cid)
  }

  #past(item: LaneItem): Set<CidText> {
    const past = new Set<CidText>()
    const walk = (links: readonly CidText[]): void => {
      for (const link of links) {
        const item = this.#items.get(link)
        if (item === undefined || past.has(link)) continue
        past.add(link)
        walk(this.#links(item))
      }
    }
    walk(this.#links(item))
    return past
  }

  #links({ entry: { parents, prev, refs }, body }: LaneItem): readonly CidText[] {
    return [...parents, ...prev, ...refs, ...(observedIn(body)?.through ?? [])]
  }

  #formed({ entry, body }: LaneItem): boolean {
    const refs = JSON.stringify(refsOf(body)) === JSON.stringify(entry.refs)
    return body.lane_id === this.#lane && entry.name === nameOf(body) && refs
  }

  #nodeAfter(cid: CidText): After | 'no' {
    const known = this.#after.get(cid)
    if (known !== undefined) return known
    const after = this.#judge(this.#items.get(cid)!)
    this.#after.set(cid, after)
    return after
  }

  #id({ entry, body }: LaneItem): CidText {
    if (body.kind === 'lane-commit')
      return `${body.ownership_epoch}/${body.proposal}/${entry.author}` as CidText
    if (body.kind === 'lane-takeover') return `${entry.body}/${entry.parents.join()}` as CidText
    return entry.cid
  }

  #event({ entry, body }: LaneItem): string {
    if (body.kind === 'lane-commit') return body.proposal
    return body.kind === 'lane-takeover' ? entry.body : entry.cid
  }

  #nodes(of: Iterable<CidText>): Counted[] {
    const found: Counted[] = []
    for (const cid of of) {
      const item = this.#items.get(cid)!
      if (!item.body.kind.startsWith('lane-')) continue
      const after = this.#nodeAfter(cid)
      if (after !== 'no') found.push({ item, after })
    }
    return found
  }

  #judge(item: LaneItem): After | 'no' {
    const { entry, body } = item
    if (!this.#formed(item)) return 'no'
    const common = { id: this.#id(item), event: this.#event(item) }
    if (body.kind === 'lane-open') {
      if (entry.parents.length > 0) return 'no'
      return { ...common, epoch: 1, owner: entry.author, base: '', tick: 0 }
    }
    const parents = entry.parents.map((cid) => {
      const parent = this.#items.get(cid)
      return parent?.body.kind.startsWith('lane-') ? this.#nodeAfter(cid) : 'no'
    })
    if (parents.length === 0 || parents.includes('no')) return 'no'
    const past = this.#past(item)
    if (body.kind === 'lane-takeover') return this.#takeover(item, past, common)
    const view = this.#view(past)
    if (view?.owner == null || entry.author !== view.owner) return 'no'
    const follows = (parents as After[]).map(({ id }) => id)
    return this.#owned(item, { view, past, follows, common })
  }

  #owned(item: LaneItem, rests: Rests): After | 'no' {
    const { view, past, follows, common } = rests
    const tops = this.#tops(past)
    const after = {
      ...common,
      epoch: view.epoch,
      owner: view.owner!,
      base: tops.base,
      tick: tops.tick,
    }
    if (item.body.kind === 'lane-join') {
      const loose = [...tops.heads, ...tops.branches]
      const isRight =
        item.body.ownership_epoch === view.epoch &&
        new Set(follows).size > 1 &&
        follows.every((id) => loose.includes(id)) &&
        tops.heads.every((id) => follows.includes(id))
      return isRight ? after : 'no'
    }
    if (view.heads.length !== 1 || follows.length !== 1 || follows[0] !== tops.heads[0]) return 'no'
    const status = ofKind(item, 'lane-status')
    if (status === undefined) return this.#commit(ofKind(item, 'lane-commit')!, rests, after)
    const hasRead = item.entry.parents.every((cid) => item.reads.has(cid))
    const answer = evaluateTransition(this.#hrcState(view), projectStep(status, hasRead)).status
    return answer === 'STATUS_TRANSITION_ALLOWED' && item.isHeld ? after : 'no'
  }

  #commit({ body }: LaneItem<'lane-commit'>, { view, past }: Rests, after: After): After | 'no' {
    const offer = ofKind(this.#items.get(body.proposal), 'proposal')
    const signal = ofKind(this.#items.get(body.signal), 'signal')
    const ack = ofKind(this.#items.get(body.ack), 'ack')
    if (offer === undefined || signal === undefined || ack === undefined) return 'no'
    const { status } = evaluateCommit(
      this.#hrcState(view),
      projectStep(offer, true),
      projectSignal(signal),
      projectAck(ack),
      body.tick,
    )
    const isRight =
      status === 'HANDOFF_COMMIT_ALLOWED' &&
      body.ownership_epoch === view.epoch &&
      [offer, signal, ack].every((one) => this.#note(one.entry.cid)) &&
      view.offers.join() === offer.entry.cid &&
      !this.#isSilenced(signal, past, body.tick) &&
      body.tick >= after.tick
    if (!isRight) return 'no'
    const { target_owner_ref: owner, target_ownership_epoch: epoch } = offer.body
    return { ...after, owner, epoch, tick: body.tick }
  }

  /** Whether an UNAVAILABLE over the same surface came after a signal, as far as is known. */
  #isSilenced(signal: LaneItem<'signal'>, past: ReadonlySet<CidText>, now: number): boolean {
    const at = signal.body.observed_at_tick
    return [...past].some((cid) => {
      const other = ofKind(this.#items.get(cid), 'signal')
      if (other === undefined || cid === signal.entry.cid || !this.#note(cid)) return false
      const { surface_ref, status, observed_at_tick: tick } = other.body
      const isOurs =
        status === 'UNAVAILABLE' &&
        other.entry.author === signal.entry.author &&
        surface_ref === signal.body.surface_ref
      const isBefore = other.entry.signer === signal.entry.signer && this.#past(signal).has(cid)
      return isOurs && tick <= now && (tick > at || (tick === at && !isBefore))
    })
  }

  #takeover(
    { entry, body }: LaneItem,
    past: ReadonlySet<CidText>,
    common: Pick<After, 'event' | 'id'>,
  ): After | 'no' {
    if (body.kind !== 'lane-takeover' || !this.#roots.holders.has(entry.signer)) return 'no'
    const reached = this.#nodes(past).map(({ after }) => after.epoch)
    if (body.ownership_epoch !== 1 + Math.max(...reached)) return 'no'
    const holders = new Set<string>()
    for (const other of this.#items.values()) {
      const holder = this.#roots.holders.get(other.entry.signer)
      if (holder !== undefined && this.#id(other) === common.id) holders.add(holder)
    }
    if (holders.size < this.#roots.threshold) return 'no'
    const { ownership_epoch: epoch, owner_ref: owner } = body
    return { ...common, epoch, owner, base: common.id, tick: 0 }
  }

  #hrcState({ owner, epoch, heads }: SecondView) {
    return {
      schema_version: 'hrc-state/0.1',
      lane_id: this.#lane,
      owner_ref: owner!,
      ownership_epoch: epoch,
      head_event_id: heads[0]!,
      status: 'any',
    } as const
  }

  /** The line that the highest takeover begins, or the opening. */
  #line(of: ReadonlySet<CidText>): Counted[] {
    const nodes = this.#nodes(of)
    const takeovers = nodes.filter(({ item }) => item.body.kind === 'lane-takeover')
    const best = Math.max(0, ...takeovers.map(({ after }) => after.epoch))
    const base = takeovers.find(({ after }) => after.epoch === best)?.after.base ?? ''
    return nodes.filter(({ after }) => after.base === base)
  }

  #tops(of: ReadonlySet<CidText>): {
    heads: CidText[]
    branches: CidText[]
    base: string
    tick: number
  } {
    const line = this.#line(of)
    const epoch = Math.max(...line.map(({ after }) => after.epoch))
    const isFollowed = (id: CidText): boolean =>
      line.some(({ item }) =>
        item.entry.parents.some((cid) => {
          const parent = this.#nodeAfter(cid)
          return parent !== 'no' && parent.id === id && item.body.kind !== 'lane-takeover'
        }),
      )
    const ends = line.filter(({ after }) => !isFollowed(after.id)).map(({ after }) => after)
    const at = (isTop: boolean): CidText[] => [
      ...new Set(ends.filter((one) => (one.epoch === epoch) === isTop).map(({ id }) => id)),
    ]
    const ticks = line.filter(({ after }) => after.epoch === epoch).map(({ after }) => after.tick)
    return {
      heads: at(true),
      branches: at(false),
      base: line[0]!.after.base,
      tick: Math.max(...ticks),
    }
  }

  #isContested(of: ReadonlySet<CidText>): boolean {
    const nodes = this.#nodes(of)
    const takeovers = nodes.filter(({ item }) => item.body.kind === 'lane-takeover')
    const best = Math.max(0, ...takeovers.map(({ after }) => after.epoch))
    const top = takeovers.filter(({ after }) => after.epoch === best).map(({ after }) => after.id)
    if (new Set(top).size > 1) return true
    const opens = nodes.filter(({ item }) => item.body.kind === 'lane-open')
    if (takeovers.length === 0 && opens.length > 1) return true
    return this.#isEquivocated(of)
  }

  #isEquivocated(of: ReadonlySet<CidText>): boolean {
    const made = new Map<number, Set<string>>()
    for (const { item } of this.#line(of)) {
      const commit = ofKind(item, 'lane-commit')
      if (commit === undefined) continue
      const { ownership_epoch: epoch, proposal } = commit.body
      made.set(epoch, (made.get(epoch) ?? new Set()).add(proposal))
    }
    return [...made.values()].some((proposals) => proposals.size > 1)
  }

  #view(of: ReadonlySet<CidText>): SecondView | undefined {
    const line = this.#line(of)
    if (line.length === 0) return undefined
    const epoch = Math.max(...line.map(({ after }) => after.epoch))
    if (this.#isContested(of)) return { owner: null, epoch: 0, heads: [], branches: [], offers: [] }
    const { owner } = line.find(({ after }) => after.epoch === epoch)!.after
    const tops = this.#tops(of)
    const events = (ids: readonly CidText[]): string[] =>
      ids.map((id) => line.find(({ after }) => after.id === id)!.after.event).sort()
    const heads = events(tops.heads)
    const offers = [...of].filter((cid) => {
      const offer = ofKind(this.#items.get(cid), 'proposal')
      if (offer === undefined || !this.#note(cid)) return false
      const isNow =
        heads.includes(offer.body.expected_predecessor_id) &&
        offer.body.writer_ownership_epoch === epoch &&
        offer.entry.author === owner
      return isNow && ![...of].some((other) => this.#ends(other, cid))
    })
    return { owner, epoch, heads, branches: events(tops.branches), offers: offers.sort() }
  }

  #ends(cid: CidText, offer: CidText): boolean {
    const { body } = this.#items.get(cid)!
    const isEnd = body.kind === 'withdraw' || body.kind === 'decline'
    return isEnd && body.proposal === offer && this.#note(cid)
  }

  #note(cid: CidText): boolean {
    const known = this.#notes.get(cid)
    if (known !== undefined) return known
    const counts = this.#judgeNote(this.#items.get(cid)!)
    this.#notes.set(cid, counts)
    return counts
  }

  #judgeNote(item: LaneItem): boolean {
    const { entry, body } = item
    if (!this.#formed(item) || entry.parents.length === 0) return false
    if (body.kind === 'signal') return true
    const proposal = ofKind(item, 'proposal')
    if (proposal !== undefined) return this.#judgeOffer(proposal)
    const named = refsOf(body)[0]
    const offer = ofKind(named === undefined ? undefined : this.#items.get(named), 'proposal')
    if (offer === undefined) return false
    if (body.kind === 'withdraw') return offer.entry.author === entry.author
    if (offer.body.target_owner_ref !== entry.author) return false
    const ack = ofKind(item, 'ack')
    return ack === undefined || this.#judgeAck(ack, offer)
  }

  #judgeAck(item: LaneItem<'ack'>, offer: LaneItem<'proposal'>): boolean {
    const { entry, body } = item
    const hasDeclined = [...this.#past(item)].some((cid) => {
      const decline = ofKind(this.#items.get(cid), 'decline')
      return decline?.body.proposal === offer.entry.cid && decline.entry.author === entry.author
    })
    return (
      body.accepted_ownership_epoch === offer.body.target_ownership_epoch &&
      body.observed_predecessor_id === offer.body.expected_predecessor_id &&
      item.isHeld &&
      item.reads.has(offer.entry.cid) &&
      !hasDeclined
    )
  }

  #judgeOffer(item: LaneItem<'proposal'>): boolean {
    const past = this.#past(item)
    const view = this.#view(past)
    if (view?.owner == null || view.heads.length !== 1) return false
    const [parent, ...more] = item.entry.parents
    const node =
      parent !== undefined && this.#items.has(parent) ? this.#nodes([parent])[0] : undefined
    if (more.length > 0 || node?.after.id !== this.#tops(past).heads[0]) return false
    const answer = evaluateTransition(
      this.#hrcState(view),
      projectStep(item, item.reads.has(parent!)),
    )
    return (
      answer.status === 'HANDOFF_REQUIRES_REACHABILITY' &&
      item.body.target_ownership_epoch === view.epoch + 1 &&
      item.isHeld &&
      view.offers.length === 0
    )
  }
}
