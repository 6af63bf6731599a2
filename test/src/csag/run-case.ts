import fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { makeReport } from '../../../src/contracts/csag/report.ts'
import { judgeFile } from './judge-file.ts'
import type { JudgedFile } from './judge-file.ts'

/** A cases file: mutations of one bundle with the verdict on each. */
export interface CasesFile {
  readonly format: 'csag-cases/1'
  readonly bundle: string
  readonly envelope: string
  readonly cases: readonly CsagCase[]
}

export interface CsagCase {
  readonly name: string
  readonly patch: readonly PatchStep[]
  readonly files: Readonly<Record<string, CaseFile>>
  readonly expected: Verdict
  readonly upstream?: 'crash'
  readonly hstore?: Verdict
  readonly divergence?: string
  readonly why: string
}

/** Text, bytes, a symbolic link, or nothing: the file is deleted. */
export type CaseFile = string | null | { readonly base64: string } | { readonly symlink: string }

export interface Verdict {
  readonly ok: boolean
  readonly rules?: readonly string[]
  /** Rule and path; for CSAG-H-015 the schema rule as well. */
  readonly findings?: readonly (readonly string[])[]
  readonly verified?: readonly string[]
}

interface PatchStep {
  readonly op: 'add' | 'remove' | 'replace'
  readonly path: string
  readonly value?: unknown
}

/** What hstore says of a case, in the form of a cases file. */
export interface CaseOutcome {
  readonly verdict: Required<Verdict>
  readonly judged: JudgedFile
}

/** Runs one case in a copy of the bundle. */
export async function runCase(
  folder: string,
  file: CasesFile,
  one: Pick<CsagCase, 'files' | 'patch'>,
): Promise<CaseOutcome> {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(tmpdir(), 'csag-')))
  try {
    const directory = path.join(root, path.basename(file.bundle))
    fs.cpSync(path.join(folder, file.bundle), directory, { recursive: true })
    fs.chmodSync(directory, 0o700)
    for (const name of fs.readdirSync(directory)) fs.chmodSync(path.join(directory, name), 0o700)
    const envelope = path.join(directory, file.envelope)
    if (one.patch.length > 0) {
      const document: unknown = JSON.parse(fs.readFileSync(envelope, 'utf8'))
      for (const step of one.patch) applyStep(document, step)
      fs.writeFileSync(envelope, JSON.stringify(document))
    }
    for (const [name, content] of Object.entries(one.files)) {
      putFile(path.join(directory, name), content)
    }
    const judged = await judgeFile(envelope)
    return { judged, verdict: verdictOf(judged, directory) }
  } finally {
    fs.rmSync(root, { recursive: true, force: true })
  }
}

function verdictOf({ judgement, envelope }: JudgedFile, directory: string): Required<Verdict> {
  const report = makeReport(judgement, directory, envelope)
  const verified = Object.entries(report.inputs).filter(([name]) => name.startsWith('artifact_'))
  return {
    ok: judgement.ok,
    rules: [...new Set(judgement.findings.map((finding) => finding.code))].sort(),
    findings: judgement.findings.map(({ code, path, schemaCode }) =>
      schemaCode === undefined ? [code, path] : [code, path, schemaCode],
    ),
    verified: verified.map(([, input]) => input.path),
  }
}

function putFile(file: string, content: CaseFile): void {
  fs.rmSync(file, { recursive: true, force: true })
  if (content === null) return
  fs.mkdirSync(path.dirname(file), { recursive: true })
  if (typeof content === 'string') fs.writeFileSync(file, content)
  else if ('base64' in content) fs.writeFileSync(file, Buffer.from(content.base64, 'base64'))
  else fs.symlinkSync(content.symlink, file)
}

/** Applies one step of an RFC 6902 patch in place. */
function applyStep(root: unknown, { op, path, value }: PatchStep): void {
  const steps = path
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const last = steps.pop() ?? ''
  let at = root as Record<string, unknown>
  for (const step of steps) at = at[step] as Record<string, unknown>
  if (Array.isArray(at)) {
    const index = last === '-' ? at.length : Number(last)
    if (op === 'remove') at.splice(index, 1)
    else at.splice(index, op === 'add' ? 0 : 1, value)
  } else if (op === 'remove') delete at[last]
  else
    Object.defineProperty(at, last, { value, configurable: true, enumerable: true, writable: true })
}
