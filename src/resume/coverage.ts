import type { Signer } from '../../keys/signer.ts'
import { decodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { tipKey } from '../../store/keyspace.ts'
import type { Context } from '../context.ts'
import { getEntry } from '../context.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
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
  const entry = await findLastCertificateEntry(context, agent, did)
  return entry === undefined
    ? undefined
    : standing(async () => findCertificate(decodeForm(await context.db.get(entry.body)).form))
}

/** Returns the entry at the tip of the agent's log when it is a certificate that stands. */
export async function findLastCertificateEntry(
  context: Context,
  agent: string,
  did: string,
): Promise<VerifiedEntry | undefined> {
  const tips = (context.db.readRow('tips', tipKey(`log:${did}`, did)) ?? []) as CidText[]
  if (tips.length !== 1) return undefined
  const entry = await standing(() => getEntry(context, tips[0]!))
  const isOurs = entry?.kind === 'certificate' && entry.author === agent && entry.signer === did
  return isOurs && context.trust.standingOf(entry).standing === 'valid' ? entry : undefined
}

/** What is damaged covers nothing; the gate and verify name it. */
async function standing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof HstoreError) return undefined
    throw error
  }
}
