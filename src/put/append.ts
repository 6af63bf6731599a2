import type { Signer } from '../../keys/signer.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Block } from '../../store/block.ts'
import { planRows } from '../../store/indexes.ts'
import type { Context } from '../context.ts'
import type { Entry, VerifiedEntry } from '../entry/entry.ts'
import { maxLinks, maxPrev } from '../entry/entry.ts'
import { rowOf } from '../entry/row.ts'
import { seal } from '../entry/seal.ts'
import { HandoffError } from '../errors.ts'
import type { Trust } from '../trust/standing.ts'
import { assertNoCycle } from './cycle.ts'
import type { Draft } from './draft.ts'
import { planEnvelope } from './envelope-plan.ts'
import type { Plan } from './plan.ts'
import { entriesIn, Unread } from './plan.ts'

/** An entry that stands in the store, and whether this call made it. */
export interface Appended {
  readonly entry: VerifiedEntry
  readonly isNew: boolean
}

/** An entry on its way to disk. */
export interface Begun extends Appended {
  readonly written: Promise<void>
}

/**
 * Puts a draft into the store as a signed entry, synced to disk when it returns; the same document again gives the
 * entry that is there. Reading heads and tips, signing and queueing the batch happen in one go, so that two puts never
 * see the same heads.
 *
 * @throws {HandoffError} see `planEnvelope`; `HSTORE_SIGNER_UNKNOWN` when the roster gives the key no right.
 * @throws {StoreError} `HSTORE_STORE_FULL`, `HSTORE_STORE_READ_ONLY`.
 */
export async function append(context: Context, draft: Draft, signer: Signer): Promise<Appended> {
  const { written, ...appended } = await begin(context, draft, signer)
  await written
  return appended
}

/** Does what `append` does, up to the wait for the disk. */
export async function begin(context: Context, draft: Draft, signer: Signer): Promise<Begun> {
  assertRight(context, draft, signer)
  if (isRestatement(context, draft)) await assertNoOwnAncestor(context, draft, signer)
  return reading(context, () => tryAppend(context, draft, signer))
}

/** Does what `begin` does, without a wait; undefined when something has to be read first. */
export function beginNow(context: Context, draft: Draft, signer: Signer): Begun | undefined {
  assertRight(context, draft, signer)
  const begun = isRestatement(context, draft) ? undefined : tryAppend(context, draft, signer)
  return begun instanceof Unread ? undefined : begun
}

/** Only a document that is there already can become its own ancestor. */
function isRestatement(context: Context, { kind, body }: Draft): boolean {
  return kind === 'envelope' && context.db.readRow('bodies', body.cid) !== undefined
}

/** Throws what `append` would refuse, and writes nothing: for drafts whose files are costly to put in place. */
export async function rehearse(context: Context, draft: Draft, signer: Signer): Promise<void> {
  assertRight(context, draft, signer)
  await reading(context, () => planOf(context, draft, signer))
}

async function assertNoOwnAncestor(context: Context, draft: Draft, signer: Signer): Promise<void> {
  const plan = await reading(context, () => planOf(context, draft, signer))
  if (!('same' in plan)) await assertNoCycle(context, draft.body.cid, plan.parents)
}

/** Reads what `attempt` lacks until it has an answer. */
async function reading<T>(context: Context, attempt: () => T | Unread): Promise<T> {
  try {
    for (;;) {
      const answer = attempt()
      if (!(answer instanceof Unread)) return answer
      await answer.read(context)
    }
  } finally {
    context.held.clear() // another plan under way reads again what it lacks
  }
}

function planOf(context: Context, draft: Draft, { did }: Signer): Plan | Unread {
  return draft.kind === 'envelope' ? planEnvelope(context, draft, did) : planPlain(context, draft)
}

function tryAppend(context: Context, draft: Draft, signer: Signer): Unread | Begun {
  const plan = planOf(context, draft, signer)
  if (plan instanceof Unread) return plan
  if ('same' in plan)
    return { entry: plan.same, isNew: false, written: heal(context, draft, plan.same) }
  const tips = entriesIn(context, { index: 'tips', stream: draft.stream, signer: signer.did })
  if (tips instanceof Unread) return tips
  assertLinks(plan)
  const { entry, block } = seal(
    { ...payloadOf(context, draft, signer), ...plan, ...chainAfter(tips) },
    signer,
  )
  const written = context.db.commit({
    blocks: [block, draft.body, ...blocksOf(draft)],
    rows: [
      ...planRows((index, key) => context.db.readRow(index, key), rowOf(entry)),
      context.marks.madeRow(entry.cid),
    ],
  })
  context.recent.set(entry.cid, entry)
  return { entry, isNew: true, written }
}

