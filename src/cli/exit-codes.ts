import type { HrcStatus } from '../contracts/hrc/evaluate.ts'
import type { OrcStatus } from '../contracts/hrc/executions.ts'
import type { HandoffErrorCode } from '../errors.ts'

/** The exit codes of docs/cli.md. */
export const exits = {
  ok: 0,
  no: 1,
  usage: 2,
  pending: 3,
  trust: 4,
  damage: 5,
  conflict: 6,
  unread: 7,
  unavailable: 8,
  newer: 9,
} as const

type Exit = (typeof exits)[keyof typeof exits]

const handoff: Readonly<Record<HandoffErrorCode, Exit>> = {
  HSTORE_AGENT_NEEDED: exits.trust,
  HSTORE_AGENT_UNKNOWN: exits.no,
  HSTORE_ANSWER_LOST: exits.unavailable,
  HSTORE_AUTHOR_MISMATCH: exits.trust,
  HSTORE_BODY_INVALID: exits.usage,
  HSTORE_CONFIG_DAMAGED: exits.damage,
  HSTORE_CONTRACT_BROKEN: exits.no,
  HSTORE_DOCUMENT_INVALID: exits.usage,
  HSTORE_ENTRY_INVALID: exits.damage,
  HSTORE_ENTRY_UNTRUSTED: exits.damage,
  HSTORE_EQUIVOCATION: exits.conflict,
  HSTORE_GENESIS_MISMATCH: exits.trust,
  HSTORE_GENESIS_NEEDED: exits.trust,
  HSTORE_HEADS_MOVED: exits.conflict,
  HSTORE_INPUT_CHANGED: exits.no,
  HSTORE_INPUT_TOO_LARGE: exits.usage,
  HSTORE_INPUT_UNREADABLE: exits.usage,
  HSTORE_LANE_CONTESTED: exits.conflict,
  HSTORE_LANE_EXISTS: exits.conflict,
  HSTORE_LANE_REFUSED: exits.no,
  HSTORE_OUTPUT_EXISTS: exits.usage,
  HSTORE_OUTPUT_UNWRITABLE: exits.unavailable,
  HSTORE_PARENT_AMBIGUOUS: exits.usage,
  HSTORE_PARENT_CYCLE: exits.usage,
  HSTORE_PARENT_UNKNOWN: exits.usage,
  HSTORE_QUARANTINE_FULL: exits.newer,
  HSTORE_PROOF_INVALID: exits.usage,
  HSTORE_REF_AMBIGUOUS: exits.usage,
  HSTORE_REF_NOT_FOUND: exits.usage,
  HSTORE_RELAY_BEHIND: exits.conflict,
  HSTORE_RELAY_BUSY: exits.unavailable,
  HSTORE_RELAY_CHANGED: exits.conflict,
  HSTORE_RELAY_INVALID: exits.no,
  HSTORE_REMOTE_DENIED: exits.trust,
  HSTORE_REMOTE_EXISTS: exits.conflict,
  HSTORE_REMOTE_FAILED: exits.newer,
  HSTORE_REMOTE_INVALID: exits.newer,
  HSTORE_REMOTE_UNKNOWN: exits.usage,
  HSTORE_ROSTER_CONFLICT: exits.conflict,
  HSTORE_ROSTER_INVALID: exits.damage,
  HSTORE_ROSTER_ROLLBACK: exits.damage,
  HSTORE_SHALLOW_HELD: exits.usage,
  HSTORE_SIGNER_UNKNOWN: exits.trust,
  HSTORE_SOCKET_UNUSABLE: exits.unavailable,
  HSTORE_STORE_EXISTS: exits.conflict,
  HSTORE_STORE_FOREIGN: exits.trust,
  HSTORE_STORE_MISSING: exits.usage,
  HSTORE_TRUST_DAMAGED: exits.trust,
  HSTORE_TURN_REFUSED: exits.no,
  HSTORE_USAGE: exits.usage,
  HSTORE_VERSION_NEWER: exits.newer,
}

