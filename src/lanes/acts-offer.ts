import type { CidText } from '../../store/cid-text.ts'
import type { Tick } from '../contracts/hrc/documents.ts'
import { evaluateTransition } from '../contracts/hrc/evaluate.ts'
import { HandoffError } from '../errors.ts'
import { quoted } from '../kernel/shown.ts'
import { assertOneHead, heldView, notOwner, recorded, refusal, unreadPredecessor } from './acts.ts'
import type { Folding } from './fold.ts'
import type { LaneItem } from './item.ts'
import { ofKind } from './item.ts'
import { projectState, projectStep } from './project.ts'
import type { Evidence } from './state.ts'
import { findSilence } from './signals.ts'
import { acksOf, countedNotes, evaluateOffer, findEvidence, offersOf } from './state.ts'
import type { HeldView } from './view.ts'
import type { LanePlan, Situation } from './write.ts'

/** Takes an offer back; its author alone may. */
export function planWithdraw(situation: Situation, named: CidText | undefined): LanePlan {
  const offer = theOffer(situation, named)
  if (offer.entry.author !== situation.agent) return notOwner(offer.entry.author)
  return planEnd(situation, offer, 'withdraw')
}

/** Refuses an offer; its addressee alone may. */
export function planDecline(situation: Situation, named: CidText | undefined): LanePlan {
  const offer = theOffer(situation, named, 'addressee')
  if (offer.body.target_owner_ref !== situation.agent) return notAddressee(offer)
  return planEnd(situation, offer, 'decline')
}

function planEnd(
  situation: Situation,
  offer: LaneItem<'proposal'>,
  kind: 'decline' | 'withdraw',
): LanePlan {
  const { lane, agent } = situation
  const { folding } = lane
  const same = [...folding.notes]
    .map((cid) => ofKind(folding.items.get(cid), kind))
    .find((item) => item?.entry.author === agent && item.body.proposal === offer.entry.cid)
  if (same !== undefined) return { same: same.entry.cid, answer: recorded() }
  assertStanding(situation, heldView(situation), offer)
  return {
    make: { kind, lane_id: lane.lane, proposal: offer.entry.cid },
    parents: offer.entry.parents,
    answer: recorded(),
  }
}

/** Accepts exactly one offer. */
export function planAck(situation: Situation, named: CidText | undefined): LanePlan {
  const { lane, agent, read } = situation
  const offer = theOffer(situation, named, 'addressee')
  const { entry, body } = offer
  // an answer to an offer that has ended is none to what is offered now
  if (named === undefined) assertNotEnded(situation, heldView(situation), offer)
  const same = acksOf(lane.folding, offer).find((ack) => ack.entry.author === agent)
  if (same !== undefined) return { same: same.entry.cid, answer: recorded() }
  const view = heldView(situation)
  const transition = evaluateTransition(projectState(lane.lane, view), projectStep(offer, true))
  if (transition.status.startsWith('BLOCKED')) return { refused: transition }
  if (body.target_owner_ref !== agent) return notAddressee(offer)
  if (!read.has(entry.cid)) {
    return { refused: unreadPredecessor(situation, body.expected_predecessor_id) }
  }
  assertStanding(situation, view, offer)
  return {
    make: {
      kind: 'ack',
      lane_id: lane.lane,
      accepted_handoff_event_id: entry.cid,
      accepted_ownership_epoch: body.target_ownership_epoch,
      observed_predecessor_id: body.expected_predecessor_id,
      observed: situation.observe(),
    },
    parents: entry.parents,
    answer: recorded(),
  }
}

/** The signal and the ack that a commit is to rest on, where they are named. */
export interface CommitInput {
  readonly now: Tick
  /** True where the tick is the caller's own: a commit with another is another. */
  readonly isNowGiven: boolean
  readonly signal: CidText | undefined
  readonly ack: CidText | undefined
}

