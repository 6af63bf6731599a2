import type { Tick } from '../contracts/hrc/documents.ts'
import { recorded, unknownLane } from './acts.ts'
import type { LaneBody } from './bodies.ts'
import type { LaneItem } from './item.ts'
import { ofKind } from './item.ts'
import type { LanePlan, Situation } from './write.ts'

/** Says of a participant whether it can be reached over a surface. */
export function planSignal(
  situation: Situation,
  input: {
    readonly surface: string
    readonly status: 'READY' | 'UNAVAILABLE'
    readonly now: Tick
    readonly until: Tick
  },
): LanePlan {
  const { lane, agent } = situation
  // one node says which lane it is: a lane with hundreds of heads is signalled in too
  const parents = lane.folding.graph.ends([...lane.folding.placed.keys()]).slice(0, 1)
  if (parents.length === 0) throw unknownLane(lane.lane)
  const { surface, status, now, until } = input
  const body: LaneBody = {
    kind: 'signal',
    lane_id: lane.lane,
    surface_ref: surface,
    status,
    observed_at_tick: now,
    valid_until_tick: until,
  }
  const same = [...lane.folding.notes]
    .map((cid) => ofKind(lane.folding.items.get(cid), 'signal'))
    .find((item) => item?.entry.author === agent && isSameSignal(item, body))
  if (same !== undefined) return { same: same.entry.cid, answer: recorded() }
  return { make: body, parents, answer: recorded() }
}

function isSameSignal(
  { body }: LaneItem<'signal'>,
  other: Extract<LaneBody, { kind: 'signal' }>,
): boolean {
  return (
    body.surface_ref === other.surface_ref &&
    body.status === other.status &&
    body.observed_at_tick === other.observed_at_tick &&
    body.valid_until_tick === other.valid_until_tick
  )
}
