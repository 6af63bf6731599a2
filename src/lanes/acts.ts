import type { CidText } from '../../store/cid-text.ts'
import type { Decision, Detail } from '../contracts/hrc/evaluate.ts'
import { evaluateTransition } from '../contracts/hrc/evaluate.ts'
import { maxLinks } from '../entry/entry.ts'
import { HandoffError } from '../errors.ts'
import { quoted } from '../kernel/shown.ts'
import type { LaneBody } from './bodies.ts'
import type { LaneItem } from './item.ts'
import { ofKind } from './item.ts'
import { nothingRead, projectState } from './project.ts'
import type { LaneAnswer, LanePlan, Situation } from './write.ts'
import type { HeldView } from './view.ts'

/** Opens a lane: its author is its owner, from epoch 1 on. */
export function planOpen(situation: Situation, status: string): LanePlan {
  const { lane, view, agent } = situation
  const made: LaneBody = {
    kind: 'lane-open',
    lane_id: lane.lane,
    ownership_epoch: 1,
    status,
  }
  if (view === undefined) return { make: made, parents: [], answer: recorded() }
  const same = [...lane.folding.placed.keys()]
    .map((cid) => ofKind(lane.folding.items.get(cid), 'lane-open'))
    .find((item) => item?.entry.author === agent && item.body.status === status)
  if (same !== undefined) return { same: same.entry.cid, answer: recorded() }
  throw new HandoffError(
    'HSTORE_LANE_EXISTS',
    `the lane ${quoted(lane.lane)} is open already: hstore lane show says who owns it`,
  )
}

/** Gives a lane another status. */
export function planStatus(situation: Situation, nextStatus: string): LanePlan {
  const view = heldView(situation)
  const same = headNode(situation, view, 'lane-status')
  if (same?.entry.author === situation.agent && same.body.next_status === nextStatus) {
    const answer = { status: 'STATUS_TRANSITION_ALLOWED', detail: next(same.entry.cid) } as const
    return { same: same.entry.cid, answer }
  }
  const step = planStep(situation, view, 'STATUS')
  if ('refused' in step) return step
  return {
    make: { kind: 'lane-status', ...step.body, next_status: nextStatus },
    parents: step.parents,
    answer: step.answer,
  }
}

const next = (cid: CidText): Detail => ({ next_event_id: cid })

/** What is offered. */
export interface OfferInput {
  readonly to: string
  readonly surface: string
  /** The entry that is handed over, found and whole. */
  readonly handoff: CidText | undefined
}

/** Offers a lane to another agent. */
export function planOffer(situation: Situation, input: OfferInput): LanePlan {
  if (input.to === situation.agent)
    throw wrongUse(`${input.to} offers the lane: it goes to another agent`)
  const view = heldView(situation)
  const { lane } = situation
  const offers = lane.folding.offersAmong(lane.folding.graph.order, view)
  const open = offers.find(({ ends }) => ends.length === 0)?.item
  const answer: LaneAnswer = { status: 'HANDOFF_REQUIRES_REACHABILITY', detail: {} }
  if (open !== undefined && isSameOffer(open, input, situation.agent))
    return { same: open.entry.cid, answer }
  const step = planStep(situation, view, 'HANDOFF')
  if ('refused' in step) return step
  if (open !== undefined) {
    const { cid } = open.entry
    const why = `the offer ${cid} to ${open.body.target_owner_ref} is open: withdraw it first`
    throw refusal(why, { cid })
  }
  const { to, surface, handoff } = input
  return {
    make: {
      kind: 'proposal',
      ...step.body,
      target_owner_ref: to,
      target_ownership_epoch: view.epoch + 1,
      reachability_surface_ref: surface,
      ...(handoff === undefined ? {} : { handoff }),
    },
    parents: step.parents,
    answer: step.answer,
  }
}

function isSameOffer(
  { entry, body }: LaneItem<'proposal'>,
  { to, surface, handoff }: OfferInput,
  agent: string,
): boolean {
  return (
    entry.author === agent &&
    body.target_owner_ref === to &&
    body.reachability_surface_ref === surface &&
    body.handoff === handoff
  )
}

interface PlannedStep {
  readonly body: Omit<Extract<LaneBody, { kind: 'lane-status' }>, 'kind' | 'next_status'>
  readonly parents: readonly CidText[]
  readonly answer: Decision
}

/** What has been read is looked up, not asked. */
function planStep(
  situation: Situation,
  view: HeldView,
  kind: 'HANDOFF' | 'STATUS',
): PlannedStep | Extract<LanePlan, { readonly refused: Decision }> {
  const { lane, agent, read } = situation
  const state = projectState(lane.lane, view)
  const [head] = view.heads
  const hasRead = head?.entries.some((cid) => read.has(cid)) === true
  const answer = evaluateTransition(state, {
    schema_version: 'hrc-proposal/0.1',
    proposal_id: nothingRead,
    lane_id: lane.lane,
    transition_kind: kind,
    writer_ref: agent,
    writer_ownership_epoch: view.epoch,
    observed_through_event_id: hasRead ? state.head_event_id : lastRead(situation),
    expected_predecessor_id: state.head_event_id,
    next_event_id: nothingRead,
  })
  if (answer.status === 'BLOCKED_WRITER_NOT_OWNER') return notOwner(view.owner)
  if (answer.status.startsWith('BLOCKED')) return { refused: answer }
  assertOneHead(view)
  const predecessor = view.heads[0]!.event
  return {
    body: {
      lane_id: lane.lane,
      writer_ownership_epoch: view.epoch,
      observed_through_event_id: predecessor,
      expected_predecessor_id: predecessor,
      observed: situation.observe(),
    },
    // of several entries that are one event, those that were read
    parents: view.heads[0]!.entries.filter((cid) => read.has(cid)).slice(0, 1),
    answer: kind === 'STATUS' ? { ...answer, detail: {} } : answer,
  }
}

