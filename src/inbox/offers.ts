import type { CidText } from '../../store/cid-text.ts'
import type { Tick } from '../contracts/hrc/documents.ts'
import type { Decision } from '../contracts/hrc/evaluate.ts'
import { observedIn } from '../lanes/bodies.ts'
import type { CountedOffer } from '../lanes/fold.ts'
import type { LaneItem } from '../lanes/item.ts'
import { ofKind } from '../lanes/item.ts'
import type { Lane } from '../lanes/load.ts'
import { acksOf, evaluateOffer, findEvidence, offersOf } from '../lanes/state.ts'
import type { HeldView } from '../lanes/view.ts'

/** How far an offer has got. Each word says what an entry shows, and no more. */
export type OfferStateName =
  | 'acked'
  | 'committed'
  | 'declined'
  | 'done'
  | 'seen'
  | 'stored'
  | 'withdrawn'

/** A state, and the entry that it rests on. */
export interface ReachedState<Name extends string = OfferStateName> {
  readonly state: Name
  readonly cid: CidText
}

/** An offer of a lane with what became of it. */
export interface InboxOffer {
  readonly lane: string
  readonly stream: string
  /** Its entry. */
  readonly cid: CidText
  readonly from: string
  readonly to: string
  /** The epoch that it opens. */
  readonly epoch: number
  readonly surface: string
  /** The entry that is handed over; null where none is named. */
  readonly handoff: CidText | null
  /** From `stored` on, each with its entry. */
  readonly states: readonly ReachedState[]
  /** HRC's answer on its commit now; null once it has ended or was committed. */
  readonly answer: Decision | null
  /** Who has to act next; null where nobody has to. */
  readonly waitsFor: string | null
}

/** Returns the offers of a lane's present epoch and head, and the one that opened the epoch, by CID. */
export function findOffers(lane: Lane, view: HeldView, now: Tick): readonly InboxOffer[] {
  const { folding } = lane
  const closed = [...folding.placed.values()]
    .filter(({ epoch, base, key }) => epoch === view.epoch && base === view.base && key !== base)
    .map(({ cid }) => ofKind(folding.items.get(cid), 'lane-commit')?.body.proposal)
  const opener = closed.find((cid) => cid !== undefined)
  const opened = ofKind(opener === undefined ? undefined : folding.items.get(opener), 'proposal')
  const past = opened === undefined ? [] : [committed(lane, view, opened)]
  const offers = offersOf(folding, view)
  const isBlocked =
    view.heads.length > 1 || offers.filter(({ ends }) => ends.length === 0).length > 1
  return [...past, ...offers.map((offer) => present(lane, view, offer, { now, isBlocked }))]
}

/** When an offer is judged, and whether its owner has to clear the way first: join heads, or withdraw another offer. */
interface At {
  readonly now: Tick
  readonly isBlocked: boolean
}

function present(
  lane: Lane,
  view: HeldView,
  { item, ends }: CountedOffer,
  { now, isBlocked }: At,
): InboxOffer {
  const { folding } = lane
  const [end] = ends
  const before = [...statesBefore(lane, item)]
  if (end !== undefined) {
    const isRefusal = folding.items.get(end)?.body.kind === 'decline'
    const states = [...before, { state: isRefusal ? 'declined' : 'withdrawn', cid: end } as const]
    return { ...told(lane, item), states, answer: null, waitsFor: null }
  }
  const answer = evaluateOffer(folding, view, item, findEvidence(folding, item, now), now)
  const { author: from } = item.entry
  const isOwners = isBlocked || answer.status === 'HANDOFF_COMMIT_ALLOWED'
  const waitsFor = isOwners ? from : item.body.target_owner_ref
  return { ...told(lane, item), states: before, answer, waitsFor }
}

/** The offer whose commit opened the present epoch. */
function committed(lane: Lane, view: HeldView, item: LaneItem<'proposal'>): InboxOffer {
  const { folding } = lane
  const ofEpoch = folding.graph.order.filter((cid) => {
    const node = folding.placed.get(cid)
    return node !== undefined && node.epoch === view.epoch && node.base === view.base
  })
  const commit = ofEpoch.find(
    (cid) => ofKind(folding.items.get(cid), 'lane-commit')?.body.proposal === item.entry.cid,
  )!
  const done = ofEpoch.find((cid) => folding.items.get(cid)?.body.kind === 'lane-status')
  const states: readonly ReachedState[] = [
    ...statesBefore(lane, item),
    { state: 'committed', cid: commit },
    ...(done === undefined ? [] : [{ state: 'done', cid: done } as const]),
  ]
  const waitsFor = done === undefined ? item.body.target_owner_ref : null
  return { ...told(lane, item), states, answer: null, waitsFor }
}

function told(
  { lane, stream }: Lane,
  { entry, body }: LaneItem<'proposal'>,
): Omit<InboxOffer, 'answer' | 'states' | 'waitsFor'> {
  return {
    lane,
    stream,
    cid: entry.cid,
    from: entry.author,
    to: body.target_owner_ref,
    epoch: body.target_ownership_epoch,
    surface: body.reachability_surface_ref,
    handoff: body.handoff ?? null,
  }
}

function statesBefore(lane: Lane, item: LaneItem<'proposal'>): readonly ReachedState[] {
  const seen = firstReader(lane, item)
  const [ack] = acksOf(lane.folding, item)
  return [
    { state: 'stored', cid: item.entry.cid },
    ...(seen === undefined ? [] : [{ state: 'seen', cid: seen } as const]),
    ...(ack === undefined ? [] : [{ state: 'acked', cid: ack.entry.cid } as const]),
  ]
}

/** The addressee's first entry whose read proof stands and covers the offer. */
function firstReader(
  { folding, readable: { graph } }: Lane,
  { entry: offer, body: { target_owner_ref } }: LaneItem<'proposal'>,
): CidText | undefined {
  return folding.graph.order.find((cid) => {
    const item = folding.items.get(cid)
    if (item?.entry.author !== target_owner_ref || !item.isHeld) return false
    const { body } = item
    const observed = observedIn(body)
    return observed !== undefined && graph.reached(observed.through, [offer.cid]).has(offer.cid)
  })
}
