import { report, sortByCodePoint } from './rule-context.ts'
import type { DeclaredReport, RuleContext } from './rule-context.ts'

/** Judges the reports, then whether each paper has one: CSAG-H-019 to CSAG-H-024. */
export function judgeReports(context: RuleContext): void {
  const validated = new Set<string>()
  for (const declared of context.declaredReports) {
    judgeReport(context, declared)
    const { isOk, paperSha256, staleness } = declared.facts
    if (declared.isValidation && isOk && staleness.length === 0 && paperSha256 !== undefined) {
      validated.add(paperSha256)
    }
  }
  for (const sha256 of sortByCodePoint(context.paperDigests)) {
    if (validated.has(sha256)) continue
    const message = `no validation report that is ok and fresh names the paper ${sha256}`
    report(context, 'CSAG-H-024', ['source_artifacts'], message)
  }
}

function judgeReport(context: RuleContext, { facts, isValidation, place }: DeclaredReport): void {
  const { absentSections, hasIssueList, isOk, paperSha256, staleness } = facts
  if (staleness.length > 0) report(context, 'CSAG-H-019', place, staleness.join('; '))
  if (paperSha256 === undefined || !context.paperDigests.has(paperSha256)) {
    report(context, 'CSAG-H-020', place, 'its input "extraction" is no paper of this envelope')
  }
  if (isValidation) {
    if (!isOk) report(context, 'CSAG-H-021', place, 'wanted "ok": true')
  } else if (absentSections.length > 0) {
    report(context, 'CSAG-H-022', place, `missing: ${absentSections.join(', ')}`)
  } else if (!hasIssueList) {
    report(context, 'CSAG-H-023', place, 'wanted "issues" as a list')
  }
}
