import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { getEntry } from '../context.ts'
import type { Tick } from '../contracts/hrc/documents.ts'
import type { Decision } from '../contracts/hrc/evaluate.ts'
import { evaluateHandoff } from '../contracts/hrc/evaluate.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { nodeKey } from '../entry/kinds.ts'
import { HstoreError } from '../kernel/errors.ts'
import { bounded } from '../kernel/shown.ts'
import { finding } from '../rules/hstore-rules.ts'
import { findLaneFinding } from '../rules/lane-rules.ts'
import type { Finding } from '../rules/rule.ts'
import { entriesOf } from '../trust/load.ts'
import { isLaneKind } from './bodies.ts'
import { ofKind } from './item.ts'
import type { Lane } from './load.ts'
import { laneNames, loadLane } from './load.ts'
import { projectSignal, projectState, projectStep } from './project.ts'
import { findEvidence, offersOf, wholeView } from './state.ts'

/** Whether an agent may go on from an entry, as the lanes have it that bind the entry. */
export interface LaneCheck {
  /** The lanes that bind the entry; none bind most. */
  readonly lanes: readonly string[]
  /** Why the agent may not, or not yet; empty where it may. */
  readonly findings: readonly Finding[]
}

/**
 * Returns whether the lanes let an agent go on from an entry: it holds the pen of one that binds the entry, or one is
 * offered to it and the offer can be delivered. A lane binds its own entries and what its offers hand over.
 *
 * @param now - When; undefined for a caller without a clock, to whom no offer is deliverable.
 */
export async function checkLanes(
  context: Context,
  entry: VerifiedEntry,
  agent: string,
  now: Tick | undefined,
): Promise<LaneCheck> {
  const lanes = await lanesOf(context, entry)
  const findings: Finding[] = []
  for (const lane of lanes) {
    const found = findBar(lane, entry, agent, now)
    if (found === undefined) return { lanes: lanes.map((one) => one.lane), findings: [] }
    findings.push(found)
  }
  // of several lanes one is enough, so what is only pending somewhere decides
  const pending = findings.filter(({ severity }) => severity === 'warning')
  return {
    lanes: lanes.map((one) => one.lane),
    findings: pending.length > 0 ? pending : findings,
  }
}

async function lanesOf(context: Context, entry: VerifiedEntry): Promise<readonly Lane[]> {
  if (isLaneKind(entry.kind)) return [await loadLane(context, entry.stream.slice('lane:'.length))]
  const twins = await twinsOf(context, entry)
  const lanes: Lane[] = []
  for (const name of await laneNames(context)) {
    if (!(await namesAny(context, name, twins))) continue
    const lane = await loadLane(context, name)
    const isBound = [...lane.folding.notes].some((cid) => {
      const handoff = ofKind(lane.folding.items.get(cid), 'proposal')?.body.handoff
      return handoff !== undefined && twins.has(handoff)
    })
    if (isBound) lanes.push(lane)
  }
  return lanes
}

/** Any entry of a node stands for it. */
async function twinsOf(context: Context, entry: VerifiedEntry): Promise<ReadonlySet<CidText>> {
  const twins = new Set([entry.cid])
  for (const cid of (context.db.readRow('bodies', entry.body) ?? []) as readonly CidText[]) {
    const other = await findEntry(context, cid)
    if (other !== undefined && nodeKey(other) === nodeKey(entry)) twins.add(cid)
  }
  return twins
}

/** Cheaper than a whole lane: what an offer hands over stands in its refs. */
async function namesAny(
  context: Context,
  lane: string,
  cids: ReadonlySet<CidText>,
): Promise<boolean> {
  for await (const cid of entriesOf(context.db, `lane:${lane}`)) {
    const entry = await findEntry(context, cid)
    if (entry?.kind === 'proposal' && entry.refs.some((ref) => cids.has(ref))) return true
  }
  return false
}

async function findEntry(context: Context, cid: CidText): Promise<VerifiedEntry | undefined> {
  try {
    return await getEntry(context, cid)
  } catch (error) {
    if (error instanceof HstoreError) return undefined
    throw error
  }
}

function findBar(
  { lane, folding }: Lane,
  entry: VerifiedEntry,
  agent: string,
  now: Tick | undefined,
): Finding | undefined {
  const view = wholeView(folding)
  const tell = (code: string, why: string): Finding | undefined =>
    findLaneFinding(code, `the lane ${bounded(lane)} ${why}`, entry.cid)
  if (view === undefined) return tell('HS4402', 'has no opening that counts')
  if (view.standing === 'contested') {
    const message = `the lane ${bounded(lane)} is contested at epoch ${view.epoch}`
    if (view.why === 'commits') return finding('HS3009', message, { cid: entry.cid })
    return tell('HS4407', `is contested at epoch ${view.epoch}`)
  }
  if (view.owner === agent) return undefined
  const ours = offersOf(folding, view).find(
    ({ item, ends }) => ends.length === 0 && item.body.target_owner_ref === agent,
  )
  if (ours === undefined) {
    return tell('BLOCKED_WRITER_NOT_OWNER', `is held by ${view.owner} at epoch ${view.epoch}`)
  }
  const signal = now === undefined ? undefined : findEvidence(folding, ours.item, now).signal
  const { status }: Decision = evaluateHandoff(
    projectState(lane, view),
    projectStep(ours.item, true),
    signal && projectSignal(signal),
    now ?? 0,
  )
  if (status === 'HANDOFF_DELIVERABLE') return undefined
  return tell(status, `is offered to ${agent} by ${ours.item.entry.cid}, which can't be delivered`)
}
