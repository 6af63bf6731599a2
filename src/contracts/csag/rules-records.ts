import type { BundleFile } from './bundle.ts'
import type { HandoffArtifactDigest, PlacedRecord } from './document.ts'
import type { Segment } from './finding.ts'
import { MAX_FINDINGS, placedFinding, pointerOf, quote } from './finding.ts'
import { isDeclaredPaper, isDeclaredReport } from './resolve.ts'
import type { Resolution } from './resolve.ts'
import { report } from './rule-context.ts'
import type { RuleContext } from './rule-context.ts'

/** The rule for each way in which a locator of a record is no file. */
const pathRules: Readonly<Record<Exclude<Resolution['kind'], 'file' | 'remote'>, string>> = {
  'file-scheme': 'CSAG-H-007',
  absolute: 'CSAG-H-008',
  escape: 'CSAG-H-009',
  malformed: 'CSAG-H-010',
  missing: 'CSAG-H-011',
}

interface Identity {
  readonly sha256: string
  readonly size: number | string | null
}

/** Judges every record: CSAG-H-006 to CSAG-H-018. Gathers the papers and reports for later rules. */
export function judgeRecords(context: RuleContext): void {
  const seen = new Map<string, Identity>()
  for (const placed of context.resolved.records) {
    judgeIdentity(context, placed, seen)
    const { record, place } = placed
    const answer = context.resolved.locators.get(record.artifact_path)
    if (answer === undefined) throw new RangeError('resolved: wanted the view of this envelope')
    if (answer.kind === 'remote') continue
    if (answer.kind === 'file') judgeFile(context, placed, answer.file)
    else {
      const message = `${quote(record.artifact_path)}: ${answer.reason}`
      report(context, pathRules[answer.kind], [...place, 'artifact_path'], message)
    }
  }
}

function judgeIdentity(
  context: RuleContext,
  { record, place }: PlacedRecord,
  seen: Map<string, Identity>,
): void {
  const identity = { sha256: record.sha256, size: sizeOf(context, record, place) }
  const earlier = seen.get(record.artifact_path)
  seen.set(record.artifact_path, identity)
  if (earlier === undefined) return
  if (earlier.sha256 === identity.sha256 && earlier.size === identity.size) return
  const message = `${quote(record.artifact_path)} was declared before with another digest or size`
  report(context, 'CSAG-H-006', place, message)
}

/** Upstream compares integers exactly; one that a double can't hold compares by its digits, NaN equals nothing. */
function sizeOf(
  context: RuleContext,
  record: HandoffArtifactDigest,
  place: readonly Segment[],
): number | string | null {
  const size = record.byte_size ?? null
  if (size === null || Number.isSafeInteger(size)) return size
  return context.literals.get(pointerOf([...place, 'byte_size'])) ?? Number.NaN
}

function judgeFile(context: RuleContext, placed: PlacedRecord, file: BundleFile): void {
  const { record, place } = placed
  if (record.sha256 !== file.sha256) {
    const message = `${quote(record.artifact_path)} has the digest ${file.sha256}, not ${record.sha256} as named`
    report(context, 'CSAG-H-012', [...place, 'sha256'], message)
  }
  if ((record.byte_size ?? file.sizeBytes) !== file.sizeBytes) {
    const message = `${quote(record.artifact_path)} has ${file.sizeBytes} bytes, not ${record.byte_size} as named`
    report(context, 'CSAG-H-013', [...place, 'byte_size'], message)
  }
  if (isDeclaredPaper(placed, file)) {
    context.paperDigests.add(file.sha256)
    judgePaper(context, place, file)
  }
  if (isDeclaredReport(placed, file)) judgeReportFile(context, placed, file)
}

function judgePaper(context: RuleContext, place: readonly Segment[], file: BundleFile): void {
  const facts = context.resolved.papers.get(file.key)
  const at = [...place, 'artifact_path']
  if (facts === undefined) throw new RangeError('resolved: wanted the papers of this envelope')
  if (facts.kind === 'not-json') report(context, 'CSAG-H-014', at, facts.reason)
  else if (facts.kind === 'not-object') report(context, 'CSAG-H-016', at, 'wanted an object')
  else if (facts.kind === 'faulty') {
    const base = placedFinding('CSAG-H-015', at, '')
    const room = Math.max(0, MAX_FINDINGS - context.findings.length)
    for (const fault of facts.faults.slice(0, room)) {
      const path = [base.path, ...fault.place].join('.')
      context.findings.push({ ...base, path, message: fault.message, schemaCode: fault.code })
    }
  }
}

function judgeReportFile(
  context: RuleContext,
  { record, place }: PlacedRecord,
  file: BundleFile,
): void {
  const facts = context.resolved.reports.get(file.key)
  const at = [...place, 'artifact_path']
  if (facts === undefined) throw new RangeError('resolved: wanted the reports of this envelope')
  if (facts.kind === 'not-json') report(context, 'CSAG-H-017', at, facts.reason)
  else if (facts.kind === 'not-object') report(context, 'CSAG-H-018', at, 'wanted an object')
  else {
    const isValidation = record.artifact_role === 'validation_report'
    context.declaredReports.push({ facts, isValidation, place: at })
  }
}