/** Nothing is said to be stored that isn't: what damage has taken of the entry is written again. */
async function heal(context: Context, draft: Draft, same: Entry): Promise<void> {
  const needed = new Set([same.body, same.source])
  if (same.artifacts !== undefined && same.artifacts === draft.artifacts?.cid) {
    for (const { cid } of [draft.artifacts, ...draft.blocks]) needed.add(cid)
  }
  const given = [draft.body, ...blocksOf(draft)].filter(({ cid }) => needed.has(cid))
  const reads = await context.db.getMany(given.map(({ cid }) => cid))
  const blocks = given.filter((_, i) => reads[i]?.state !== 'ok')
  await (blocks.length > 0 ? context.db.commit({ blocks, rows: [] }) : context.db.flushed())
}

function assertLinks({
  parents,
  shallow,
}: {
  readonly parents: readonly unknown[]
  readonly shallow: readonly unknown[]
}): void {
  if (parents.length <= maxLinks && shallow.length <= maxLinks) return
  throw new HandoffError(
    'HSTORE_INPUT_TOO_LARGE',
    `an entry has at most ${maxLinks} parents: merge in steps`,
  )
}

function planPlain(context: Context, draft: Draft): Plan | Unread {
  const carriers = entriesIn(context, { index: 'bodies', body: draft.body.cid })
  if (carriers instanceof Unread) return carriers
  const parents = [...draft.parents].sort()
  const same = carriers.find(
    (entry) =>
      entry.stream === draft.stream &&
      entry.kind === draft.kind &&
      entry.author === draft.author &&
      entry.parents.join() === parents.join() &&
      context.trust.standingOf(entry).standing === 'valid',
  )
  return same === undefined ? { parents, shallow: [], refs: [...draft.refs].sort() } : { same }
}

/** Returns where an entry stands in its signer's chain, behind the tips that the store holds. */
export function chainAfter(tips: readonly Entry[]): {
  readonly prev: readonly CidText[]
  readonly seq: number
} {
  const latest = [...tips]
    .sort((a, b) => b.seq - a.seq || (a.cid < b.cid ? -1 : 1))
    .slice(0, maxPrev)
  return { prev: latest.map(({ cid }) => cid).sort(), seq: 1 + (latest[0]?.seq ?? 0) }
}

function payloadOf(context: Context, draft: Draft, signer: Signer) {
  return {
    artifacts: draft.artifacts?.cid,
    author: draft.author,
    body: draft.body.cid,
    kind: draft.kind,
    name: draft.name,
    roster: context.trust.rosterBody,
    signer: signer.did,
    source: draft.source?.cid,
    store: context.trust.genesis,
    stream: draft.stream,
    witness: draft.witness,
  }
}

function blocksOf(draft: Draft): Block[] {
  return [draft.artifacts, draft.source, ...draft.blocks].filter((block) => block !== undefined)
}

/**
 * Throws `HSTORE_SIGNER_UNKNOWN` when the roster gives the key no right: an entry that this store would not hold valid
 * is never made, and `HSTORE_ROSTER_CONFLICT` when two rosters stand against each other. Rosters are judged by their
 * succession instead.
 */
export function assertRight(
  context: Context,
  { author, kind, stream }: Pick<Draft, 'author' | 'kind' | 'stream'>,
  { did }: Signer,
): void {
  if (kind === 'roster') return
  assertOneRoster(context.trust)
  const bar = context.trust.findBar({ author, kind, signer: did, stream })
  if (bar === undefined) return
  throw new HandoffError(
    'HSTORE_SIGNER_UNKNOWN',
    `${author} can't sign ${kind} in ${stream} with ${did}: ${bar}; a root adds a key with hstore roster add`,
    { details: { signer: did } },
  )
}

/** Throws `HSTORE_ROSTER_CONFLICT` when two rosters stand against each other: nothing is signed under either. */
export function assertOneRoster({ fork, rosterBody }: Trust): void {
  if (fork.length === 0) return
  throw new HandoffError(
    'HSTORE_ROSTER_CONFLICT',
    `two rosters are accepted after ${rosterBody} (${fork.join(', ')}): nothing is signed until the roots decide`,
    { details: { fork } },
  )
}
