/** Whole seconds since 1970, as all of hstore's ticks; HRC-001 itself only asks for an integer from 0 on. */
export type Tick = number

/** Who holds the pen of a lane, since which epoch, and where the lane has got to. */
export interface HrcState {
  readonly schema_version: 'hrc-state/0.1'
  readonly lane_id: string
  readonly owner_ref: string
  /** From 0 on. */
  readonly ownership_epoch: number
  readonly head_event_id: string
  readonly status: string
}

/** A step that its writer wants to take on a lane: another status (`next_…`), or another owner (`target_…`). */
export interface HrcProposal {
  readonly schema_version: 'hrc-proposal/0.1'
  readonly proposal_id: string
  readonly lane_id: string
  readonly transition_kind: 'HANDOFF' | 'STATUS'
  readonly writer_ref: string
  /** From 0 on. */
  readonly writer_ownership_epoch: number
  /** How far the writer has read. */
  readonly observed_through_event_id: string
  readonly expected_predecessor_id: string
  readonly next_event_id: string
  /** There with `STATUS`. */
  readonly next_status?: string
  /** There with `HANDOFF`, as the two that follow. */
  readonly target_owner_ref?: string
  /** From 0 on. */
  readonly target_ownership_epoch?: number
  /** Where the sender can see whether the target is reachable. */
  readonly reachability_surface_ref?: string
}

/** What a participant says of itself: whether it can be reached over a surface, and for how long that holds. */
export interface HrcSignal {
  readonly schema_version: 'hrc-reachability/0.1'
  readonly signal_id: string
  readonly participant_ref: string
  readonly surface_ref: string
  readonly status: 'READY' | 'UNAVAILABLE'
  readonly observed_at_tick: Tick
  /** The last tick at which the signal holds. */
  readonly valid_until_tick: Tick
}

/** The recipient's acceptance of exactly one handoff. */
export interface HrcAck {
  readonly schema_version: 'hrc-ack/0.1'
  readonly ack_id: string
  readonly lane_id: string
  readonly recipient_ref: string
  readonly accepted_handoff_event_id: string
  /** From 0 on. */
  readonly accepted_ownership_epoch: number
  readonly observed_predecessor_id: string
}