/** Completes a handoff. */
export function planCommit(situation: Situation, input: CommitInput): LanePlan {
  const { lane, agent } = situation
  const view = heldView(situation)
  const done = findDone(situation, view, input)
  if (done !== undefined) return done
  if (view.owner !== agent) return notOwner(view.owner)
  const offer = theOffer(situation, undefined)
  assertNotEnded(situation, view, offer)
  const evidence = evidenceFor(situation, offer, input)
  const answer = evaluateOffer(lane.folding, view, offer, evidence, input.now)
  if (answer.status === 'BLOCKED_REACHABILITY_NOT_SURFACED') {
    const why = `the offer asks for a signal over ${quoted(offer.body.reachability_surface_ref)}`
    return { refused: answer, why }
  }
  if (answer.status !== 'HANDOFF_COMMIT_ALLOWED') return { refused: answer }
  const silence = findLater(lane.folding, evidence.signal!, input.now)
  if (silence !== undefined) return silence
  assertOneHead(view)
  assertClosedOnce(situation, view, offer)
  assertStanding(situation, view, offer)
  if (input.now < view.tick) {
    throw refusal(`the tick ${input.now} is below ${view.tick}, that of a commit before: wait`)
  }
  return {
    make: {
      kind: 'lane-commit',
      lane_id: lane.lane,
      ownership_epoch: view.epoch,
      proposal: offer.entry.cid,
      signal: evidence.signal!.entry.cid,
      ack: evidence.ack!.entry.cid,
      tick: input.now,
    },
    parents: offer.entry.parents,
    answer,
  }
}

/** An older signal makes nobody reachable who has said since that it is not. */
function findLater(folding: Folding, signal: LaneItem<'signal'>, now: Tick): LanePlan | undefined {
  const silences = countedNotes(folding, 'signal').filter(
    ({ entry, body }) =>
      body.status === 'UNAVAILABLE' &&
      entry.author === signal.entry.author &&
      body.surface_ref === signal.body.surface_ref,
  )
  const silence = findSilence(folding.graph, signal, silences, now)
  if (silence === undefined) return undefined
  const why = `${silence.entry.cid} came after that signal`
  return { refused: { status: 'PENDING_UNREACHABLE', detail: { reason: 'unavailable' } }, why }
}

/** A second commit of an epoch proves against its author, whatever became of the first. */
function assertClosedOnce(
  { lane: { folding }, agent }: Situation,
  { epoch }: HeldView,
  offer: LaneItem<'proposal'>,
): void {
  const other = [...folding.items.values()]
    .map((item) => ofKind(item, 'lane-commit'))
    .filter((item) => item !== undefined)
    .find(({ entry, body }) => {
      const isOurs = entry.author === agent && body.ownership_epoch === epoch
      return isOurs && body.proposal !== offer.entry.cid
    })
  if (other === undefined) return
  const { cid } = other.entry
  throw new HandoffError(
    'HSTORE_EQUIVOCATION',
    `${cid} closes epoch ${epoch} for another offer, though it does not count: a second commit would be an equivocation, so the roots take the lane over`,
    { details: { cids: [cid] } },
  )
}

/** The same command again, once the epoch is closed by it, finds what it did. */
function findDone(
  { lane: { folding }, agent }: Situation,
  view: HeldView,
  { now, isNowGiven, signal, ack }: CommitInput,
): LanePlan | undefined {
  const commit = view.heads
    .flatMap(({ entries }) => entries)
    .map((cid) => ofKind(folding.items.get(cid), 'lane-commit'))
    .find((item) => item?.entry.author === agent)
  if (commit === undefined || hasOffers(folding, view)) return undefined
  const { body } = commit
  const isSame =
    (!isNowGiven || body.tick === now) &&
    (signal === undefined || body.signal === signal) &&
    (ack === undefined || body.ack === ack)
  if (!isSame) return undefined
  return {
    same: commit.entry.cid,
    answer: {
      status: 'HANDOFF_COMMIT_ALLOWED',
      detail: {
        new_owner_ref: view.owner,
        new_ownership_epoch: view.epoch,
        new_head_event_id: body.proposal,
      },
    },
  }
}

