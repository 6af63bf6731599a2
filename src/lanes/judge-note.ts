import { evaluateHandoff } from '../contracts/hrc/evaluate.ts'
import type { Folding } from './fold.ts'
import type { LaneItem } from './item.ts'
import { ofKind } from './item.ts'
import type { LaneFault } from './judge-node.ts'
import { blocked, contest, fault, findFormFault, findStepFault, stepOf } from './judge-node.ts'
import type { Past } from './past.ts'
import { projectState, projectStep } from './project.ts'

/** Returns why a note does not count, by what its past says; undefined where it counts. */
export function judgeNote(folding: Folding, item: LaneItem, past: Past): LaneFault | undefined {
  const wrong = findFormFault(folding, item)
  if (wrong !== undefined) return wrong
  if (item.entry.parents.length === 0) return fault('HS4402', 'hangs on no node')
  const proposal = ofKind(item, 'proposal')
  if (proposal !== undefined) return judgeProposal(folding, proposal, past)
  const ack = ofKind(item, 'ack')
  if (ack !== undefined) return judgeAck(folding, ack, past)
  const withdraw = ofKind(item, 'withdraw')
  if (withdraw !== undefined) return judgeWithdraw(folding, withdraw)
  const decline = ofKind(item, 'decline')
  return decline === undefined ? undefined : judgeDecline(folding, decline)
}

function judgeProposal(
  folding: Folding,
  item: LaneItem<'proposal'>,
  past: Past,
): LaneFault | undefined {
  const parents = item.entry.parents.map((cid) => folding.placed.get(cid))
  const view = past.view()
  if (view === undefined || parents.includes(undefined))
    return fault('HS4402', 'follows no node that counts, or one that does not')
  if (view.standing === 'contested') return contest(view)
  const answer = stepOf(folding, item, view)
  if (answer.status !== 'HANDOFF_REQUIRES_REACHABILITY') return blocked(answer, view)
  const state = projectState(folding.lane, view)
  if (isOddEpoch(evaluateHandoff(state, projectStep(item, true), undefined, 0).status))
    return fault('BLOCKED_INVALID_HANDOFF_EPOCH', `opens another epoch than ${view.epoch + 1}`)
  const wrong = findStepFault(
    item,
    view,
    parents.filter((parent) => parent !== undefined),
  )
  if (wrong !== undefined) return wrong
  const [open] = past.openOffers(view)
  return open && fault('HS4404', `is made while the offer ${open} is open`)
}

const isOddEpoch = (status: string): boolean => status === 'BLOCKED_INVALID_HANDOFF_EPOCH'

function judgeAck(folding: Folding, item: LaneItem<'ack'>, past: Past): LaneFault | undefined {
  const { entry, body, isHeld, reads } = item
  const offer = ofKind(folding.items.get(body.accepted_handoff_event_id), 'proposal')
  if (offer === undefined) return fault('HS4409', 'accepts an offer that is none, or is not there')
  const { target_owner_ref, target_ownership_epoch, expected_predecessor_id } = offer.body
  if (entry.author !== target_owner_ref)
    return fault('BLOCKED_ACK_RECIPIENT_MISMATCH', `answers an offer to ${target_owner_ref}`)
  if (body.accepted_ownership_epoch !== target_ownership_epoch)
    return fault(
      'BLOCKED_ACK_EPOCH_MISMATCH',
      `accepts an offer of epoch ${target_ownership_epoch}`,
    )
  if (body.observed_predecessor_id !== expected_predecessor_id)
    return fault(
      'BLOCKED_ACK_STALE_PREDECESSOR',
      `accepts an offer that follows ${expected_predecessor_id}`,
    )
  if (!reads.has(offer.entry.cid))
    return fault('BLOCKED_UNREAD_PREDECESSOR', `is by one who has not read ${offer.entry.cid}`)
  if (!isHeld) return fault('HS4403', 'says that its author has read what it has not')
  const end = past.refusalOf(offer.entry.cid, entry.author)
  return end && fault('HS4405', `accepts an offer that ${end} has declined`)
}

function judgeWithdraw(folding: Folding, item: LaneItem<'withdraw'>): LaneFault | undefined {
  const offer = ofKind(folding.items.get(item.body.proposal), 'proposal')
  if (offer === undefined)
    return fault('HS4409', 'withdraws an offer that is none, or is not there')
  if (offer.entry.author === item.entry.author) return undefined
  return fault('BLOCKED_WRITER_NOT_OWNER', `withdraws an offer by ${offer.entry.author}`)
}

function judgeDecline(folding: Folding, item: LaneItem<'decline'>): LaneFault | undefined {
  const offer = ofKind(folding.items.get(item.body.proposal), 'proposal')
  if (offer === undefined) return fault('HS4409', 'declines an offer that is none, or is not there')
  const { target_owner_ref } = offer.body
  if (target_owner_ref === item.entry.author) return undefined
  return fault('BLOCKED_ACK_RECIPIENT_MISMATCH', `answers an offer to ${target_owner_ref}`)
}
