import type { Rule, Severity } from './rule.ts'

/**
 * HRC-001's and ORC-001's answers that are not a yes, under their own names in the order that they are asked for, then
 * what a document has to be.
 *
 * @see docs/findings.md
 */
export const hrcRules: readonly Rule[] = [
  row('BLOCKED_LANE_MISMATCH', 'The documents are about different lanes'),
  row('BLOCKED_WRITER_NOT_OWNER', 'The writer does not own the lane'),
  row('BLOCKED_OWNERSHIP_EPOCH_MISMATCH', "The writer's epoch is not the lane's"),
  row('BLOCKED_UNREAD_PREDECESSOR', 'The writer has not read what it builds on'),
  row('BLOCKED_CAS_CONFLICT', "What the writer builds on is not the lane's head"),
  row('BLOCKED_UNKNOWN_TRANSITION_KIND', 'A proposal is for neither a status nor a handoff'),
  row(
    'HANDOFF_REQUIRES_REACHABILITY',
    'A handoff may be offered, and whether it can be delivered is still to be asked',
    'warning',
  ),
  row('BLOCKED_INVALID_HANDOFF_EPOCH', 'A handoff names no target, or not the next epoch'),
  row('PENDING_REACHABILITY_UNCHECKED', 'The target has given no signal', 'warning'),
  row('BLOCKED_REACHABILITY_PARTICIPANT_MISMATCH', "The signal is another's than the target's"),
  row('BLOCKED_REACHABILITY_NOT_SURFACED', 'The sender can not see the surface of the signal'),
  row('BLOCKED_INVALID_REACHABILITY_SIGNAL', 'The ticks of the signal are no integers'),
  row('BLOCKED_FUTURE_REACHABILITY_SIGNAL', 'The signal was observed later than now'),
  row('PENDING_UNREACHABLE', 'The signal has expired, or is not READY', 'warning'),
  row('PENDING_RECIPIENT_ACK', 'The recipient has not acknowledged the handoff', 'warning'),
  row('BLOCKED_ACK_LANE_MISMATCH', 'The acknowledgement is about another lane'),
  row('BLOCKED_ACK_RECIPIENT_MISMATCH', "The acknowledgement is another's than the target's"),
  row('BLOCKED_ACK_EVENT_MISMATCH', 'The acknowledgement accepts another handoff'),
  row('BLOCKED_ACK_EPOCH_MISMATCH', 'The acknowledgement accepts another epoch'),
  row('BLOCKED_ACK_STALE_PREDECESSOR', "The recipient has not read the lane's head"),
  row('BLOCKED_PARENT_EXECUTION_MISMATCH', 'An execution names another parent than the one given'),
  row('BLOCKED_AUTHORITY_LINEAGE_ESCAPE', 'An execution is bound otherwise than its parent'),
  row('BLOCKED_REVOKED_AUTHORITY_EPOCH', "An execution is bound to another epoch than the lane's"),
  row('BLOCKED_REVOKED_AUTHORITY_OWNER', "An execution is bound to another owner than the lane's"),
  row(
    'REVOCATION_PENDING_LIVE_EXECUTIONS',
    'Executions of an earlier ownership have not ended',
    'warning',
  ),
  row('HS4201', 'A document breaks the closed schema of its kind'),
]

function row(code: string, title: string, severity: Severity = 'error'): Rule {
  return { code, severity, title, where: 'hrc' }
}
