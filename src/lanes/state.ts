import type { CidText } from '../../store/cid-text.ts'
import type { Tick } from '../contracts/hrc/documents.ts'
import type { Decision } from '../contracts/hrc/evaluate.ts'
import { evaluateCommit } from '../contracts/hrc/evaluate.ts'
import type { CountedOffer, Folding } from './fold.ts'
import type { LaneItem } from './item.ts'
import { ofKind } from './item.ts'
import { projectAck, projectSignal, projectState, projectStep } from './project.ts'
import { lastOf } from './signals.ts'
import type { ContestedView, HeldView, LaneHead, View } from './view.ts'

/** An offer of the present epoch, on the present head. */
export interface LaneOffer {
  /** Its entry. */
  readonly cid: CidText
  readonly from: string
  readonly to: string
  /** The epoch that it would open. */
  readonly epoch: number
  readonly surface: string
  /** The entry that is handed over; null where none is named. */
  readonly handoff: CidText | null
  /** What ended it, sorted; open while there is nothing. */
  readonly ends: readonly CidText[]
  /** The acknowledgements of its addressee that count, sorted. */
  readonly acks: readonly CidText[]
}

/** How a lane stands. */
export interface LaneState {
  readonly lane: string
  readonly stream: string
  /** Null while the lane is contested. */
  readonly owner: string | null
  readonly epoch: number
  /** The head's id in HRC's documents; null while there is no one head. */
  readonly head: CidText | null
  readonly status: string | null
  readonly heads: readonly LaneNode[]
  /** What was left behind when a commit moved the lane on, and can be joined. */
  readonly branches: readonly LaneNode[]
  readonly offers: readonly LaneOffer[]
  readonly contested: Pick<ContestedView, 'cids' | 'epoch' | 'why'> | null
}

/** A node that no other follows. */
export type LaneNode = Pick<LaneHead, 'entries' | 'event' | 'status'>

/** Returns how a lane stands; undefined where nobody has opened it. */
export function stateOf(folding: Folding): LaneState | undefined {
  const view = folding.viewAmong(folding.graph.order)
  if (view === undefined) return undefined
  const { lane } = folding
  const stream = `lane:${lane}`
  if (view.standing === 'contested') {
    const { why, epoch, cids } = view
    return {
      lane,
      stream,
      owner: null,
      epoch,
      head: null,
      status: null,
      heads: [],
      branches: [],
      offers: [],
      contested: { why, epoch, cids },
    }
  }
  const only = view.heads.length === 1 ? view.heads[0] : undefined
  return {
    lane,
    stream,
    owner: view.owner,
    epoch: view.epoch,
    head: only?.event ?? null,
    status: only?.status ?? null,
    heads: view.heads.map(nodeOf),
    branches: view.branches.map(nodeOf),
    offers: offersOf(folding, view).map((offer) => told(folding, offer)),
    contested: null,
  }
}

function nodeOf({ entries, event, status }: LaneHead): LaneNode {
  return { entries, event, status }
}

/** Returns what a whole lane says. */
export function wholeView(folding: Folding): View {
  return folding.viewAmong(folding.graph.order)
}

/** Returns the offers of a lane's present epoch and head, by CID. */
export function offersOf(folding: Folding, view: HeldView): readonly CountedOffer[] {
  return [...folding.offersAmong(folding.graph.order, view)].sort((a, b) =>
    a.item.entry.cid < b.item.entry.cid ? -1 : 1,
  )
}

function told(folding: Folding, { item, ends }: CountedOffer): LaneOffer {
  const { entry, body } = item
  return {
    cid: entry.cid,
    from: entry.author,
    to: body.target_owner_ref,
    epoch: body.target_ownership_epoch,
    surface: body.reachability_surface_ref,
    handoff: body.handoff ?? null,
    ends,
    acks: acksOf(folding, item).map((ack) => ack.entry.cid),
  }
}

/** Returns the acknowledgements of an offer that count, by CID. */
export function acksOf(
  folding: Folding,
  { entry }: LaneItem<'proposal'>,
): readonly LaneItem<'ack'>[] {
  return countedNotes(folding, 'ack')
    .filter(({ body }) => body.accepted_handoff_event_id === entry.cid)
    .sort((a, b) => (a.entry.cid < b.entry.cid ? -1 : 1))
}

/** Returns the notes of a kind that count. */
export function countedNotes<K extends 'ack' | 'signal'>(folding: Folding, kind: K): LaneItem<K>[] {
  return [...folding.notes]
    .map((cid) => ofKind(folding.items.get(cid), kind))
    .filter((item) => item !== undefined)
}

/** What an offer is judged with. */
export interface Evidence {
  readonly signal: LaneItem<'signal'> | undefined
  readonly ack: LaneItem<'ack'> | undefined
}

/**
 * Returns what speaks for an offer at a tick: the addressee's latest signal over the offer's surface, else over any, and
 * its acknowledgement. A signal from the future is taken only where there is no other.
 */
export function findEvidence(folding: Folding, offer: LaneItem<'proposal'>, now: Tick): Evidence {
  const { target_owner_ref, reachability_surface_ref } = offer.body
  const rank = ({ body }: LaneItem<'signal'>): number =>
    (body.surface_ref === reachability_surface_ref ? 2 : 0) + (body.observed_at_tick <= now ? 1 : 0)
  const isBefore = (a: LaneItem<'signal'>, b: LaneItem<'signal'>): number =>
    rank(b) - rank(a) || b.body.observed_at_tick - a.body.observed_at_tick
  const signals = countedNotes(folding, 'signal')
    .filter(({ entry }) => entry.author === target_owner_ref)
    .sort(isBefore)
  const latest = signals.filter((one) => isBefore(signals[0]!, one) === 0)
  return { signal: lastOf(folding.graph, latest), ack: acksOf(folding, offer)[0] }
}

/** Returns HRC's answer on completing an offer at a tick. */
export function evaluateOffer(
  { lane }: Folding,
  view: HeldView,
  offer: LaneItem<'proposal'>,
  { signal, ack }: Evidence,
  now: Tick,
): Decision {
  return evaluateCommit(
    projectState(lane, view),
    projectStep(offer, true),
    signal && projectSignal(signal),
    ack && projectAck(ack),
    now,
  )
}