const lower: ReadonlyMap<string, Exit> = new Map<string, Exit>([
  ['HSTORE_ARGUMENT_INVALID', exits.usage],
  ['HSTORE_BLOCK_CORRUPT', exits.damage],
  ['HSTORE_BLOCK_INVALID', exits.usage],
  ['HSTORE_BLOCK_NOT_FOUND', exits.damage],
  ['HSTORE_CAR_INVALID', exits.damage],
  ['HSTORE_CID_INVALID', exits.usage],
  ['HSTORE_JSON_INVALID', exits.usage],
  ['HSTORE_LEVELDB_MISSING', exits.unavailable],
  ['HSTORE_STORE_BUSY', exits.unavailable],
  ['HSTORE_STORE_DAMAGED', exits.damage],
  ['HSTORE_STORE_FULL', exits.unavailable],
  ['HSTORE_STORE_NEWER', exits.newer],
  ['HSTORE_STORE_READ_ONLY', exits.unavailable],
  ['HSTORE_STORE_UNREADABLE', exits.usage],
  ['HSTORE_DID_INVALID', exits.usage],
  ['HSTORE_KEY_EXISTS', exits.conflict],
  ['HSTORE_KEY_EXPOSED', exits.trust],
  ['HSTORE_KEY_INVALID', exits.trust],
  ['HSTORE_KEY_NOT_FOUND', exits.trust],
  ['HSTORE_PASSPHRASE_NEEDED', exits.trust],
  ['HSTORE_PASSPHRASE_WRONG', exits.trust],
  ['HSTORE_SIGNATURE_INVALID', exits.damage],
  ['HSTORE_SSH_AGENT_REFUSED', exits.trust],
  ['HSTORE_SSH_AGENT_MISSING', exits.trust],
])

/** Returns the exit code of an error code; undefined for one that is not hstore's own. */
export function exitOf(code: string): Exit | undefined {
  return Object.hasOwn(handoff, code) ? handoff[code as HandoffErrorCode] : lower.get(code)
}

/** A handoff of which only the transition was asked waits for the rest: no script may take it for a yes. */
const statuses: Readonly<Record<HrcStatus, Exit>> = {
  BLOCKED_ACK_EPOCH_MISMATCH: exits.no,
  BLOCKED_ACK_EVENT_MISMATCH: exits.no,
  BLOCKED_ACK_LANE_MISMATCH: exits.no,
  BLOCKED_ACK_RECIPIENT_MISMATCH: exits.no,
  BLOCKED_ACK_STALE_PREDECESSOR: exits.no,
  BLOCKED_CAS_CONFLICT: exits.conflict,
  BLOCKED_FUTURE_REACHABILITY_SIGNAL: exits.no,
  BLOCKED_INVALID_HANDOFF_EPOCH: exits.no,
  BLOCKED_INVALID_REACHABILITY_SIGNAL: exits.no,
  BLOCKED_LANE_MISMATCH: exits.no,
  BLOCKED_OWNERSHIP_EPOCH_MISMATCH: exits.no,
  BLOCKED_REACHABILITY_NOT_SURFACED: exits.no,
  BLOCKED_REACHABILITY_PARTICIPANT_MISMATCH: exits.no,
  BLOCKED_UNKNOWN_TRANSITION_KIND: exits.no,
  BLOCKED_UNREAD_PREDECESSOR: exits.unread,
  BLOCKED_WRITER_NOT_OWNER: exits.no,
  HANDOFF_COMMIT_ALLOWED: exits.ok,
  HANDOFF_DELIVERABLE: exits.ok,
  HANDOFF_REQUIRES_REACHABILITY: exits.pending,
  PENDING_REACHABILITY_UNCHECKED: exits.pending,
  PENDING_RECIPIENT_ACK: exits.pending,
  PENDING_UNREACHABLE: exits.pending,
  STATUS_TRANSITION_ALLOWED: exits.ok,
}

/** Returns the exit code of an answer of HRC-001. */
export function exitOfStatus(status: HrcStatus): Exit {
  return statuses[status]
}

/** Returns the exit code of an answer of ORC-001. */
export function exitOfExecution(status: OrcStatus): Exit {
  if (status === 'REVOCATION_PENDING_LIVE_EXECUTIONS') return exits.pending
  return status.startsWith('BLOCKED_') ? exits.no : exits.ok
}
