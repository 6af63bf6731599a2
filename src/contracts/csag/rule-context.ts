import { compareUtf8 } from '../../kernel/bytes.ts'
import type { HandoffEnvelope } from './document.ts'
import type { CsagFinding, Segment } from './finding.ts'
import { MAX_FINDINGS, placedFinding } from './finding.ts'
import type { ReportFacts } from './report-facts.ts'
import type { ResolvedHandoff } from './resolve.ts'

/** A report that can be judged, with the record that declares it. */
export interface DeclaredReport {
  readonly facts: Extract<ReportFacts, { kind: 'report' }>
  readonly isValidation: boolean
  readonly place: readonly Segment[]
}

/** What papers of the bundle can be pointed at. */
export interface PaperTargets {
  readonly assertions: ReadonlySet<string>
  readonly knowledgeGaps: ReadonlySet<string>
  readonly ids: ReadonlySet<string>
}

/** What the steps of the semantic rules share. */
export interface RuleContext {
  readonly envelope: HandoffEnvelope
  readonly resolved: ResolvedHandoff
  /** By JSON pointer: integers that a double can't hold, as spelled. */
  readonly literals: ReadonlyMap<string, string>
  readonly findings: CsagFinding[]
  /** Digests of the papers in the bundle, filled while records are judged. */
  readonly paperDigests: Set<string>
  readonly declaredReports: DeclaredReport[]
}

/** Adds a finding of a semantic rule, while there are fewer than {@link MAX_FINDINGS}. */
export function report(
  context: RuleContext,
  code: string,
  place: readonly Segment[],
  message: string,
): void {
  if (context.findings.length < MAX_FINDINGS) {
    context.findings.push(placedFinding(code, place, message))
  }
}

/** Returns whether a text is absent, null or empty: upstream treats them alike. */
export function isBlank(value: string | readonly unknown[] | null | undefined): boolean {
  return value === undefined || value === null || value.length === 0
}

/** Returns the texts in code-point order. */
export function sortByCodePoint(texts: Iterable<string>): string[] {
  return [...texts].sort(compareUtf8)
}
