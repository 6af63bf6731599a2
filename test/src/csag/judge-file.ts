import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { Bundle } from '../../../src/contracts/csag/bundle.ts'
import { openDirectoryBundle } from '../../../src/contracts/csag/directory-bundle.ts'
import type { HandoffJudgement, VerifiedInput } from '../../../src/contracts/csag/handoff.ts'
import { refuseEnvelope, validateHandoff } from '../../../src/contracts/csag/handoff.ts'
import { listNamedFiles } from '../../../src/contracts/csag/named-files.ts'
import { writeReport } from '../../../src/contracts/csag/report.ts'

export interface JudgedFile {
  readonly judgement: HandoffJudgement
  readonly envelope: VerifiedInput | undefined
  readonly bundle: Bundle
}

/** Judges an envelope file over the directory that holds it, as `hstore validate` does. */
export async function judgeFile(file: string): Promise<JudgedFile> {
  if (!fs.statSync(file, { throwIfNoEntry: false })?.isFile()) {
    const bundle = await openDirectoryBundle(path.dirname(file))
    return { judgement: refuseEnvelope('there is no file'), envelope: undefined, bundle }
  }
  const key = fs.realpathSync(file)
  const bytes = new Uint8Array(fs.readFileSync(key))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const bundle = await openDirectoryBundle(path.dirname(key))
  const judgement = await validateHandoff(bytes, bundle)
  return { judgement, envelope: { key, sha256, sizeBytes: bytes.length }, bundle }
}

/** Writes the report of a judged file, guarding the envelope and all that it names. */
export async function reportFile(file: string, judged: JudgedFile): Promise<void> {
  const { judgement, envelope, bundle } = judged
  const named = await listNamedFiles(judgement, bundle)
  const guarded = envelope === undefined ? named : [envelope.key, ...named]
  await writeReport(file, judgement, envelope, guarded)
}
