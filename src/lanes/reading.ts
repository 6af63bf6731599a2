import { decodeForm } from '../../store/canonical.ts'
import type { JsonForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { unknownLane } from './acts.ts'
import { LinkGraph } from './graph.ts'
import type { Lane } from './load.ts'
import { loadLane } from './load.ts'

/** An entry of a lane as it is handed to a reader. */
export interface LaneEntryRead {
  readonly cid: CidText
  readonly kind: string
  readonly author: string
  readonly parents: readonly CidText[]
  /** The document in its DAG-JSON form. */
  readonly body: JsonForm
  /** Why it does not count; null where it does. */
  readonly problem: string | null
}

/** What was handed to an agent. */
export interface LaneReading {
  readonly lane: string
  readonly stream: string
  /** The agent. */
  readonly agent: string
  /** What it had not read, in an order in which each follows what it rests on. */
  readonly entries: readonly LaneEntryRead[]
  /** The ends of what it has read by now, sorted. */
  readonly through: readonly CidText[]
}

/**
 * Hands an agent what it has not read of a lane, and notes that it has once `hand` has taken it: the one way in which
 * the store counts anything of a lane as read.
 *
 * @throws {HandoffError} `HSTORE_REF_NOT_FOUND` for a lane that has no entries.
 */
export async function readLane(
  context: Context,
  name: string,
  agent: string,
  hand: (reading: LaneReading) => Promise<void> | void,
): Promise<LaneReading> {
  const lane = await loadLane(context, name)
  if (lane.entries.size === 0) throw unknownLane(name)
  const { graph } = lane.readable
  const known = context.marks.readThrough(agent, lane.stream).filter((cid) => graph.has(cid))
  const through = graph.ends([...graph.reach(known), ...wholeEntries(lane)])
  const entries = graph.reach(through, known).map((cid) => told(lane, cid))
  const reading = { lane: name, stream: lane.stream, agent, entries, through }
  await hand(reading)
  await context.db.commit({
    blocks: [],
    rows: [context.marks.readRow(agent, lane.stream, through)],
  })
  return reading
}

/** What can't be read whole is not handed over, nor what rests on it. */
function wholeEntries({ entries, readable: { graph, blocksOf } }: Lane): readonly CidText[] {
  const whole = new Set<CidText>()
  for (const cid of graph.order) {
    const { parents, prev } = entries.get(cid)!
    const rests = [...parents, ...prev].filter((link) => graph.has(link))
    if (blocksOf(cid) !== undefined && rests.every((link) => whole.has(link))) whole.add(cid)
  }
  return [...whole]
}

function told(lane: Lane, cid: CidText): LaneEntryRead {
  const { kind, author, parents } = lane.entries.get(cid)!
  const blocks = lane.readable.blocksOf(cid)
  const body = blocks === undefined ? null : decodeForm(blocks[1]).form
  return { cid, kind, author, parents, body, problem: problemOf(lane, cid) ?? null }
}

/** Returns why an entry of a lane does not count; undefined where it does. */
export function problemOf(lane: Lane, cid: CidText): string | undefined {
  if (!lane.valid.has(cid)) return 'it is not valid'
  const fault = lane.folding.faults.get(cid)
  if (fault !== undefined) return `${fault.code}: it ${fault.why}`
  return lane.folding.items.has(cid) ? undefined : 'HS4001: its body is none of its kind'
}

/** Returns the entries of a lane, the last first. */
export async function logLane(context: Context, name: string): Promise<readonly LaneEntryRead[]> {
  const lane = await loadLane(context, name)
  if (lane.entries.size === 0) throw unknownLane(name)
  const { order } = new LinkGraph(lane.entries.values(), ({ parents, prev, refs }) => [
    ...parents,
    ...prev,
    ...refs,
  ])
  return order.toReversed().map((cid) => told(lane, cid))
}
