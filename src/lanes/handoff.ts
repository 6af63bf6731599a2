import { checkArtifact } from '../../store/artifacts.ts'
import { decodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { codecOf } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { getEntry } from '../context.ts'
import { HandoffError } from '../errors.ts'
import { findArtifacts } from '../graph/body.ts'
import { resolveRef } from '../graph/ref.ts'
import { HstoreError } from '../kernel/errors.ts'
import { refusal } from './acts.ts'

const workKinds: ReadonlySet<string> = new Set(['envelope', 'turn'])

/**
 * Returns the entry that is to be handed over, which has to be here with its document and every file that it promises.
 *
 * @throws {HandoffError} `HSTORE_LANE_REFUSED` naming what is not there, or what the REF is instead of work.
 */
export async function findHandoff(context: Context, ref: string): Promise<CidText> {
  const cid = await resolveRef(context, ref).catch((cause: unknown) => {
    if (!(cause instanceof HandoffError) || cause.code !== 'HSTORE_REF_NOT_FOUND') throw cause
    throw new HandoffError('HSTORE_LANE_REFUSED', cause.message, { cause, details: { ref } })
  })
  if (codecOf(cid) === 'raw') throw notWork(cid, 'artifact')
  const entry = await getEntry(context, cid)
  if (!workKinds.has(entry.kind)) throw notWork(cid, entry.kind)
  await assertThere(context, entry.body, `the document of ${cid}`)
  if (entry.artifacts === undefined) return cid
  const list = await assertThere(context, entry.artifacts, `the list of files of ${cid}`)
  for (const artifact of findArtifacts(decodeForm(list).form) ?? []) {
    const state = await checkArtifact(context.db, artifact)
    if (state !== 'ok') throw absent(artifact, `a file that ${cid} promises is ${state}`)
  }
  return cid
}

/**
 * Returns the CID of the entry of a lane that a REF names.
 *
 * @throws {HandoffError} `HSTORE_LANE_REFUSED` where it is of another kind: what was found and what is asked for.
 */
export async function findNamed(context: Context, ref: string, kind: string): Promise<CidText> {
  const cid = await resolveRef(context, ref)
  const found = codecOf(cid) === 'raw' ? 'artifact' : (await getEntry(context, cid)).kind
  if (found === kind) return cid
  throw refusal(`${cid} is of kind ${found}: a ${kind} is asked for`, { cid })
}

function notWork(cid: CidText, kind: string): HandoffError {
  return refusal(`${cid} is of kind ${kind}: an envelope or a turn is handed over`, { cid })
}

async function assertThere(context: Context, cid: CidText, what: string): Promise<Uint8Array> {
  try {
    return await context.db.get(cid)
  } catch (error) {
    if (error instanceof HstoreError) throw absent(cid, `${what} is not to be had`)
    throw error
  }
}

function absent(cid: CidText, why: string): HandoffError {
  return refusal(`${cid} is not to be had: ${why}; an offer names nothing that is not here`, {
    cid,
  })
}
