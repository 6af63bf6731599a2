import type { CidText } from '../../store/cid-text.ts'
import type { Decision, Detail } from '../contracts/hrc/evaluate.ts'
import { evaluateCommit, evaluateTransition } from '../contracts/hrc/evaluate.ts'
import { nameOf, refsOf } from './bodies.ts'
import type { Folding } from './fold.ts'
import type { LaneItem } from './item.ts'
import { eventKey, eventOf, ofKind } from './item.ts'
import { projectAck, projectSignal, projectState, projectStep } from './project.ts'
import type { Past } from './past.ts'
import { findSilence } from './signals.ts'
import type { ContestedPast, HeldPast, Placed } from './view.ts'

/** Why an entry of a lane does not count: a status of HRC, or a rule of hstore's own. */
export interface LaneFault {
  readonly code: string
  readonly why: string
  /** What HRC's answer says besides; empty where the rule is ours. */
  readonly detail: Detail
}

/** The answer on a node. */
export type JudgedNode = Placed | { readonly fault: LaneFault }

/** Returns where a node leaves the lane, or why it does not count, by what its past says. */
export function judgeNode(folding: Folding, item: LaneItem, past: Past): JudgedNode {
  const fault = findFormFault(folding, item)
  if (fault !== undefined) return { fault }
  const takeover = ofKind(item, 'lane-takeover')
  if (takeover !== undefined) return judgeTakeover(folding, takeover, past)
  const open = ofKind(item, 'lane-open')
  if (open !== undefined) return judgeOpen(open)
  const held = findHeld(folding, item, past)
  if ('fault' in held) return held
  const status = ofKind(item, 'lane-status')
  if (status !== undefined) return judgeStatus(folding, status, held)
  const join = ofKind(item, 'lane-join')
  if (join !== undefined) return judgeJoin(folding, join, held)
  return judgeCommit(folding, ofKind(item, 'lane-commit')!, held)
}

/** Returns what is wrong with an entry whatever the lane is like. */
export function findFormFault({ lane }: Folding, { entry, body }: LaneItem): LaneFault | undefined {
  if (body.lane_id !== lane)
    return fault('BLOCKED_LANE_MISMATCH', `is for the lane ${body.lane_id}`)
  const name = nameOf(body)
  if (entry.name !== name) return fault('HS3001', `is named ${entry.name}, its body ${name}`)
  if (refsOf(body).join() === entry.refs.join()) return undefined
  return fault('HS4401', 'rests on other entries than its body names')
}

/** Returns a fault. */
export function fault(code: string, why: string): LaneFault {
  return { code, why, detail: {} }
}

/** Returns HRC's answer as a fault. */
export function blocked({ status, detail }: Decision, { owner, epoch }: HeldPast): LaneFault {
  const facts = Object.entries(detail).map(([key, value]) => `${key} ${String(value)}`)
  const words = facts.length > 0 ? facts.join(', ') : `${owner} holds the pen at epoch ${epoch}`
  return { code: status, why: `is answered by HRC: ${words}`, detail }
}

function refuse(code: string, why: string): { readonly fault: LaneFault } {
  return { fault: fault(code, why) }
}

function judgeOpen(item: LaneItem<'lane-open'>): JudgedNode {
  if (item.entry.parents.length > 0) return refuse('HS4402', 'opens a lane and follows others')
  const { ownership_epoch: epoch, status } = item.body
  return { ...base(item), epoch, owner: item.entry.author, status, tick: 0, base: '', follows: [] }
}

function base(item: LaneItem): Pick<Placed, 'cid' | 'event' | 'key'> {
  return { key: eventKey(item), cid: item.entry.cid, event: eventOf(item) }
}

function judgeTakeover(folding: Folding, item: LaneItem<'lane-takeover'>, past: Past): JudgedNode {
  const { entry, body } = item
  if (!folding.roots.holders.has(entry.signer))
    return refuse('BLOCKED_WRITER_NOT_OWNER', `is signed by ${entry.signer}, which is no root`)
  const parents = parentsOf(folding, entry.parents)
  if (parents === undefined || parents.length === 0)
    return refuse('HS4402', 'follows no node that counts, or one that does not')
  const next = 1 + past.highestEpoch()
  if (body.ownership_epoch !== next) {
    const why = `opens epoch ${body.ownership_epoch} after epoch ${next - 1}`
    return refuse('BLOCKED_OWNERSHIP_EPOCH_MISMATCH', why)
  }
  const signed = folding.holdersOf(item)
  if (signed < folding.roots.threshold)
    return refuse('HS4408', `has ${signed} of the ${folding.roots.threshold} roots that it needs`)
  const [last] = [...parents].sort((a, b) => b.epoch - a.epoch || (a.event < b.event ? -1 : 1))
  return {
    ...base(item),
    epoch: next,
    owner: body.owner_ref,
    status: last!.status,
    tick: 0,
    base: eventKey(item),
    follows: parents.map(({ key }) => key),
  }
}

