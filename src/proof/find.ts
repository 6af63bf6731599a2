import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { getEntry } from '../context.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { HandoffError } from '../errors.ts'
import { cidsIn } from '../graph/index-row.ts'
import { resolveEntryCid } from '../graph/ref.ts'
import { HstoreError } from '../kernel/errors.ts'
import { encodeProof, readProof } from './proof.ts'
import type { ProofReport } from './report.ts'
import { reportOf } from './report.ts'

/** A proof and what it comes to. */
export interface FoundProof {
  readonly report: ProofReport
  /** Its file. */
  readonly file: Uint8Array
}

/**
 * Returns the proofs against the name of an entry: each other entry that the store holds under it and that gives it
 * another meaning. What is proven comes first.
 *
 * @throws {HandoffError} `HSTORE_REF_NOT_FOUND`.
 */
export async function proofsOf(context: Context, ref: string): Promise<readonly FoundProof[]> {
  const found = new Map<string, FoundProof>()
  for (const cid of await entriesNamed(context, ref)) {
    const entry = await getEntry(context, cid)
    const { stream, name } = entry
    if (name === undefined) continue
    for (const other of cidsIn(context, { index: 'names', stream, name })) {
      const proof = other === cid ? undefined : await proofOf(context, entry, other)
      if (proof !== undefined) found.set([cid, other].sort().join(), proof)
    }
  }
  return [...found.values()].sort((a, b) => a.report.exit - b.report.exit)
}

/** A name that is given twice is no REF, and the refusal names what has it. */
async function entriesNamed(context: Context, ref: string): Promise<readonly CidText[]> {
  try {
    return [await resolveEntryCid(context, ref)]
  } catch (error) {
    if (!(error instanceof HandoffError)) throw error
    const named = error.details['cids'] ?? error.details['candidates']
    if (Array.isArray(named)) return named as CidText[]
    throw error
  }
}

async function proofOf(
  context: Context,
  entry: VerifiedEntry,
  other: CidText,
): Promise<FoundProof | undefined> {
  const rival = await findEntry(context, other)
  if (rival === undefined || rival.kind !== entry.kind || rival.body === entry.body)
    return undefined
  const blocks = await Promise.all([context.db.get(entry.cid), context.db.get(other)])
  const bodies =
    entry.kind === 'lane-commit'
      ? await Promise.all([context.db.get(entry.body), context.db.get(rival.body)])
      : undefined
  const file = encodeProof(blocks, bodies)
  const report = reportOf(readProof(file), context.trust)
  // what the roster does not let count is shown; what never was a proof is not
  const isNone =
    report.proves === null && report.entries.every(({ standing }) => standing === 'valid')
  return isNone ? undefined : { report, file }
}

/** What can't be read proves nothing; `verify` names it. */
async function findEntry(context: Context, cid: CidText): Promise<VerifiedEntry | undefined> {
  try {
    return await getEntry(context, cid)
  } catch (error) {
    if (error instanceof HstoreError) return undefined
    throw error
  }
}