/** Returns the head of what an agent has read. */
export function lastRead({ lane, read }: Situation): string {
  const seen = lane.folding.viewAmong([...read])
  const [head] = seen?.standing === 'held' ? seen.heads : []
  return head?.event ?? nothingRead
}

/** Joins the heads of a lane, and the branches that a commit left behind. */
export function planJoin(situation: Situation, status: string | undefined): LanePlan {
  const { lane, agent, read } = situation
  const view = heldView(situation)
  // of branches as many as an entry has room for; the others are joined the next time
  const nodes = [...view.heads, ...view.branches].slice(0, Math.max(view.heads.length, maxLinks))
  const done = headNode(situation, view, 'lane-join')
  if (nodes.length === 1 && done?.entry.author === agent)
    return { same: done.entry.cid, answer: recorded() }
  if (view.owner !== agent) return notOwner(view.owner)
  if (nodes.length === 1) throw refusal(`the lane ${quoted(lane.lane)} has no fork to join`)
  const unread = nodes.find(({ entries }) => !entries.some((cid) => read.has(cid)))
  if (unread !== undefined) return { refused: unreadPredecessor(situation, unread.event) }
  const known = [...new Set(view.heads.map((head) => head.status))]
  if (status === undefined && known.length > 1)
    throw wrongUse(`the heads differ (${known.join(', ')}): say the --status that holds`)
  return {
    make: {
      kind: 'lane-join',
      lane_id: lane.lane,
      ownership_epoch: view.epoch,
      status: status ?? known[0]!,
    },
    parents: nodes.flatMap(({ entries }) => entries.filter((cid) => read.has(cid)).slice(0, 1)),
    answer: recorded(),
  }
}

/** Returns the view where somebody holds the pen; throws where nobody does. */
export function heldView({ lane, view }: Pick<Situation, 'lane' | 'view'>): HeldView {
  if (view === undefined) throw unknownLane(lane.lane)
  if (view.standing === 'held') return view
  const { cids, epoch, why } = view
  const told = `${quoted(lane.lane)} is contested at epoch ${epoch} by ${cids.join(', ')}`
  throw new HandoffError(
    why === 'commits' ? 'HSTORE_EQUIVOCATION' : 'HSTORE_LANE_CONTESTED',
    `the lane ${told}: nothing counts until its roots run hstore lane takeover`,
    { details: { cids } },
  )
}

/** Throws `HSTORE_HEADS_MOVED` where a lane has several heads. */
export function assertOneHead({ heads }: HeldView): void {
  if (heads.length === 1) return
  const cids = heads.flatMap(({ entries }) => entries)
  throw new HandoffError(
    'HSTORE_HEADS_MOVED',
    `the lane has ${heads.length} heads (${cids.join(', ')}): its owner joins them with hstore lane join`,
    { details: { heads: cids } },
  )
}

/** Returns the head's node when it is the one of its kind. */
function headNode<K extends 'lane-join' | 'lane-status'>(
  { lane }: Situation,
  { heads }: HeldView,
  kind: K,
): LaneItem<K> | undefined {
  const [head] = heads
  return heads.length === 1 ? ofKind(lane.folding.items.get(head!.entries[0]!), kind) : undefined
}

/** Returns HRC's answer on a predecessor that the agent has not read. */
export function unreadPredecessor(situation: Situation, expected: string): Decision {
  return {
    status: 'BLOCKED_UNREAD_PREDECESSOR',
    detail: {
      observed_through_event_id: lastRead(situation),
      expected_predecessor_id: expected,
    },
  }
}

/** Returns HRC's answer on a writer that does not hold the pen. */
export function notOwner(who: string): Extract<LanePlan, { readonly refused: Decision }> {
  return {
    refused: { status: 'BLOCKED_WRITER_NOT_OWNER', detail: {} },
    why: `it is for ${who} to do this`,
  }
}

/** Returns that an entry stands. */
export function recorded(detail: Detail = {}): LaneAnswer {
  return { status: 'RECORDED', detail }
}

/** Returns the error of an act that hstore does not take. */
export function refusal(
  why: string,
  details: Readonly<Record<string, unknown>> = {},
): HandoffError {
  return new HandoffError('HSTORE_LANE_REFUSED', why, { details })
}

const wrongUse = (why: string): HandoffError => new HandoffError('HSTORE_USAGE', why)

/** Returns the error of a lane that nobody has opened here. */
export function unknownLane(lane: string): HandoffError {
  return new HandoffError(
    'HSTORE_REF_NOT_FOUND',
    `${quoted(lane)}: no lane of that name is in the store; hstore lane open makes one`,
  )
}