/** Returns the nodes, or undefined where one does not count. */
function parentsOf(folding: Folding, cids: readonly CidText[]): readonly Placed[] | undefined {
  const parents = cids.map((cid) => folding.placed.get(cid))
  return parents.includes(undefined) ? undefined : (parents as Placed[])
}

/** What a step of the owner stands on. */
interface Held {
  readonly past: Past
  readonly view: HeldPast
  readonly parents: readonly Placed[]
}

function findHeld(
  folding: Folding,
  { entry }: LaneItem,
  past: Past,
): Held | { readonly fault: LaneFault } {
  const view = past.view()
  const parents = parentsOf(folding, entry.parents)
  if (parents === undefined || parents.length === 0 || view === undefined)
    return refuse('HS4402', 'follows no node that counts, or one that does not')
  return view.standing === 'contested' ? { fault: contest(view) } : { past, view, parents }
}

/** Returns why nothing is judged on a lane that nobody holds. */
export function contest({ why, epoch }: ContestedPast): LaneFault {
  return fault(
    why === 'commits' ? 'HS3009' : 'HS4407',
    `follows two ${why}, which contest epoch ${epoch}`,
  )
}

function judgeStatus(
  folding: Folding,
  item: LaneItem<'lane-status'>,
  { view, parents }: Held,
): JudgedNode {
  const answer = stepOf(folding, item, view)
  if (answer.status !== 'STATUS_TRANSITION_ALLOWED') return { fault: blocked(answer, view) }
  const wrong = findStepFault(item, view, parents)
  if (wrong !== undefined) return { fault: wrong }
  return owned(item, view, parents, item.body.next_status)
}

/** Returns HRC's answer on a step, with the predecessor read only where `through` leads to it. */
export function stepOf(
  folding: Folding,
  item: LaneItem<'lane-status' | 'proposal'>,
  view: HeldPast,
): ReturnType<typeof evaluateTransition> {
  const hasRead = item.entry.parents.every((cid) => item.reads.has(cid))
  return evaluateTransition(projectState(folding.lane, view), projectStep(item, hasRead))
}

/** Returns what is wrong with a step that HRC allows. */
export function findStepFault(
  item: LaneItem<'lane-status' | 'proposal'>,
  { heads }: HeldPast,
  parents: readonly Placed[],
): LaneFault | undefined {
  if (!item.isHeld) return fault('HS4403', 'says that its author has read what it has not')
  if (heads.length > 1)
    return fault('BLOCKED_CAS_CONFLICT', `leaves out a head: ${told(heads)} are to be joined first`)
  if (parents.length === 1 && parents[0]!.key === heads[0]?.key) return undefined
  return fault('HS4402', 'does not hang on the head that its body names')
}

