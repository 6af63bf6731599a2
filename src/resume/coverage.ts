import type { Signer } from '../../keys/signer.ts'
import { decodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { lastCertificate, Unread } from '../put/plan.ts'
import { HstoreError } from '../kernel/errors.ts'
import type { Certificate } from './certificate.ts'
import { findCertificate } from './certificate.ts'

/** What an agent's last certificate covers. */
export interface Coverage {
  covers(cid: CidText): boolean
}

/**
 * Returns what this agent has verified before, down to the last block: it holds only while the agent's last
 * certificate stands and the roster is the one that it was signed under, since trust is computed and never remembered.
 */
export async function findCoverage(
  context: Context,
  { agent, signer }: { readonly agent: string; readonly signer: Signer | undefined },
): Promise<Coverage | undefined> {
  if (signer === undefined) return undefined
  const certificate = await findLastCertificate(context, agent, signer.did)
  if (certificate?.roster !== context.trust.rosterBody) return undefined
  return { covers: (cid) => context.marks.has(cid, `certified:${signer.did}`) }
}

/** Returns the certificate at the tip of the agent's log, or undefined when there is none that stands. */
async function findLastCertificate(
  context: Context,
  agent: string,
  did: string,
): Promise<Certificate | undefined> {
  try {
    const found = lastCertificate(context, agent, did)
    if (found instanceof Unread) await found.read(context)
    const entry = lastCertificate(context, agent, did)
    if (entry === undefined || entry instanceof Unread) return undefined
    return findCertificate(decodeForm(await context.db.get(entry.body)).form)
  } catch (error) {
    // what is damaged covers nothing; the gate and verify name it
    if (error instanceof HstoreError) return undefined
    throw error
  }
}
