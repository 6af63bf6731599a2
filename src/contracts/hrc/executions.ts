import { ArgumentError, assertArgument } from '../../kernel/errors.ts'
import type { HrcState } from './documents.ts'
import type { Detail } from './evaluate.ts'

/** ORC-001's document of a running execution, and the ownership that it is bound to. */
export interface OrcExecution {
  readonly execution_id: string
  readonly authority_lane_id: string
  readonly authority_owner_ref: string
  /** From 0 on. */
  readonly authority_epoch: number
  readonly root_execution_id: string
  /** Absent or null for a root. */
  readonly parent_execution_id?: string | null
  readonly actor_ref: string
  readonly process_group_ref?: string
  /** Open text; only `EXITED` counts as ended, a request to stop does not. */
  readonly process_state?: string
}

/** ORC-001's answers, names verbatim. */
export type OrcStatus =
  | 'BLOCKED_AUTHORITY_LINEAGE_ESCAPE'
  | 'BLOCKED_LANE_MISMATCH'
  | 'BLOCKED_PARENT_EXECUTION_MISMATCH'
  | 'BLOCKED_REVOKED_AUTHORITY_EPOCH'
  | 'BLOCKED_REVOKED_AUTHORITY_OWNER'
  | 'REVOCATION_PENDING_LIVE_EXECUTIONS'
  | 'REVOCATION_QUIESCENT'
  | 'SIDE_EFFECT_ALLOWED'

/** An answer about executions: the first rule that holds. */
export interface OrcDecision {
  readonly status: OrcStatus
  /** Empty where the contract gives the status none. */
  readonly detail: Detail
}

/**
 * Returns whether an execution may still cause effects: its binding has to be its parent's, and the lane's present owner
 * and epoch. Says nothing of effects made earlier.
 *
 * @param parent - The execution that started it; without one nothing is said of the lineage.
 */
export function evaluateSideEffect(
  state: HrcState,
  execution: OrcExecution,
  parent?: OrcExecution,
): OrcDecision {
  assertArgument('state', state, 'object')
  assertArgument('execution', execution, 'object')
  if (parent !== undefined) assertArgument('parent', parent, 'object')
  const { execution_id, authority_epoch, authority_owner_ref } = execution
  if (execution.authority_lane_id !== state.lane_id) return decision('BLOCKED_LANE_MISMATCH')
  if (parent !== undefined && execution.parent_execution_id !== parent.execution_id) {
    return decision('BLOCKED_PARENT_EXECUTION_MISMATCH')
  }
  if (parent !== undefined && !isOfLineage(execution, parent)) {
    const detail = { parent_execution_id: parent.execution_id, execution_id }
    return decision('BLOCKED_AUTHORITY_LINEAGE_ESCAPE', detail)
  }
  if (authority_epoch !== state.ownership_epoch) {
    return decision('BLOCKED_REVOKED_AUTHORITY_EPOCH', {
      bound_authority_epoch: authority_epoch,
      current_ownership_epoch: state.ownership_epoch,
    })
  }
  if (authority_owner_ref !== state.owner_ref) {
    return decision('BLOCKED_REVOKED_AUTHORITY_OWNER', {
      bound_authority_owner_ref: authority_owner_ref,
      current_owner_ref: state.owner_ref,
    })
  }
  return decision('SIDE_EFFECT_ALLOWED', { execution_id, authority_owner_ref, authority_epoch })
}

/**
 * Returns whether all executions of a lane that are bound to another owner or epoch than the present ones have ended.
 *
 * @param executions - All that are known; the lists of the answer keep their order.
 */
export function evaluateQuiescence(
  state: HrcState,
  executions: readonly OrcExecution[],
): OrcDecision {
  assertArgument('state', state, 'object')
  if (!Array.isArray(executions)) throw new ArgumentError('executions: wanted a list')
  const revoked = executions.filter(
    ({ authority_epoch, authority_lane_id, authority_owner_ref }) =>
      authority_lane_id === state.lane_id &&
      (authority_epoch !== state.ownership_epoch || authority_owner_ref !== state.owner_ref),
  )
  const live = revoked.filter(({ process_state }) => process_state !== 'EXITED')
  return decision(live.length > 0 ? 'REVOCATION_PENDING_LIVE_EXECUTIONS' : 'REVOCATION_QUIESCENT', {
    revoked_execution_ids: revoked.map(({ execution_id }) => execution_id),
    live_execution_ids: live.map(({ execution_id }) => execution_id),
  })
}

function isOfLineage(execution: OrcExecution, parent: OrcExecution): boolean {
  return (
    execution.authority_lane_id === parent.authority_lane_id &&
    execution.authority_owner_ref === parent.authority_owner_ref &&
    execution.authority_epoch === parent.authority_epoch &&
    execution.root_execution_id === parent.root_execution_id
  )
}

function decision(status: OrcStatus, detail: Detail = {}): OrcDecision {
  return { status, detail }
}
