import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { decodeForm } from '../store/canonical.ts'
import { openDirectoryBundle } from './contracts/csag/directory-bundle.ts'
import type { HandoffEnvelope } from './contracts/csag/document.ts'
import type { HandoffJudgement, VerifiedInput } from './contracts/csag/handoff.ts'
import {
  refuseEnvelope,
  validateHandoff,
  validateHandoffDocument,
} from './contracts/csag/handoff.ts'
import { checkEnvelope } from './contracts/csag/schema.ts'
import { makeVirtualBundle } from './contracts/csag/virtual-bundle.ts'
import { takenInByNode } from './bundle/lay-out.ts'
import { storedFiles } from './bundle/stored-files.ts'
import type { Context } from './context.ts'
import type { Entry } from './entry/entry.ts'

export type { HandoffReport } from './contracts/csag/report.ts'
export { makeReport, reportLines, writeReport } from './contracts/csag/report.ts'

/** A verdict of the handoff profile, and the file that it is about. */
export interface Validated {
  readonly judgement: HandoffJudgement
  /** The envelope's file; undefined where there is none that can be read. */
  readonly envelope: VerifiedInput | undefined
}

/**
 * Returns the handoff profile's verdict on a file's bytes. Needs no store, key or agent.
 *
 * @param file - The path that the bytes are from; undefined for a stream.
 * @param folder - Where the envelope's files are; the file's own folder, links followed, when absent.
 */
export async function validateFile(
  bytes: Uint8Array,
  file: string | undefined,
  folder: string | undefined,
): Promise<Validated> {
  const key = file === undefined ? undefined : await realpath(file)
  const bundle = await openDirectoryBundle(folder ?? (key === undefined ? '.' : path.dirname(key)))
  const judgement = await validateHandoff(bytes, bundle)
  if (key === undefined) return { judgement, envelope: undefined }
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { judgement, envelope: { key, sha256, sizeBytes: bytes.length } }
}

/** Returns the verdict on a file that can't be read: one finding, as upstream gives it. */
export function validateUnreadable(reason: string): Validated {
  return { judgement: refuseEnvelope(reason), envelope: undefined }
}

/** Returns the handoff profile's verdict on an entry's document, over the files that the store holds. */
export async function validateEntry(context: Context, entry: Entry): Promise<Validated> {
  const { form } = decodeForm(await context.db.get(entry.body))
  const files =
    checkEnvelope(form).length > 0
      ? new Map()
      : (
          await storedFiles(
            context.db,
            form as unknown as HandoffEnvelope,
            await takenInByNode(context, entry),
          )
        ).files
  return {
    judgement: await validateHandoffDocument(form, makeVirtualBundle(files)),
    envelope: undefined,
  }
}
