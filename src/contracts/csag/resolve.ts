import type { Bundle, BundleAnswer, BundleFile } from './bundle.ts'
import type { HandoffArtifactDigest, HandoffEnvelope, PlacedRecord } from './document.ts'
import { walkEnvironments, walkRecords } from './document.ts'
import type { Locator } from './locator.ts'
import { parseLocator } from './locator.ts'
import type { PaperFacts } from './paper.ts'
import { readPaper } from './paper.ts'
import type { ReportFacts } from './report-facts.ts'
import { readReport } from './report-facts.ts'

/** What a locator stands for once the bundle was looked at. */
export type Resolution = BundleAnswer | Exclude<Locator, { kind: 'local' }>

/** Everything that the semantic rules ask of the files around an envelope. */
export interface ResolvedHandoff {
  readonly records: readonly PlacedRecord[]
  /** By locator, as spelled in the envelope. */
  readonly locators: ReadonlyMap<string, Resolution>
  /** By {@link BundleFile.key}: the papers under `source_artifacts` whose digest matches. */
  readonly papers: ReadonlyMap<string, PaperFacts>
  /** By {@link BundleFile.key}: the reports whose digest and size match. */
  readonly reports: ReadonlyMap<string, ReportFacts>
}

/** Returns the resolved view of an envelope that has no local files, or undefined when it has some. */
export function resolveRemote(envelope: HandoffEnvelope): ResolvedHandoff | undefined {
  const records = walkRecords(envelope)
  const locators = new Map<string, Resolution>()
  for (const text of listLocators(envelope, records)) {
    if (locators.has(text)) continue
    const locator = parseLocator(text)
    if (locator.kind === 'local') return undefined
    locators.set(text, locator)
  }
  return { records, locators, papers: new Map(), reports: new Map() }
}

/**
 * Returns the resolved view of an envelope: every local file looked up and hashed, papers and reports read. Asks the
 * bundle nothing when no locator is local.
 *
 * @param envelope - One that `checkEnvelope` has nothing to say about.
 */
export async function resolveFiles(
  envelope: HandoffEnvelope,
  bundle: Bundle,
): Promise<ResolvedHandoff> {
  const remote = resolveRemote(envelope)
  if (remote !== undefined) return remote
  const records = walkRecords(envelope)
  const locators = new Map<string, Resolution>()
  for (const text of listLocators(envelope, records)) {
    if (locators.has(text)) continue
    const locator = parseLocator(text)
    locators.set(text, locator.kind === 'local' ? await bundle.locate(locator.segments) : locator)
  }
  const papers = new Map<string, PaperFacts>()
  const reports = new Map<string, ReportFacts>()
  for (const placed of records) {
    const answer = locators.get(placed.record.artifact_path)
    if (answer?.kind !== 'file') continue
    const { file } = answer
    if (isDeclaredPaper(placed, file) && !papers.has(file.key)) {
      papers.set(file.key, await readPaper(bundle, file))
    }
    if (isDeclaredReport(placed, file) && !reports.has(file.key)) {
      reports.set(file.key, await readReport(bundle, file))
    }
  }
  return { records, locators, papers, reports }
}

function listLocators(envelope: HandoffEnvelope, records: readonly PlacedRecord[]): string[] {
  const locators = records.map(({ record }) => record.artifact_path)
  for (const { locator } of walkEnvironments(envelope)) locators.push(locator)
  return locators
}

/** Returns whether `file` is a paper of the handoff: the role counts under `source_artifacts` only, the size never. */
export function isDeclaredPaper({ record, isSource }: PlacedRecord, file: BundleFile): boolean {
  return isSource && record.artifact_role === 'paper_extraction' && record.sha256 === file.sha256
}

/** Returns whether `file` is a report of the handoff, in whatever list it is declared. */
export function isDeclaredReport({ record }: PlacedRecord, file: BundleFile): boolean {
  const role = record.artifact_role
  return (role === 'validation_report' || role === 'quality_report') && isVerified(record, file)
}

/** Returns whether the digest and, where one is declared, the size of a record are those of `file`. */
export function isVerified(record: HandoffArtifactDigest, file: BundleFile): boolean {
  return record.sha256 === file.sha256 && (record.byte_size ?? file.sizeBytes) === file.sizeBytes
}
