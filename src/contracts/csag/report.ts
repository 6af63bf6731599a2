import { randomUUID } from 'node:crypto'
import { open, realpath, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Finding } from '../../rules/rule.ts'
import { makeFolder } from '../../kernel/files.ts'
import { forgetTemporary, noteTemporary } from '../../kernel/temporaries.ts'
import { HandoffError } from '../../errors.ts'
import type { HandoffMetrics } from './document.ts'
import type { HandoffJudgement, VerifiedInput } from './handoff.ts'

/** A file of a report, its path relative to the directory of the report. */
export interface ReportInput {
  readonly path: string
  readonly sha256: string
  readonly size_bytes: number
}

/**
 * The report of the handoff profile: upstream's members in upstream's order, then hstore's `findings`, one for each
 * error, and `advisories`.
 */
export interface HandoffReport {
  readonly ok: boolean
  readonly profile: 'handoff'
  readonly validator_version: 'csag-handoff/1'
  readonly envelope_json: string | null
  readonly inputs: Readonly<Record<string, ReportInput>>
  readonly errors: readonly string[]
  readonly metrics: HandoffMetrics
  readonly findings: readonly Finding[]
  readonly advisories: readonly Finding[]
}

/**
 * Returns the report of a judgement.
 *
 * @param directory - Where the report is to lie, absolute and link-resolved: its paths start there.
 * @param envelope - The envelope as a file, where it is one.
 */
export function makeReport(
  judgement: HandoffJudgement,
  directory: string,
  envelope?: VerifiedInput,
): HandoffReport {
  const from = (file: VerifiedInput): ReportInput => ({
    path: path.posix.relative(directory, file.key),
    sha256: file.sha256,
    size_bytes: file.sizeBytes,
  })
  const inputs: Record<string, ReportInput> = {}
  if (envelope !== undefined) inputs['envelope_json'] = from(envelope)
  for (const [i, file] of judgement.inputs.entries()) {
    inputs[`artifact_${String(i + 1).padStart(3, '0')}`] = from(file)
  }
  return {
    ok: judgement.ok,
    profile: 'handoff',
    validator_version: 'csag-handoff/1',
    envelope_json: inputs['envelope_json']?.path ?? null,
    inputs,
    errors: judgement.findings.map(formatFinding),
    metrics: judgement.metrics,
    findings: judgement.findings,
    advisories: judgement.advisories,
  }
}

/** Returns the text of a report file: two spaces of indent, ASCII escapes, a line feed at the end. */
export function formatReport(report: HandoffReport): string {
  const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return `${JSON.stringify(report, null, 2).replaceAll(/[\u007f-\uffff]/g, escape)}\n`
}

/** Returns what `validate` prints: `ok`, or a line for each finding. */
export function reportLines(judgement: HandoffJudgement): string[] {
  return judgement.ok ? ['ok'] : judgement.findings.map(formatFinding)
}

/**
 * Writes the report of a judgement, whole or not at all. Makes the directories that are missing.
 *
 * @param file - Where to write it.
 * @param guarded - Absolute paths of files that must not be overwritten: the envelope and everything it names.
 * @throws {HandoffError} `HSTORE_USAGE` when `file` is one of `guarded`, `HSTORE_OUTPUT_UNWRITABLE` when it can't be
 *   written.
 */
export async function writeReport(
  file: string,
  judgement: HandoffJudgement,
  envelope: VerifiedInput | undefined,
  guarded: Iterable<string>,
): Promise<void> {
  const target = path.resolve(file)
  await assertUnguarded(file, target, guarded)
  try {
    await makeFolder(path.dirname(target))
    const directory = await realpath(path.dirname(target))
    const text = formatReport(makeReport(judgement, directory, envelope))
    await writeWhole(path.join(directory, path.basename(target)), text)
  } catch (cause) {
    throw new HandoffError(
      'HSTORE_OUTPUT_UNWRITABLE',
      `${file}: the report can't be written, choose another path`,
      { cause },
    )
  }
}

/** Compares files and not names: a link or a second name of an artifact is the artifact. */
async function assertUnguarded(
  file: string,
  target: string,
  guarded: Iterable<string>,
): Promise<void> {
  const identity = await identify(target)
  if (identity === undefined) return
  for (const path of guarded) {
    if ((await identify(path)) !== identity) continue
    throw new HandoffError(
      'HSTORE_USAGE',
      `${file}: the report would overwrite the envelope or a file that it names, choose another path`,
    )
  }
}

async function identify(file: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(file, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}

async function writeWhole(target: string, text: string): Promise<void> {
  const temporary = `${target}.${randomUUID()}.tmp`
  noteTemporary(temporary)
  try {
    await using handle = await open(temporary, 'wx')
    await handle.writeFile(text)
    await handle.sync()
    await rename(temporary, target)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  } finally {
    forgetTemporary(temporary)
  }
}

function formatFinding({ path: place, message }: Finding): string {
  return `${place ?? 'handoff'}: ${message}`
}
