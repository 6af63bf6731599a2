import type { HrcAck, HrcProposal, HrcSignal, HrcState } from '../contracts/hrc/documents.ts'
import type { LaneItem } from './item.ts'
import type { HeldPast } from './view.ts'

/** What stands for a predecessor where nothing of a lane was read. */
export const nothingRead = 'none'

/** Returns a view as HRC's coordination state. */
export function projectState(lane: string, view: HeldPast): HrcState {
  const [head] = view.heads
  return {
    schema_version: 'hrc-state/0.1',
    lane_id: lane,
    owner_ref: view.owner,
    ownership_epoch: view.epoch,
    head_event_id: head?.event ?? nothingRead,
    status: head?.status ?? nothingRead,
  }
}

/**
 * Returns a step as HRC's transition proposal.
 *
 * @param hasRead - Whether the predecessor is among what its author has read: the claim alone counts for nothing.
 */
export function projectStep(
  { entry, body }: LaneItem<'lane-status' | 'proposal'>,
  hasRead: boolean,
): HrcProposal {
  const { lane_id, writer_ownership_epoch, observed_through_event_id, expected_predecessor_id } =
    body
  const step = {
    schema_version: 'hrc-proposal/0.1',
    proposal_id: entry.cid,
    lane_id,
    writer_ref: entry.author,
    writer_ownership_epoch,
    observed_through_event_id: hasRead ? observed_through_event_id : nothingRead,
    expected_predecessor_id,
    next_event_id: entry.cid,
  } as const
  if (body.kind === 'lane-status')
    return { ...step, transition_kind: 'STATUS', next_status: body.next_status }
  return {
    ...step,
    transition_kind: 'HANDOFF',
    target_owner_ref: body.target_owner_ref,
    target_ownership_epoch: body.target_ownership_epoch,
    reachability_surface_ref: body.reachability_surface_ref,
  }
}

/** Returns a signal as HRC's; it speaks for its author. */
export function projectSignal({ entry, body }: LaneItem<'signal'>): HrcSignal {
  const { surface_ref, status, observed_at_tick, valid_until_tick } = body
  return {
    schema_version: 'hrc-reachability/0.1',
    signal_id: entry.cid,
    participant_ref: entry.author,
    surface_ref,
    status,
    observed_at_tick,
    valid_until_tick,
  }
}

/** Returns an acknowledgement as HRC's; it speaks for its author. */
export function projectAck({ entry, body }: LaneItem<'ack'>): HrcAck {
  return {
    schema_version: 'hrc-ack/0.1',
    ack_id: entry.cid,
    lane_id: body.lane_id,
    recipient_ref: entry.author,
    accepted_handoff_event_id: body.accepted_handoff_event_id,
    accepted_ownership_epoch: body.accepted_ownership_epoch,
    observed_predecessor_id: body.observed_predecessor_id,
  }
}
