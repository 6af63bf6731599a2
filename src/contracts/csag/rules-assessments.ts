import { walkRecords } from './document.ts'
import { quote } from './finding.ts'
import { judgeTargets } from './rules-actions.ts'
import { isBlank, report } from './rule-context.ts'
import type { PaperTargets, RuleContext } from './rule-context.ts'

/** Judges what assessments rest on and are about: CSAG-H-039 to CSAG-H-043. */
export function judgeAssessments(context: RuleContext, targets: PaperTargets | undefined): void {
  const { assessments, executions } = context.envelope
  if (isBlank(assessments)) return
  const artifactIds = new Set<string>()
  for (const { record } of walkRecords(context.envelope)) artifactIds.add(record.id)
  const executionIds = new Set((executions ?? []).map((execution) => execution.id))
  for (const [i, assessment] of (assessments ?? []).entries()) {
    const at = ['assessments', i]
    const { basis_artifacts, basis_executions, basis_refs } = assessment
    for (const [k, id] of (basis_artifacts ?? []).entries()) {
      if (artifactIds.has(id)) continue
      report(context, 'CSAG-H-039', [...at, 'basis_artifacts', k], `${quote(id)} is no artifact`)
    }
    for (const [k, id] of (basis_executions ?? []).entries()) {
      if (executionIds.has(id)) continue
      report(context, 'CSAG-H-040', [...at, 'basis_executions', k], `${quote(id)} is no execution`)
    }
    if (targets !== undefined) {
      judgeTargets(context, 'CSAG-H-041', [...at, 'basis_refs'], basis_refs, targets.ids)
      const { target_assertions } = assessment
      const place = [...at, 'target_assertions']
      judgeTargets(context, 'CSAG-H-042', place, target_assertions, targets.assertions)
    }
    if (isBlank(basis_artifacts) && isBlank(basis_executions) && isBlank(basis_refs)) {
      report(context, 'CSAG-H-043', at, 'wanted an artifact, an execution or a reference as basis')
    }
  }
}
