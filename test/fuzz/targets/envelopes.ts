import { createHash } from 'node:crypto'
import type { HandoffJudgement } from '../../../src/contracts/csag/handoff.ts'
import { validateHandoff } from '../../../src/contracts/csag/handoff.ts'
import { parseLocator } from '../../../src/contracts/csag/locator.ts'
import { formatReport, makeReport, reportLines } from '../../../src/contracts/csag/report.ts'
import type { StoredFile } from '../../../src/contracts/csag/virtual-bundle.ts'
import { makeVirtualBundle } from '../../../src/contracts/csag/virtual-bundle.ts'
import { rules } from '../../../src/rules/table.ts'
import { runCli } from '../../support/cli.ts'
import { oddValues } from '../odd-values.ts'
import type { SeedFolder } from '../seeds.ts'
import type { Target } from '../target.ts'
import { byteMutator, bytesOfText, expectThat, textOfBytes, treeMutator } from '../target.ts'

const known = new Set(rules.map(({ code }) => code))

/** What `--json` prints of a judgement or of a refusal. */
interface Told {
  readonly ok?: boolean
  readonly code?: string
  readonly findings?: readonly { readonly code: string }[]
}

type Files = ReadonlyMap<string, StoredFile>

/** Envelopes, and the papers and reports that they name, through the validators. */
export function envelopeTargets(seeds: SeedFolder): Target[] {
  const folder = ['csag-cases', 'bundle']
  const names = ['article.json', 'notes.md', 'paper.json', 'env/lock.txt', 'data/table.csv']
  const reports = ['reports/paper.validation.json', 'reports/paper.quality.json']
  const files = new Map(
    [...names, ...reports].map((name) => [name, stored(seeds.bytes(...folder, name))]),
  )
  const envelope = seeds.bytes(...folder, 'handoff.json')
  const history = seeds.names('history', 'bundle').filter((name) => /^r\d.*\.json$/.test(name))
  const mutate = treeMutator((tree) => bytesOfText(JSON.stringify(tree)), oddValues)
  const swapped = (name: string) => (bytes: Uint8Array) =>
    judgeSwapped(envelope, files, name, bytes)
  return [
    {
      name: 'envelope',
      share: 60,
      seeds: [envelope, ...history.map((name) => seeds.bytes('history', 'bundle', name))],
      mutate,
      run: async (bytes) => judge(bytes, files),
    },
    {
      name: 'paper',
      share: 40,
      seeds: [seeds.bytes(...folder, 'paper.json')],
      mutate,
      run: swapped('paper.json'),
    },
    {
      name: 'report',
      share: 40,
      seeds: reports.map((name) => seeds.bytes(...folder, name)),
      mutate,
      run: swapped(reports[0]!),
    },
    { name: 'locator', share: 100, seeds: locators, mutate: byteMutator, run: runLocator },
    {
      name: 'validate',
      share: 10,
      seeds: [envelope],
      mutate,
      run: runVerb,
    },
  ]
}

const locators = [
  'data/table.csv',
  'a/../../b/./c',
  'file:///etc/passwd',
  '%2e%2e/%2F%00/~x',
  'https://[::1%25x]:80/a?b#c',
  '//[v1.x]@host:1/p',
  '\u0001 HTTP://\u2100.example/x',
  'C:\\x y\tz',
].map(bytesOfText)

function stored(bytes: Uint8Array): StoredFile {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { sha256, sizeBytes: bytes.length, read: async () => bytes }
}

/** Judges the envelope with other bytes in one of its files. */
function judgeSwapped(
  envelope: Uint8Array,
  files: Files,
  name: string,
  bytes: Uint8Array,
): Promise<string> {
  return judge(renamed(envelope, files, name, bytes), new Map([...files, [name, stored(bytes)]]))
}

/** The envelope with the digest of a changed file, so that the file is read. */
function renamed(envelope: Uint8Array, files: Files, name: string, bytes: Uint8Array): Uint8Array {
  const before = files.get(name)!
  const after = stored(bytes)
  const text = textOfBytes(envelope)
    .replaceAll(before.sha256, after.sha256)
    .replaceAll(`"byte_size": ${before.sizeBytes}`, `"byte_size": ${after.sizeBytes}`)
  return bytesOfText(text)
}

async function judge(bytes: Uint8Array, files: Files): Promise<string> {
  const judgement = await validateHandoff(bytes, makeVirtualBundle(files))
  expectSound(judgement)
  const report = formatReport(makeReport(judgement, '/'))
  expectThat('the report is no JSON', JSON.parse(report).ok === judgement.ok)
  if (judgement.ok) return 'accepted'
  const { code, schemaCode } = judgement.findings[0]!
  return schemaCode ?? code
}

function expectSound(judgement: HandoffJudgement): void {
  const { ok, findings, advisories } = judgement
  expectThat('ok without or beside findings', ok === (findings.length === 0))
  for (const { code, path, message } of [...findings, ...advisories]) {
    expectThat(`unknown code ${code}`, known.has(code))
    expectThat(`path ${path}`, /^handoff(?:[.[]|$)/.test(path))
    expectThat(`message ${JSON.stringify(message)}`, /^[^\p{Cc}\p{Surrogate}]+$/u.test(message))
  }
  expectThat('lines', reportLines(judgement).length === Math.max(1, findings.length))
}

function runLocator(bytes: Uint8Array): string {
  const locator = parseLocator(textOfBytes(bytes))
  if (locator.kind !== 'local') return locator.kind
  let depth = 0
  for (const segment of locator.segments) {
    expectThat('a segment with a dot, a slash or NUL', !/^\.?$|[/\0]/.test(segment))
    depth += segment === '..' ? -1 : 1
    expectThat('leads out', depth >= 0)
  }
  return 'accepted'
}

async function runVerb(bytes: Uint8Array): Promise<string> {
  const ran = await runCli(['validate', '-', '--bundle', '/', '--json'], { stdin: bytes })
  const told = JSON.parse(ran.exit > 1 ? ran.err : ran.out) as Told
  expectThat(`exit ${ran.exit}`, told.ok === undefined || told.ok === (ran.exit === 0))
  expectThat(`code ${told.code}`, told.code !== 'HSTORE_BUG')
  return told.code ?? told.findings?.[0]?.code ?? 'accepted'
}
