import type { HandoffAssessment } from './document.ts'
import { quote } from './finding.ts'
import type { Segment } from './finding.ts'
import { judgeTargets } from './rules-actions.ts'
import { isBlank, report } from './rule-context.ts'
import type { PaperTargets, RuleContext } from './rule-context.ts'

/** Judges what assessments rest on and are about: CSAG-H-039 to CSAG-H-043. */
export function judgeAssessments(context: RuleContext, targets: PaperTargets | undefined): void {
  const assessments = context.envelope.assessments ?? []
  if (assessments.length === 0) return
  const artifacts = new Set(context.resolved.records.map(({ record }) => record.id))
  const executions = new Set((context.envelope.executions ?? []).map(({ id }) => id))
  for (const [i, assessment] of assessments.entries()) {
    const at = ['assessments', i]
    judgeBasis(context, assessment, at, artifacts, executions)
    if (targets !== undefined) {
      const { basis_refs, target_assertions } = assessment
      judgeTargets(context, 'CSAG-H-041', [...at, 'basis_refs'], basis_refs, targets.ids)
      const place = [...at, 'target_assertions']
      judgeTargets(context, 'CSAG-H-042', place, target_assertions, targets.assertions)
    }
    if (hasNoBasis(assessment)) {
      report(context, 'CSAG-H-043', at, 'wanted an artifact, an execution or a reference as basis')
    }
  }
}

function judgeBasis(
  context: RuleContext,
  assessment: HandoffAssessment,
  at: readonly Segment[],
  artifacts: ReadonlySet<string>,
  executions: ReadonlySet<string>,
): void {
  for (const [k, id] of (assessment.basis_artifacts ?? []).entries()) {
    if (artifacts.has(id)) continue
    report(context, 'CSAG-H-039', [...at, 'basis_artifacts', k], `${quote(id)} is no artifact`)
  }
  for (const [k, id] of (assessment.basis_executions ?? []).entries()) {
    if (executions.has(id)) continue
    report(context, 'CSAG-H-040', [...at, 'basis_executions', k], `${quote(id)} is no execution`)
  }
}

function hasNoBasis({ basis_artifacts, basis_executions, basis_refs }: HandoffAssessment): boolean {
  return isBlank(basis_artifacts) && isBlank(basis_executions) && isBlank(basis_refs)
}
