import type { HrcAck, HrcProposal, HrcSignal, HrcState, Tick } from './documents.ts'

/** HRC-001's answers, names verbatim. */
export type HrcStatus =
  | 'BLOCKED_ACK_EPOCH_MISMATCH'
  | 'BLOCKED_ACK_EVENT_MISMATCH'
  | 'BLOCKED_ACK_LANE_MISMATCH'
  | 'BLOCKED_ACK_RECIPIENT_MISMATCH'
  | 'BLOCKED_ACK_STALE_PREDECESSOR'
  | 'BLOCKED_CAS_CONFLICT'
  | 'BLOCKED_FUTURE_REACHABILITY_SIGNAL'
  | 'BLOCKED_INVALID_HANDOFF_EPOCH'
  | 'BLOCKED_INVALID_REACHABILITY_SIGNAL'
  | 'BLOCKED_LANE_MISMATCH'
  | 'BLOCKED_OWNERSHIP_EPOCH_MISMATCH'
  | 'BLOCKED_REACHABILITY_NOT_SURFACED'
  | 'BLOCKED_REACHABILITY_PARTICIPANT_MISMATCH'
  | 'BLOCKED_UNKNOWN_TRANSITION_KIND'
  | 'BLOCKED_UNREAD_PREDECESSOR'
  | 'BLOCKED_WRITER_NOT_OWNER'
  | 'HANDOFF_COMMIT_ALLOWED'
  | 'HANDOFF_DELIVERABLE'
  | 'HANDOFF_REQUIRES_REACHABILITY'
  | 'PENDING_REACHABILITY_UNCHECKED'
  | 'PENDING_RECIPIENT_ACK'
  | 'PENDING_UNREACHABLE'
  | 'STATUS_TRANSITION_ALLOWED'

/** The facts that go with an answer, under the contract's own keys. */
export type Detail = Readonly<Record<string, string | number | readonly string[]>>

/** An answer of the evaluator: the first rule that holds. */
export interface Decision {
  readonly status: HrcStatus
  /** Empty where the contract gives the status none. */
  readonly detail: Detail
}

/**
 * Returns whether a writer may take a step on a lane: who it is, at which epoch, what it has read, and whether that is
 * still the head. A handoff that passes comes out as `HANDOFF_REQUIRES_REACHABILITY`.
 *
 * Gives an answer for documents that break their schema too, as HRC-001's own evaluator does.
 */
export function evaluateTransition(state: HrcState, proposal: HrcProposal): Decision {
  const { observed_through_event_id, expected_predecessor_id, next_event_id } = proposal
  if (proposal.lane_id !== state.lane_id) return decision('BLOCKED_LANE_MISMATCH')
  if (proposal.writer_ref !== state.owner_ref) return decision('BLOCKED_WRITER_NOT_OWNER')
  if (proposal.writer_ownership_epoch !== state.ownership_epoch) {
    return decision('BLOCKED_OWNERSHIP_EPOCH_MISMATCH')
  }
  if (observed_through_event_id !== expected_predecessor_id) {
    const detail = { observed_through_event_id, expected_predecessor_id }
    return decision('BLOCKED_UNREAD_PREDECESSOR', detail)
  }
  if (expected_predecessor_id !== state.head_event_id) {
    const detail = { expected_predecessor_id, current_head_event_id: state.head_event_id }
    return decision('BLOCKED_CAS_CONFLICT', detail)
  }
  const kind: string = proposal.transition_kind
  if (kind === 'STATUS') return decision('STATUS_TRANSITION_ALLOWED', { next_event_id })
  if (kind === 'HANDOFF') return decision('HANDOFF_REQUIRES_REACHABILITY')
  return decision('BLOCKED_UNKNOWN_TRANSITION_KIND')
}

/**
 * Returns whether a handoff can be delivered now: the transition first, then the target and its signal. Looks at no
 * clock.
 *
 * @param signal - What the target says of itself; undefined where none was seen.
 * @param now - The tick to judge by; one at `valid_until_tick` is in time.
 */
