import { realpath } from 'node:fs/promises'
import path from 'node:path'
import type { Bundle, BundleFile } from './bundle.ts'
import { openDirectoryBundle } from './directory-bundle.ts'
import { splitEnvironment } from './document.ts'
import type { HandoffJudgement } from './handoff.ts'
import { MAX_ENVELOPE_BYTES, refuseEnvelope, validateHandoff } from './handoff.ts'
import { parseLocator } from './locator.ts'
import { isObject } from './paper.ts'
import { hashRegularFile, readRegularFile } from './regular-file.ts'
import { writeReport } from './report.ts'

/** A judgement of an envelope that is a file. */
export interface FileJudgement {
  readonly judgement: HandoffJudgement
  /** The envelope, link-resolved; undefined where there is no regular file that can be read. */
  readonly envelope: BundleFile | undefined
  readonly bundle: Bundle | undefined
}

/**
 * Returns the verdict on the envelope in `file`. Its bundle is the directory that holds it once links are followed.
 *
 * @param bundleDirectory - Another directory to look for the files in.
 * @throws {HandoffError} `HSTORE_INPUT_UNREADABLE` when `bundleDirectory` is given and is no directory.
 */
export async function validateHandoffFile(
  file: string,
  bundleDirectory?: string,
): Promise<FileJudgement> {
  const key = await realpath(file).catch(() => undefined)
  const envelope = key === undefined ? undefined : await hashRegularFile(key)
  if (envelope === undefined) {
    const judgement = refuseEnvelope('there is no regular file that can be read')
    return { judgement, envelope, bundle: undefined }
  }
  const bundle = await openDirectoryBundle(bundleDirectory ?? path.dirname(envelope.key))
  const bytes = await readRegularFile(envelope, MAX_ENVELOPE_BYTES)
  if (bytes === undefined) {
    const isLarge = envelope.sizeBytes > MAX_ENVELOPE_BYTES
    const reason = isLarge ? 'larger than 64 MiB' : 'the file changed while it was read'
    return { judgement: refuseEnvelope(reason), envelope, bundle }
  }
  return { judgement: await validateHandoff(bytes, bundle), envelope, bundle }
}

/**
 * Writes the report of an envelope file to `file`.
 *
 * @throws {HandoffError} `HSTORE_USAGE` when `file` is the envelope or a file that it names, be the envelope valid or
 *   not; `HSTORE_OUTPUT_UNWRITABLE` when it can't be written.
 */
export async function writeFileReport(file: string, judged: FileJudgement): Promise<void> {
  const { judgement, envelope, bundle } = judged
  const guarded = new Set(judgement.localFiles.map((local) => local.key))
  if (envelope !== undefined) guarded.add(envelope.key)
  for (const text of findLocators(judgement.input?.value)) {
    const locator = parseLocator(text)
    if (locator.kind !== 'local') continue
    const answer = await bundle?.locate(locator.segments)
    if (answer?.kind === 'file') guarded.add(answer.file.key)
  }
  await writeReport(file, judgement, envelope, guarded)
}

/** Also finds the locators of a document that is no valid envelope: its files are somebody's as well. */
function* findLocators(document: unknown): Generator<string, void> {
  if (!isObject(document)) return
  yield* findRecordLocators(document['source_artifacts'])
  for (const execution of objectsOf(document['executions'])) {
    yield* findRecordLocators(execution['inputs'])
    yield* findRecordLocators(execution['outputs'])
    const { environment } = execution
    if (typeof environment === 'string') yield splitEnvironment(environment).locator
  }
}

function* findRecordLocators(list: unknown): Generator<string, void> {
  for (const { artifact_path: locator } of objectsOf(list)) {
    if (typeof locator === 'string') yield locator
  }
}

function objectsOf(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isObject) : []
}
