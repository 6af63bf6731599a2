import type { Signer } from '../../keys/signer.ts'
import { HashedBlock } from '../../store/block.ts'
import { encodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { StoreError } from '../../store/errors.ts'
import { planRows } from '../../store/indexes.ts'
import { tipKey } from '../../store/keyspace.ts'
import type { Context } from '../context.ts'
import type { Decision, HrcStatus } from '../contracts/hrc/evaluate.ts'
import type { Entry, VerifiedEntry } from '../entry/entry.ts'
import { maxLinks } from '../entry/entry.ts'
import { rowOf } from '../entry/row.ts'
import { seal } from '../entry/seal.ts'
import { HandoffError } from '../errors.ts'
import { assertRight, chainAfter } from '../put/append.ts'
import { hrcRules } from '../rules/hrc-rules.ts'
import type { LaneBody, Observed } from './bodies.ts'
import { laneForm, nameOf, refsOf } from './bodies.ts'
import type { LaneFault } from './judge-node.ts'
import type { Lane } from './load.ts'
import { findFault, laneStream, loadLane, signedBefore } from './load.ts'
import { readDigest } from './observed.ts'
import { wholeView } from './state.ts'
import type { View } from './view.ts'

/** Who acts. */
export interface LaneActor {
  readonly agent: string
  readonly signer: Signer
}

/** What an act is planned on. */
export interface Situation {
  readonly lane: Lane
  readonly view: View
  readonly agent: string
  readonly signer: string
  /** What this store has handed to the agent. */
  readonly read: ReadonlySet<CidText>
  /** Returns what the agent's next entry signs as read. */
  observe(): Observed
}

/** An answer that is none of HRC's: the entry stands, and HRC has no status for it. */
export interface Recorded {
  readonly status: 'RECORDED'
  readonly detail: Decision['detail']
}

/** What an act comes to: an entry to make, one that is there and says the same, or a no. */
export type LanePlan =
  | { readonly make: LaneBody; readonly parents: readonly CidText[]; readonly answer: LaneAnswer }
  | { readonly same: CidText; readonly answer: LaneAnswer }
  | { readonly refused: Decision; readonly why?: string }

/** HRC's answer, or that the entry stands. */
export type LaneAnswer = Decision | Recorded

/** What came of an act. */
export interface LaneReport {
  readonly lane: string
  readonly stream: string
  readonly status: LaneAnswer['status']
  readonly detail: Decision['detail']
  /** What stands in the way, in words, where the status does not say it all; null where it does. */
  readonly why: string | null
  /** The entry; null where none was made. */
  readonly cid: CidText | null
  /** False when the entry was there already. */
  readonly new: boolean
}

/**
 * Plans an act on a lane and makes its entry, synced to disk when it returns. The plan sees the lane as it is when the
 * batch is queued: nothing comes in between. What would not count is not written.
 *
 * @throws {HandoffError} `HSTORE_USAGE` for the name of a lane, `HSTORE_SIGNER_UNKNOWN` without a right; what `plan`
 * throws.
 * @throws {StoreError} `HSTORE_STORE_FULL`, `HSTORE_STORE_READ_ONLY`.
 */
export async function act(
  context: Context,
  name: string,
  actor: LaneActor,
  plan: (situation: Situation) => LanePlan,
): Promise<LaneReport> {
  for (;;) {
    const before = stampOf(context, laneStream(name))
    const lane = await loadLane(context, name)
    if (stampOf(context, lane.stream) !== before) continue
    const begun = begin(context, lane, actor, plan)
    await begun.written
    return begun.report
  }
}

/** What changes whenever an entry comes in that could count: the ends of the chains of all known keys. */
function stampOf({ db, trust }: Context, stream: string): string {
  const tips = trust.roster.agents.flatMap(({ keys }) =>
    keys.map(({ did }) => db.readRow('tips', tipKey(stream, did))),
  )
  return JSON.stringify([trust.rosterBody, ...tips])
}

function begin(
  context: Context,
  lane: Lane,
  actor: LaneActor,
  plan: (situation: Situation) => LanePlan,
): { readonly report: LaneReport; readonly written: Promise<void> } {
  const { agent, signer } = actor
  const { graph } = lane.readable
  const through = context.marks.readThrough(agent, lane.stream).filter((cid) => graph.has(cid))
  const chain = chainAfter(tipsOf(context, lane, signer.did))
  const planned = plan({
    lane,
    view: wholeView(lane.folding),
    agent,
    signer: signer.did,
    read: new Set(graph.reach(through)),
    observe: () => observe(lane, signer.did, through, chain.prev),
  })
  const { lane: name, stream } = lane
  if ('refused' in planned) {
    const { refused, why = null } = planned
    const report = { lane: name, stream, ...refused, why, cid: null, new: false }
    return { report, written: Promise.resolve() }
  }
  if ('same' in planned) {
    const { answer, same: cid } = planned
    const report = { lane: name, stream, ...answer, why: null, cid, new: false }
    return { report, written: context.db.flushed() }
  }
  const made = make(context, lane, actor, { ...planned, chain })
  const fault = findFault(lane, made.entry, planned.make)
  // a takeover waits for the other roots
  if (fault !== undefined && fault.code !== 'HS4408') {
    const refused = {
      status: blockedBy(fault),
      detail: fault.detail,
      why: `the entry ${fault.why}`,
    }
    const report = { lane: name, stream, ...refused, cid: null, new: false }
    return { report, written: Promise.resolve() }
  }
  const { entry, written } = write(context, lane, actor, { ...made, through })
  const { answer } = planned
  const report = { lane: name, stream, ...answer, why: null, cid: entry.cid, new: true }
  return { report, written }
}

function tipsOf({ db }: Context, { entries, stream }: Lane, did: string): readonly Entry[] {
  const tips = (db.readRow('tips', tipKey(stream, did)) ?? []) as readonly CidText[]
  return tips.map((cid) => {
    const entry = entries.get(cid)
    if (entry !== undefined) return entry
    throw new StoreError('HSTORE_STORE_DAMAGED', `${cid} is not to be had: run hstore fsck`, {
      details: { cid },
    })
  })
}

function observe(
  lane: Lane,
  did: string,
  through: readonly CidText[],
  prev: readonly CidText[],
): Observed {
  const held = readDigest(lane.readable, did, through, signedBefore(lane, did, prev))
  if (held !== undefined) return { held, through }
  throw new StoreError(
    'HSTORE_STORE_DAMAGED',
    `what was read of ${lane.stream} is not to be had any more: run hstore fsck`,
  )
}

/** Returns HRC's status for why an entry would not count; throws where HRC has none. */
function blockedBy({ code, why }: LaneFault): HrcStatus {
  if (isHrcStatus(code)) return code
  const told = `the entry ${why} (${code}); it knows what its author has read with hstore lane read, and nothing was written`
  if (code === 'HS3009') throw new HandoffError('HSTORE_EQUIVOCATION', told)
  if (code === 'HS4407') throw new HandoffError('HSTORE_LANE_CONTESTED', told)
  throw new HandoffError('HSTORE_LANE_REFUSED', told)
}

const hrcCodes: ReadonlySet<string> = new Set(hrcRules.map(({ code }) => code))

function isHrcStatus(code: string): code is HrcStatus {
  return hrcCodes.has(code)
}

interface Draft {
  readonly make: LaneBody
  readonly parents: readonly CidText[]
  readonly chain: ReturnType<typeof chainAfter>
}

interface Made {
  readonly entry: VerifiedEntry
  readonly blocks: readonly HashedBlock[]
}

function make(
  context: Context,
  { stream }: Lane,
  { agent, signer }: LaneActor,
  { make: laneBody, parents, chain }: Draft,
): Made {
  assertRight(context, { author: agent, kind: laneBody.kind, stream }, signer)
  if (parents.length > maxLinks) {
    const why = `an entry has at most ${maxLinks} parents, and this one would have ${parents.length}`
    throw new HandoffError('HSTORE_INPUT_TOO_LARGE', `${why}: nothing was written`)
  }
  const body = HashedBlock.of(encodeForm(laneForm(laneBody)), 'dag-json')
  const { entry, block } = seal(
    {
      artifacts: undefined,
      author: agent,
      body: body.cid,
      kind: laneBody.kind,
      name: nameOf(laneBody),
      parents: [...parents].sort(),
      refs: refsOf(laneBody),
      roster: context.trust.rosterBody,
      shallow: [],
      signer: signer.did,
      source: undefined,
      store: context.trust.genesis,
      stream,
      witness: false,
      ...chain,
    },
    signer,
  )
  return { entry, blocks: [block, body] }
}

function write(
  context: Context,
  lane: Lane,
  { agent }: LaneActor,
  { entry, blocks, through }: Made & { readonly through: readonly CidText[] },
): { readonly entry: VerifiedEntry; readonly written: Promise<void> } {
  const cursor = throughAfter(lane, through, entry)
  const written = context.db.commit({
    blocks: [...blocks],
    rows: [
      ...planRows((index, key) => context.db.readRow(index, key), rowOf(entry)),
      context.marks.madeRow(entry.cid),
      ...(cursor === undefined ? [] : [context.marks.readRow(agent, lane.stream, cursor)]),
    ],
  })
  context.recent.set(entry.cid, entry)
  return { entry, written }
}

/** What an agent writes it has read, unless it follows what it has not. */
function throughAfter(
  { readable: { graph } }: Lane,
  through: readonly CidText[],
  { cid, parents, prev }: Entry,
): readonly CidText[] | undefined {
  const links = [...parents, ...prev]
  if (graph.reached(through, links).size < new Set(links).size) return undefined
  return [...through.filter((end) => !links.includes(end)), cid].sort()
}
