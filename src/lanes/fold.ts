import type { CidText } from '../../store/cid-text.ts'
import { LinkGraph } from './graph.ts'
import type { LaneItem, LaneRoots } from './item.ts'
import { eventKey, ofKind } from './item.ts'
import type { LaneFault } from './judge-node.ts'
import { judgeNode } from './judge-node.ts'
import { judgeNote } from './judge-note.ts'
import type { HeldView, Placed, StatedCommit, View } from './view.ts'
import { advance, viewOf } from './view.ts'

/** An offer that counts. */
export interface CountedOffer {
  readonly item: LaneItem<'proposal'>
  /** The withdrawals and refusals that count, sorted. */
  readonly ends: readonly CidText[]
}

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
  readonly #commits = new Map<CidText, StatedCommit>()
  readonly #after = new Map<CidText, HeldView>()
  readonly #signers = new Map<string, Set<string>>()

  constructor(lane: string, items: Iterable<LaneItem>, roots: LaneRoots) {
    this.lane = lane
    this.roots = roots
    this.items = new Map([...items].map((item) => [item.entry.cid, item]))
    this.graph = new LinkGraph(
      [...this.items.values()].map(({ entry }) => entry),
      ({ parents, prev, refs }) => [...parents, ...prev, ...refs],
    )
    for (const item of this.items.values()) this.#addSigner(item)
    for (const cid of this.graph.order) this.#judge(this.items.get(cid)!)
  }

  /** Returns how many holders of roots have signed the same takeover. */
  holdersOf(item: LaneItem): number {
    return this.#signers.get(eventKey(item))?.size ?? 0
  }

  /** Returns what an entry reaches over all its links, in order. */
  pastOf({ entry: { parents, prev, refs } }: LaneItem): readonly CidText[] {
    return this.graph.reach([...parents, ...prev, ...refs])
  }

  /** Returns what the entries among `cids` say of the lane. */
  viewAmong(cids: readonly CidText[]): View {
    const nodes = cids.map((cid) => this.placed.get(cid)).filter((node) => node !== undefined)
    const commits = cids.map((cid) => this.#commits.get(cid)).filter((one) => one !== undefined)
    return viewOf(nodes, commits)
  }

  /** Returns what an entry's past says of the lane. */
  viewBefore(item: LaneItem): View {
    const { parents, prev, refs } = item.entry
    const [parent] = parents
    const known = parents.length === 1 ? this.#after.get(parent!) : undefined
    if (known !== undefined) {
      // where nothing but notes was seen besides the parent and its past, the view is the one that the parent left
      const beside = this.graph.reach([...prev, ...refs], [parent!])
      if (beside.every((cid) => !this.placed.has(cid) && !this.#commits.has(cid))) return known
    }
    return this.viewAmong(this.pastOf(item))
  }

  /** Returns the offers among `cids` that count and are of the view's epoch and head, with what ended them. */
  offersAmong(cids: readonly CidText[], view: HeldView): readonly CountedOffer[] {
    const items = cids.filter((cid) => this.notes.has(cid)).map((cid) => this.items.get(cid))
    const ends = new Map<CidText, CidText[]>()
    for (const item of items) {
      const end = ofKind(item, 'withdraw') ?? ofKind(item, 'decline')
      if (end === undefined) continue
      const { proposal } = end.body
      ends.set(proposal, [...(ends.get(proposal) ?? []), end.entry.cid].sort())
    }
    return items
      .map((item) => ofKind(item, 'proposal'))
      .filter((item) => item !== undefined)
      .filter(({ entry, body }) => {
        const isHead = view.heads.some(({ event }) => event === body.expected_predecessor_id)
        return isHead && entry.author === view.owner && body.writer_ownership_epoch === view.epoch
      })
      .map((item) => ({ item, ends: ends.get(item.entry.cid) ?? [] }))
  }

  #addSigner(item: LaneItem): void {
    if (item.body.kind !== 'lane-takeover') return
    const holder = this.roots.holders.get(item.entry.signer)
    if (holder === undefined) return
    const key = eventKey(item)
    this.#signers.set(key, (this.#signers.get(key) ?? new Set()).add(holder))
  }

  #judge(item: LaneItem): void {
    const { cid } = item.entry
    this.#state(item)
    if (isNode(item)) {
      const view = this.viewBefore(item)
      const judged = judgeNode(this, item, view)
      if ('fault' in judged) this.faults.set(cid, judged.fault)
      else this.#place(judged, view)
    } else {
      const fault = judgeNote(this, item)
      if (fault === undefined) this.notes.add(cid)
      else this.faults.set(cid, fault)
    }
  }

  #place(node: Placed, view: View): void {
    this.placed.set(node.cid, node)
    // what several entries make together, and what others may stand against, is looked at whole
    const isAlone = node.key === node.cid && view?.standing === 'held'
    if (isAlone) this.#after.set(node.cid, advance(view, node))
  }

  #state(item: LaneItem): void {
    const commit = ofKind(item, 'lane-commit')
    const parent = commit && this.placed.get(commit.entry.parents[0]!)
    if (commit === undefined || parent === undefined || commit.body.lane_id !== this.lane) return
    const { author, cid } = commit.entry
    const { ownership_epoch: epoch, proposal } = commit.body
    this.#commits.set(cid, { cid, author, epoch, proposal, base: parent.base })
  }
}

function isNode({ body }: LaneItem): boolean {
  return body.kind.startsWith('lane-')
}