function hasOffers(folding: Folding, view: HeldView): boolean {
  return folding.offersAmong(folding.graph.order, view).length > 0
}

function evidenceFor(
  { lane: { folding } }: Situation,
  offer: LaneItem<'proposal'>,
  { now, signal, ack }: CommitInput,
): Evidence {
  const found = findEvidence(folding, offer, now)
  return {
    signal:
      signal === undefined ? found.signal : named(folding.items.get(signal), 'signal', signal),
    ack: ack === undefined ? found.ack : named(folding.items.get(ack), 'ack', ack),
  }
}

function named<K extends 'ack' | 'proposal' | 'signal'>(
  item: LaneItem | undefined,
  kind: K,
  cid: CidText,
): LaneItem<K> {
  const found = ofKind(item, kind)
  if (found !== undefined) return found
  const what = item === undefined ? 'no entry of the lane' : `a ${item.body.kind}`
  throw refusal(`${cid} is ${what}: a ${kind} is asked for`, { cid })
}

/** The offer that is named, else the one that is open, else the last of the epoch. */
function theOffer(
  situation: Situation,
  cid: CidText | undefined,
  asks: 'addressee' | 'owner' = 'owner',
): LaneItem<'proposal'> {
  const { lane } = situation
  const { folding } = lane
  if (cid !== undefined) {
    const item = named(folding.items.get(cid), 'proposal', cid)
    const fault = folding.faults.get(cid)
    if (fault === undefined) return item
    throw refusal(`the offer ${cid} does not count (${fault.code}): it ${fault.why}`, { cid })
  }
  const view = heldView(situation)
  const open = folding
    .offersAmong(folding.graph.order, view)
    .filter(({ ends }) => ends.length === 0)
    .map(({ item }) => item)
  if (open.length > 1) throw twoOffers(open)
  if (open[0] !== undefined) return open[0]
  const last = folding.graph.order
    .filter((one) => folding.notes.has(one))
    .map((one) => ofKind(folding.items.get(one), 'proposal'))
    .findLast((item) => item?.body.writer_ownership_epoch === view.epoch)
  if (last !== undefined) return last
  const hint =
    asks === 'owner'
      ? 'hstore lane propose makes one'
      : `${view.owner} makes one with hstore lane propose, and hstore inbox shows what waits for you`
  throw refusal(`the lane has no offer: ${hint}`)
}

function assertStanding(situation: Situation, view: HeldView, offer: LaneItem<'proposal'>): void {
  const { cid } = offer.entry
  assertNotEnded(situation, view, offer)
  const offers = offersOf(situation.lane.folding, view)
  if (!offers.some(({ item }) => item.entry.cid === cid))
    throw refusal(`the offer ${cid} has ended: the lane has gone on`, { cid })
}

/** Throws where an offer was taken back or refused. */
function assertNotEnded(
  { lane: { folding } }: Situation,
  view: HeldView,
  { entry: { cid } }: LaneItem<'proposal'>,
): void {
  const { ends = [] } = offersOf(folding, view).find(({ item }) => item.entry.cid === cid) ?? {}
  if (ends.length > 0) throw refusal(`the offer ${cid} was ended by ${ends.join(', ')}`, { cid })
}

function twoOffers(open: readonly LaneItem[]): Error {
  const cids = open.map(({ entry }) => entry.cid).sort()
  return refusal(`the offers ${cids.join(', ')} are open: name one, or withdraw all but one`, {
    cids,
  })
}

function notAddressee({ entry, body }: LaneItem<'proposal'>): LanePlan {
  const why = `the offer ${entry.cid} is to ${body.target_owner_ref}`
  return { refused: { status: 'BLOCKED_ACK_RECIPIENT_MISMATCH', detail: {} }, why }
}
