import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import path from 'node:path'
import type { CidText } from '../store/cid-text.ts'
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
import { listNamedFiles } from './contracts/csag/named-files.ts'
import { makeVirtualBundle } from './contracts/csag/virtual-bundle.ts'
import { takenInByNode } from './bundle/lay-out.ts'
import { storedFiles } from './bundle/stored-files.ts'
import type { Context } from './context.ts'
import type { Entry } from './entry/entry.ts'

const nothing = async (): Promise<readonly string[]> => []

export { makeReport, reportLines, writeReport } from './contracts/csag/report.ts'

/** A verdict of the handoff profile, and the file that it is about. */
export interface Validated {
  readonly judgement: HandoffJudgement
  /** The envelope's file; undefined where there is none that can be read. */
  readonly envelope: VerifiedInput | undefined
  /** Returns the paths that a report must not overwrite: the envelope and all that it names. */
  readonly guarded: () => Promise<readonly string[]>
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
  const guarded = async (): Promise<readonly string[]> => [
    key ?? '/dev/stdin',
    ...(await listNamedFiles(judgement, bundle)),
  ]
  if (key === undefined) return { judgement, envelope: undefined, guarded }
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { judgement, envelope: { key, sha256, sizeBytes: bytes.length }, guarded }
}

/**
 * Returns the verdict on a file that can't be read: one finding, as upstream gives it.
 *
 * @param file - Its path.
 */
export function validateUnreadable(reason: string, file: string): Validated {
  return { judgement: refuseEnvelope(reason), envelope: undefined, guarded: async () => [file] }
}

/** Returns the handoff profile's verdict on an entry's document, over the files that the store holds. */
export async function validateEntry(context: Context, entry: Entry): Promise<Validated> {
  const { form } = decodeForm(await context.db.get(entry.body))
  const isSound = checkEnvelope(form).length === 0
  const taken = isSound ? await takenInByNode(context, entry) : new Set<CidText>()
  const { files } = isSound
    ? await storedFiles(context.db, form as unknown as HandoffEnvelope, taken)
    : { files: new Map() }
  const judgement = await validateHandoffDocument(form, makeVirtualBundle(files))
  return { judgement, envelope: undefined, guarded: nothing }
}
