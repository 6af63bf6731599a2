import type { Bundle, BundleFile } from './bundle.ts'
import { quote } from './finding.ts'
import { isObject, readJsonFile } from './paper.ts'
import type { JsonFile } from './paper.ts'

/** A file that a report names as its input and that is in the bundle with that digest. */
export interface FreshInput {
  readonly file: BundleFile
  readonly path: string
  readonly linked: boolean
}

/** What the rules need to know of a validation or quality report whose digest and size match. */
export type ReportFacts =
  | Exclude<JsonFile, { kind: 'object' }>
  | {
      readonly kind: 'report'
      readonly isOk: boolean
      /** Sections of a quality report that are not there. */
      readonly absentSections: readonly string[]
      readonly hasIssueList: boolean
      /** What is wrong with its inputs; none when it is fresh. */
      readonly staleness: readonly string[]
      /** The digest that the report gives for its paper. */
      readonly paperSha256: string | undefined
      readonly inputs: readonly FreshInput[]
    }

const SECTIONS = ['completeness', 'field_quality', 'issues']

/** Returns what the rules need to know of the report in `file`, its inputs looked up in the bundle. */
export async function readReport(bundle: Bundle, file: BundleFile): Promise<ReportFacts> {
  const json = await readJsonFile(bundle, file)
  if (json.kind !== 'object') return json
  const { value } = json
  const declared = value['inputs']
  const staleness: string[] = []
  const inputs: FreshInput[] = []
  const members = isObject(declared) ? Object.entries(declared) : []
  if (members.length === 0) staleness.push('(report): no inputs')
  for (const [name, record] of members) {
    const answer = await lookUpInput(bundle, file, record)
    if (typeof answer === 'string') staleness.push(`${quote(name)}: ${answer}`)
    else inputs.push(answer)
  }
  return {
    kind: 'report',
    isOk: value['ok'] === true,
    absentSections: SECTIONS.filter((name) => !Object.hasOwn(value, name)),
    hasIssueList: Array.isArray(value['issues']),
    staleness,
    paperSha256: findPaperDigest(declared),
    inputs,
  }
}

async function lookUpInput(
  bundle: Bundle,
  report: BundleFile,
  record: unknown,
): Promise<FreshInput | string> {
  if (!isInputRecord(record)) return 'not a record of a path and a digest'
  const answer = await bundle.locateBeside(report, record.path)
  if (answer.kind !== 'file')
    return `${quote(record.path)} is missing, or no regular file in the bundle`
  if (answer.file.sha256 !== record.sha256) return `${quote(record.path)} has another digest`
  return answer
}

function isInputRecord(
  value: unknown,
): value is { readonly path: string; readonly sha256: string } {
  return isObject(value) && typeof value['path'] === 'string' && typeof value['sha256'] === 'string'
}

function findPaperDigest(declared: unknown): string | undefined {
  if (!isObject(declared) || !Object.hasOwn(declared, 'extraction')) return undefined
  const record = declared['extraction']
  const sha256 = isObject(record) && Object.hasOwn(record, 'sha256') ? record['sha256'] : undefined
  return typeof sha256 === 'string' ? sha256 : undefined
}