/** A few of the heads: a fork may have hundreds, and each of as many entries may tell of it. */
function told(heads: HeldPast['heads']): string {
  const first = heads.slice(0, 3).map(({ event }) => event)
  const more = heads.length - first.length
  return `${first.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function owned(
  item: LaneItem,
  { epoch, owner, tick, base: rests }: HeldPast,
  parents: readonly Placed[],
  status: string,
): Placed {
  const follows = parents.map((parent) => parent.key)
  const [key, event, { cid }] = [eventKey(item), eventOf(item), item.entry]
  return { key, cid, event, epoch, owner, status, tick, base: rests, follows }
}

function judgeJoin(
  folding: Folding,
  item: LaneItem<'lane-join'>,
  { view, parents }: Held,
): JudgedNode {
  const { entry, body } = item
  if (entry.author !== view.owner)
    return refuse('BLOCKED_WRITER_NOT_OWNER', `is by another than the owner, ${view.owner}`)
  if (body.ownership_epoch !== view.epoch)
    return refuse('BLOCKED_OWNERSHIP_EPOCH_MISMATCH', `is of another epoch than ${view.epoch}`)
  const keys = new Set(parents.map(({ key }) => key))
  if (keys.size < 2 || !isLoose(folding, item, view, keys))
    return refuse('HS4402', 'joins what is no fork')
  if (view.heads.some(({ key }) => !keys.has(key)))
    return refuse('BLOCKED_CAS_CONFLICT', `leaves out one of the heads ${told(view.heads)}`)
  return owned(item, view, parents, body.status)
}

/** Whether all are heads; or, which takes a look at the whole past, branches that a commit left behind. */
function isLoose(
  folding: Folding,
  item: LaneItem,
  { heads }: HeldPast,
  keys: ReadonlySet<string>,
): boolean {
  const top = new Set(heads.map(({ key }) => key))
  const others = [...keys].filter((key) => !top.has(key))
  if (others.length === 0) return true
  const whole = folding.viewAmong(folding.pastOf(item))
  if (whole?.standing !== 'held') return false
  const left = new Set(whole.branches.map(({ key }) => key))
  return others.every((key) => left.has(key))
}

function judgeCommit(folding: Folding, item: LaneItem<'lane-commit'>, held: Held): JudgedNode {
  const { view, parents } = held
  const { entry, body } = item
  if (entry.author !== view.owner)
    return refuse('BLOCKED_WRITER_NOT_OWNER', `is by another than the owner, ${view.owner}`)
  if (body.ownership_epoch !== view.epoch)
    return refuse('BLOCKED_OWNERSHIP_EPOCH_MISMATCH', `is of another epoch than ${view.epoch}`)
  const proposal = ofKind(folding.items.get(body.proposal), 'proposal')
  const signal = ofKind(folding.items.get(body.signal), 'signal')
  const ack = ofKind(folding.items.get(body.ack), 'ack')
  if (proposal === undefined || signal === undefined || ack === undefined)
    return refuse('HS4409', 'names an offer, a signal or an ack that is none, or is not there')
  const hasRead = proposal.entry.parents.every((cid) => proposal.reads.has(cid))
  const answer = evaluateCommit(
    projectState(folding.lane, view),
    projectStep(proposal, hasRead),
    projectSignal(signal),
    projectAck(ack),
    body.tick,
  )
  if (answer.status !== 'HANDOFF_COMMIT_ALLOWED') return { fault: blocked(answer, view) }
  const wrong =
    findEvidenceFault(folding, [proposal, signal, ack]) ??
    findSilenceFault(folding, signal, item, held) ??
    findOfferFault(item, held)
  if (wrong !== undefined) return { fault: wrong }
  return {
    ...owned(item, view, parents, view.heads[0]!.status),
    epoch: proposal.body.target_ownership_epoch,
    owner: proposal.body.target_owner_ref,
    tick: body.tick,
  }
}

function findEvidenceFault(folding: Folding, items: readonly LaneItem[]): LaneFault | undefined {
  const odd = items.find(({ entry }) => !folding.notes.has(entry.cid))
  if (odd === undefined) return undefined
  const { code, why } = folding.faults.get(odd.entry.cid)!
  return fault(code, `rests on ${odd.entry.cid}, which ${why}`)
}

function findSilenceFault(
  { graph }: Folding,
  signal: LaneItem<'signal'>,
  { body: { tick } }: LaneItem<'lane-commit'>,
  { past }: Held,
): LaneFault | undefined {
  const silences = past.silencesOf(signal.entry.author, signal.body.surface_ref)
  const silence = findSilence(graph, signal, silences, tick)
  return silence && fault('PENDING_UNREACHABLE', `knows of the later signal ${silence.entry.cid}`)
}

function findOfferFault(
  { body: { proposal, tick } }: LaneItem<'lane-commit'>,
  { past, view, parents }: Held,
): LaneFault | undefined {
  if (view.heads.length > 1)
    return fault('BLOCKED_CAS_CONFLICT', `leaves out one of the heads ${told(view.heads)}`)
  if (parents.length !== 1 || parents[0]!.key !== view.heads[0]?.key)
    return fault('HS4402', 'does not hang on the head that its offer names')
  const open = past.openOffers(view)
  if (!open.includes(proposal))
    return fault('HS4405', `is for the offer ${proposal}, which has ended`)
  if (open.length > 1)
    return fault('HS4405', `stands between the offers ${open.slice(0, 2).join(', ')}`)
  if (tick >= view.tick) return undefined
  return fault('HS4406', `has the tick ${tick}, and a commit before it has ${view.tick}`)
}
