import type { HandoffAction } from './document.ts'
import { quote } from './finding.ts'
import type { Segment } from './finding.ts'
import { report } from './rule-context.ts'
import type { PaperTargets, RuleContext } from './rule-context.ts'

/** Actions by id: of two with one id the later one, at the earlier one's place. */
export type ActionsById = ReadonlyMap<string, HandoffAction>

/** Judges what actions depend on and aim at: CSAG-H-025 to CSAG-H-029. */
export function judgeActions(
  context: RuleContext,
  actions: ActionsById,
  targets: PaperTargets | undefined,
): void {
  for (const [i, action] of (context.envelope.actions ?? []).entries()) {
    const at = ['actions', i]
    const dependencies = action.dependencies ?? []
    for (const [k, id] of dependencies.entries()) {
      if (actions.has(id)) continue
      report(context, 'CSAG-H-025', [...at, 'dependencies', k], `${quote(id)} is no action`)
    }
    if (dependencies.includes(action.id)) {
      report(context, 'CSAG-H-026', [...at, 'dependencies'], 'the action depends on itself')
    }
    if (targets === undefined) continue
    const assertions = [...at, 'target_assertions']
    judgeTargets(context, 'CSAG-H-027', assertions, action.target_assertions, targets.assertions)
    const gaps = [...at, 'target_knowledge_gaps']
    judgeTargets(context, 'CSAG-H-028', gaps, action.target_knowledge_gaps, targets.knowledgeGaps)
  }
  judgeCycles(context, actions)
}

/** Reports each of `ids` that no paper has. */
export function judgeTargets(
  context: RuleContext,
  code: string,
  place: readonly Segment[],
  ids: readonly string[] | null | undefined,
  known: ReadonlySet<string>,
): void {
  for (const [k, id] of (ids ?? []).entries()) {
    if (!known.has(id))
      report(context, code, [...place, k], `${quote(id)} is in no paper of the bundle`)
  }
}

/** Judges how far actions may be: CSAG-H-037 and CSAG-H-038. */
export function judgeProgress(context: RuleContext, actions: ActionsById): void {
  const ran = new Set<string>()
  for (const { action_ref, execution_status } of context.envelope.executions ?? []) {
    if (execution_status === 'completed') ran.add(action_ref)
  }
  for (const [i, action] of (context.envelope.actions ?? []).entries()) {
    if (action.action_status === 'completed' && !ran.has(action.id)) {
      const message = 'the action is completed and no completed execution belongs to it'
      report(context, 'CSAG-H-037', ['actions', i, 'action_status'], message)
    }
    if (ADVANCED.has(action.action_status)) judgeAdvance(context, action, i, actions)
  }
}

/** What an action may be only once its dependencies are completed. */
const ADVANCED: ReadonlySet<string> = new Set(['ready', 'in_progress', 'completed'])

function judgeAdvance(
  context: RuleContext,
  action: HandoffAction,
  i: number,
  actions: ActionsById,
): void {
  for (const id of action.dependencies ?? []) {
    const status = actions.get(id)?.action_status ?? 'completed'
    if (status === 'completed') continue
    const message = `the action is ${action.action_status} and ${quote(id)} is ${status}`
    report(context, 'CSAG-H-038', ['actions', i, 'dependencies'], message)
  }
}

/** One finding for each edge that leads back to an action on the way of a depth-first walk. */
function judgeCycles(context: RuleContext, actions: ActionsById): void {
  const done = new Set<HandoffAction>()
  const open = new Set<HandoffAction>()
  const way: { readonly action: HandoffAction; next: number }[] = []
  const enter = (action: HandoffAction): void => {
    open.add(action)
    way.push({ action, next: 0 })
  }
  for (const start of actions.values()) {
    if (!done.has(start)) enter(start)
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const id = top.action.dependencies?.[top.next]
      if (id === undefined) {
        way.pop()
        open.delete(top.action)
        done.add(top.action)
        continue
      }
      top.next += 1
      const dependency = actions.get(id)
      if (dependency === undefined || done.has(dependency)) continue
      if (open.has(dependency)) {
        const message = `${quote(top.action.id)} leads back to ${quote(id)}`
        report(context, 'CSAG-H-029', ['actions'], message)
      } else enter(dependency)
    }
  }
}
