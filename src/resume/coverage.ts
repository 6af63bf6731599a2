import type { Signer } from '../../keys/signer.ts'
import { decodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { namePrefix } from '../../store/keyspace.ts'
import type { Context } from '../context.ts'
import { getEntry } from '../context.ts'
import { lastCertificate, Unread } from '../put/plan.ts'
import { HstoreError } from '../kernel/errors.ts'
import type { Certificate } from '../graph/certificate.ts'
import { findCertificate } from '../graph/certificate.ts'

/** What an agent's last certificate covers. */
export interface Coverage {
  covers(cid: CidText): boolean
}

/**
 * Returns what this agent has verified before, down to the last block. It holds while the agent's last certificate
 * stands, the roster is the one that it was signed under, and nothing was added since to the names of the stream: a
 * second document or a restatement can turn up beside covered history at any time.
 */
export async function findCoverage(
  context: Context,
  head: CidText,
  { agent, signer }: { readonly agent: string; readonly signer: Signer | undefined },
): Promise<Coverage | undefined> {
  if (signer === undefined) return undefined
  const roster = context.trust.rosterBody
  const certificate = await findLastCertificate(context, agent, signer.did)
  if (certificate?.roster !== roster) return undefined
  // a freeze that came since may hold what was covered
  if (certificate.freezes.join() !== freezesSeen(context).join()) return undefined
  const covers = (cid: CidText): boolean =>
    context.marks.has(cid, `certified:${signer.did}:${roster}`)
  const isSeen = (cid: CidText): boolean =>
    covers(cid) || context.marks.has(cid, `seen:${signer.did}:${roster}`)
  return (await hasNewDoubles(context, head, isSeen)) ? undefined : { covers }
}

/** Returns the freezes that a judgement takes into account, sorted. */
export function freezesSeen({ trust }: Context): readonly CidText[] {
  return trust.freezes.map(({ cid }) => cid).sort()
}

async function hasNewDoubles(
  context: Context,
  head: CidText,
  isSeen: (cid: CidText) => boolean,
): Promise<boolean> {
  const entry = await unlessDamaged(() => getEntry(context, head))
  if (entry === undefined) return true
  for await (const { values } of context.db.rows('doubles', namePrefix(entry.stream))) {
    if (!values.every((cid) => isSeen(cid as CidText))) return true
  }
  return false
}

/** Returns the certificate at the tip of the agent's log, or undefined when there is none that stands. */
async function findLastCertificate(
  context: Context,
  agent: string,
  did: string,
): Promise<Certificate | undefined> {
  return unlessDamaged(async () => {
    const found = lastCertificate(context, agent, did)
    if (found instanceof Unread) await found.read(context)
    const entry = lastCertificate(context, agent, did)
    if (entry === undefined || entry instanceof Unread) return undefined
    return findCertificate(decodeForm(await context.db.get(entry.body)).form)
  })
}

/** What is damaged covers nothing; the gate and verify name it. */
async function unlessDamaged<T>(read: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof HstoreError) return undefined
    throw error
  }
}
