import type { HandoffAction, HandoffEnvelope } from './document.ts'
import type { CsagFinding } from './finding.ts'
import type { PaperFacts } from './paper.ts'
import type { ResolvedHandoff } from './resolve.ts'
import { judgeActions, judgeProgress } from './rules-actions.ts'
import { judgeAssessments } from './rules-assessments.ts'
import { judgeExecutions } from './rules-executions.ts'
import { judgeRecords } from './rules-records.ts'
import { judgeReports } from './rules-reports.ts'
import { judgeConflicts, judgeRevision } from './rules-revision.ts'
import type { PaperTargets, RuleContext } from './rule-context.ts'

const NO_LITERALS: ReadonlyMap<string, string> = new Map()

/**
 * Returns the findings of the semantic rules CSAG-H-001 to CSAG-H-049 in upstream's order. Pure: looks at nothing but
 * its arguments.
 *
 * @param envelope - One that `checkEnvelope` has nothing to say about.
 * @param resolved - The view of its files, from `resolveFiles` or `resolveRemote` for this very envelope.
 * @param literals - By JSON pointer: integers that a double can't hold, as the file spells them.
 * @see https://github.com/NeLLi-team/csag release 1.0.0, handoff profile
 */
export function judgeDocument(
  envelope: HandoffEnvelope,
  resolved: ResolvedHandoff,
  literals: ReadonlyMap<string, string> = NO_LITERALS,
): CsagFinding[] {
  const context: RuleContext = {
    envelope,
    resolved,
    literals,
    findings: [],
    paperDigests: new Set(),
    declaredReports: [],
  }
  const actions = new Map<string, HandoffAction>()
  for (const action of envelope.actions ?? []) actions.set(action.id, action)
  const targets = gatherTargets([...resolved.papers.values()])
  judgeRevision(context)
  judgeRecords(context)
  judgeReports(context)
  judgeActions(context, actions, targets)
  judgeExecutions(context, actions)
  judgeProgress(context, actions)
  judgeAssessments(context, targets)
  judgeConflicts(context)
  return context.findings
}

/** Undefined without a paper that can be pointed into: then nothing that points into papers is judged. */
function gatherTargets(facts: readonly PaperFacts[]): PaperTargets | undefined {
  const papers = facts.filter((paper) => paper.kind === 'paper')
  if (papers.length <= 1) return papers[0]
  const assertions = new Set<string>()
  const knowledgeGaps = new Set<string>()
  const ids = new Set<string>()
  for (const paper of papers) {
    for (const id of paper.assertions) assertions.add(id)
    for (const id of paper.knowledgeGaps) knowledgeGaps.add(id)
    for (const id of paper.ids) ids.add(id)
  }
  return { assertions, knowledgeGaps, ids }
}
