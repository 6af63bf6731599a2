import type { Signer } from '../../keys/signer.ts'
import type { Block } from '../../store/block.ts'
import { HashedBlock } from '../../store/block.ts'
import { encodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { getEntry, groundIn, reloadTrust } from '../context.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { HandoffError } from '../errors.ts'
import { assertReadable, rosterDraft } from '../init.ts'
import { HstoreError } from '../kernel/errors.ts'
import { append, assertOneRoster } from '../put/append.ts'
import { rosterEntries } from '../trust/load.ts'
import { findRoster } from '../trust/read-roster.ts'
import { findForgotten } from '../trust/succession.ts'
import type { Roster } from '../trust/roster.ts'
import { holdersAmong, rosterForm } from '../trust/roster.ts'

/** A next version that some roots have signed, and what it still lacks. */
export interface Candidate {
  readonly body: CidText
  readonly version: number
  /** The holders who have signed, as one of the two rosters names them. */
  readonly signed: readonly string[]
  /** How many more holders of the roster before have to sign, and how many of its own. */
  readonly lacks: number
  readonly lacksOwn: number
  readonly roster: Roster
  /** The dids that have signed. */
  readonly signers: readonly string[]
}

/** Returns the version that follows a roster, to be changed. */
export function successorOf({ roster, rosterBody }: Context['trust']): Roster {
  return { ...roster, nonce: undefined, prev: rosterBody, version: roster.version + 1 }
}

/**
 * Signs a next version of the roster; with enough signatures it is accepted at once.
 *
 * @param cuts - The cuts that it is the first to name.
 * @param isInstead - Whether it is signed although the signer has signed another with its number.
 * @returns Its body, accepted or not.
 * @throws {HandoffError} `HSTORE_SIGNER_UNKNOWN` when `signer` is a root of neither; `HSTORE_ROSTER_CONFLICT` when it
 * forgets something, the signer has signed another, or another version stands against it; `HSTORE_USAGE` when no reader would take it.
 */
export async function submit(
  context: Context,
  signer: Signer,
  next: Roster,
  cuts: readonly Block[],
  isInstead: boolean,
): Promise<CidText> {
  const { trust } = context
  assertOneRoster(trust)
  assertRoot([trust.roster, next], signer)
  assertReadable(next)
  const forgotten = findForgotten(trust.roster, next)
  if (forgotten !== undefined) throw new HandoffError('HSTORE_ROSTER_CONFLICT', forgotten)
  const body = HashedBlock.of(encodeForm(rosterForm(next)), 'dag-json')
  const parents = (context.db.readRow('bodies', trust.rosterBody) ?? []) as CidText[]
  const signed = (await candidatesOf(context)).filter(({ signers }) => signers.includes(signer.did))
  if (signed.every((one) => one.body !== body.cid)) {
    if (!isInstead) assertFirst(signed, signer, body.cid)
    await append(context, rosterDraft(signer, body, next.version, parents, cuts), signer)
  }
  await reloadTrust(context)
  const { fork, rosterBody } = context.trust
  if (fork.length === 0 && (rosterBody === body.cid || rosterBody === trust.rosterBody))
    return body.cid
  throw new HandoffError(
    'HSTORE_ROSTER_CONFLICT',
    `version ${next.version} was signed and is not accepted: another stands against it`,
    { details: { fork } },
  )
}

/** Two versions of one number that a root has signed may be accepted against each other, and stop everything. */
function assertFirst([one]: readonly Candidate[], { did }: Signer, body: CidText): void {
  if (one === undefined) return
  throw new HandoffError(
    'HSTORE_ROSTER_CONFLICT',
    `${did} has signed ${one.body} as version ${one.version}, and would sign ${body} as another: add --instead to sign both`,
    { details: { cids: [one.body, body] } },
  )
}

/** Throws `HSTORE_SIGNER_UNKNOWN` when the signer is a root of none of the rosters. */
export function assertRoot(rosters: readonly Roster[], { did }: Signer): void {
  const roots = rosters.flatMap((roster) => roster.roots)
  if (roots.some((root) => root.did === did)) return
  const told = [...new Set(roots.map((root) => `${root.holder} ${root.did}`))].join(', ')
  throw new HandoffError(
    'HSTORE_SIGNER_UNKNOWN',
    `${did} is no root: only ${told} may change the roster`,
  )
}

/** Returns the versions that would follow the highest accepted one and lack signatures. */
export async function candidatesOf(context: Context): Promise<readonly Candidate[]> {
  const signers = new Map<CidText, Set<string>>()
  for (const cid of await rosterEntries(context.db)) {
    const entry = await findEntry(context, cid)
    if (entry?.kind !== 'roster' || entry.author !== entry.signer) continue
    signers.set(entry.body, (signers.get(entry.body) ?? new Set()).add(entry.signer))
  }
  const found: Candidate[] = []
  for (const [body, dids] of signers) {
    const candidate = candidateOf(context, body, dids)
    if (candidate !== undefined) found.push(candidate)
  }
  return found.sort((a, b) => (a.body < b.body ? -1 : 1))
}

/** Returns the candidate with a body; undefined when none of the store's has it. */
export async function findCandidate(
  context: Context,
  body: CidText,
): Promise<Candidate | undefined> {
  return (await candidatesOf(context)).find((candidate) => candidate.body === body)
}

function candidateOf(
  { db, marks, trust }: Context,
  body: CidText,
  signers: ReadonlySet<string>,
): Candidate | undefined {
  const form = groundIn(db, marks).findForm(body)
  const roster = typeof form === 'string' ? undefined : findRoster(form)
  if (roster?.prev !== trust.rosterBody || findForgotten(trust.roster, roster) !== undefined)
    return undefined
  const [before, own] = [trust.roster, roster].map((one) => holdersAmong(one, signers))
  return {
    body,
    version: roster.version,
    signed: [...new Set([...before!, ...own!])].sort(),
    lacks: Math.max(0, trust.roster.threshold - before!.size),
    lacksOwn: Math.max(0, roster.threshold - own!.size),
    roster,
    signers: [...signers],
  }
}

/** What can't be read counts for nothing; `verify` names it. */
async function findEntry(context: Context, cid: CidText): Promise<VerifiedEntry | undefined> {
  try {
    return await getEntry(context, cid)
  } catch (error) {
    if (error instanceof HstoreError) return undefined
    throw error
  }
}
