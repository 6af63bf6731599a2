import type { HandoffExecution } from './document.ts'
import { splitEnvironment } from './document.ts'
import { quote } from './finding.ts'
import type { Segment } from './finding.ts'
import type { ActionsById } from './rules-actions.ts'
import { isBlank, report } from './rule-context.ts'
import type { RuleContext } from './rule-context.ts'

/** Judges lockfiles, and what executions belong to and must have: CSAG-H-030 to CSAG-H-036. */
export function judgeExecutions(context: RuleContext, actions: ActionsById): void {
  for (const [i, execution] of (context.envelope.executions ?? []).entries()) {
    const at = ['executions', i]
    judgeEnvironment(context, execution, [...at, 'environment'])
    if (!actions.has(execution.action_ref)) {
      const message = `${quote(execution.action_ref)} is no action`
      report(context, 'CSAG-H-033', [...at, 'action_ref'], message)
    }
    judgeEnd(context, execution, at)
  }
}

function judgeEnvironment(
  context: RuleContext,
  execution: HandoffExecution,
  at: readonly Segment[],
): void {
  const { locator, sha256 } = splitEnvironment(execution.environment)
  const answer = context.resolved.locators.get(locator)
  if (answer === undefined) throw new RangeError('resolved: wanted the view of this envelope')
  if (answer.kind === 'remote') return
  if (answer.kind === 'file') {
    if (answer.file.sha256 === sha256) return
    report(
      context,
      'CSAG-H-032',
      at,
      `${quote(locator)} has the digest ${answer.file.sha256}, not ${sha256} as named`,
    )
    return
  }
  const code = answer.kind === 'missing' ? 'CSAG-H-031' : 'CSAG-H-030'
  report(context, code, at, `${quote(locator)}: ${answer.reason}`)
}

function judgeEnd(context: RuleContext, execution: HandoffExecution, at: readonly Segment[]): void {
  const status = execution.execution_status
  if (status !== 'completed' && status !== 'failed' && status !== 'cancelled') return
  const wanted = (rule: string, key: string): void =>
    report(context, rule, [...at, key], `the execution is ${status}, wanted a value`)
  if (isBlank(execution.completed_on)) wanted('CSAG-H-034', 'completed_on')
  if (isBlank(execution.execution_outcome)) wanted('CSAG-H-035', 'execution_outcome')
  if (status === 'completed' && isBlank(execution.outputs)) wanted('CSAG-H-036', 'outputs')
}