export function evaluateHandoff(
  state: HrcState,
  proposal: HrcProposal,
  signal: HrcSignal | undefined,
  now: Tick,
): Decision {
  const transition = evaluateTransition(state, proposal)
  if (transition.status !== 'HANDOFF_REQUIRES_REACHABILITY') return transition
  const target = targetOf(state, proposal)
  if (target === undefined) return decision('BLOCKED_INVALID_HANDOFF_EPOCH')
  if (signal === undefined) {
    return decision('PENDING_REACHABILITY_UNCHECKED', { target_owner_ref: target.owner })
  }
  const { participant_ref, surface_ref } = signal
  if (participant_ref !== target.owner) return decision('BLOCKED_REACHABILITY_PARTICIPANT_MISMATCH')
  if (surface_ref !== proposal.reachability_surface_ref) {
    return decision('BLOCKED_REACHABILITY_NOT_SURFACED')
  }
  return (
    findUnreachable(signal, now) ??
    decision('HANDOFF_DELIVERABLE', {
      target_owner_ref: target.owner,
      target_ownership_epoch: target.epoch,
      reachability_signal_id: signal.signal_id,
    })
  )
}

/**
 * Returns whether a handoff is complete and its owner changes: the handoff first, then the recipient's acceptance of
 * exactly this offer. Looks at no clock.
 *
 * @param ack - The recipient's acceptance; undefined where none was seen.
 * @param now - As for {@link evaluateHandoff}.
 */
export function evaluateCommit(
  state: HrcState,
  proposal: HrcProposal,
  signal: HrcSignal | undefined,
  ack: HrcAck | undefined,
  now: Tick,
): Decision {
  const handoff = evaluateHandoff(state, proposal, signal, now)
  const target = targetOf(state, proposal)
  if (handoff.status !== 'HANDOFF_DELIVERABLE' || target === undefined) return handoff
  if (ack === undefined) return decision('PENDING_RECIPIENT_ACK')
  if (ack.lane_id !== state.lane_id) return decision('BLOCKED_ACK_LANE_MISMATCH')
  if (ack.recipient_ref !== target.owner) return decision('BLOCKED_ACK_RECIPIENT_MISMATCH')
  if (ack.accepted_handoff_event_id !== proposal.next_event_id) {
    return decision('BLOCKED_ACK_EVENT_MISMATCH')
  }
  if (ack.accepted_ownership_epoch !== target.epoch) return decision('BLOCKED_ACK_EPOCH_MISMATCH')
  if (ack.observed_predecessor_id !== state.head_event_id) {
    return decision('BLOCKED_ACK_STALE_PREDECESSOR')
  }
  return decision('HANDOFF_COMMIT_ALLOWED', {
    new_owner_ref: target.owner,
    new_ownership_epoch: target.epoch,
    new_head_event_id: proposal.next_event_id,
  })
}

/** Whom a handoff is for, and the epoch that it opens: always the next. */
function targetOf(
  { ownership_epoch }: HrcState,
  { target_owner_ref: owner, target_ownership_epoch: epoch }: HrcProposal,
): { readonly owner: string; readonly epoch: number } | undefined {
  if (!owner || epoch !== ownership_epoch + 1) return undefined
  return { owner, epoch }
}

/** Why a signal of the right participant and surface does not make the target reachable at `now`. */
function findUnreachable(signal: HrcSignal, now: Tick): Decision | undefined {
  const { observed_at_tick, status, valid_until_tick } = signal
  if (![observed_at_tick, valid_until_tick].every(Number.isInteger)) {
    return decision('BLOCKED_INVALID_REACHABILITY_SIGNAL')
  }
  if (observed_at_tick > now) return decision('BLOCKED_FUTURE_REACHABILITY_SIGNAL')
  if (now > valid_until_tick) return unreachable('reachability_signal_expired')
  return status === 'READY' ? undefined : unreachable(status)
}

/** In a broken document the status is any word or value. */
function unreachable(reason: number | string): Decision {
  return decision('PENDING_UNREACHABLE', { reason: `${reason}`.toLowerCase() })
}

function decision(status: HrcStatus, detail: Detail = {}): Decision {
  return { status, detail }
}
