import { notOwner, recorded, unknownLane } from './acts.ts'
import type { LaneBody } from './bodies.ts'
import type { LaneItem } from './item.ts'
import { ofKind } from './item.ts'
import type { LaneAnswer, LanePlan, Situation } from './write.ts'

type Takeover = LaneItem<'lane-takeover'>

/**
 * Takes a lane over for an agent, as one of the roots. Where another root has begun the same takeover, it is that one
 * which is signed.
 */
export function planTakeover(situation: Situation, to: string, reason: string): LanePlan {
  const { lane, signer } = situation
  const { folding } = lane
  const { holders } = folding.roots
  if (situation.view === undefined) throw unknownLane(lane.lane)
  if (!holders.has(signer)) return notOwner([...new Set(holders.values())].sort().join(' or '))
  const alike = takeoversLike(situation, to, reason)
  const open = alike.filter(({ entry }) => isOpen(situation, entry.cid))
  const mine = open.find(({ entry }) => entry.signer === signer)
  if (mine !== undefined) return { same: mine.entry.cid, answer: signed(situation, mine, 0) }
  const begun = open[0]
  const nodes = [...folding.placed.values()]
  const make: LaneBody = {
    kind: 'lane-takeover',
    lane_id: lane.lane,
    ownership_epoch:
      begun?.body.ownership_epoch ?? 1 + Math.max(...nodes.map(({ epoch }) => epoch)),
    owner_ref: to,
    reason,
  }
  const parents = begun?.entry.parents ?? folding.graph.ends([...folding.placed.keys()])
  return { make, parents, answer: signed(situation, begun, 1) }
}

/** Takeovers by roots for the same agent and reason. */
function takeoversLike({ lane: { folding } }: Situation, to: string, reason: string): Takeover[] {
  return [...folding.items.values()]
    .map((item) => ofKind(item, 'lane-takeover'))
    .filter((item) => item !== undefined)
    .filter(({ entry, body }) => {
      const isSame = body.owner_ref === to && body.reason === reason
      return isSame && folding.roots.holders.has(entry.signer)
    })
}

/** A takeover that waits for roots, or that the lane rests on with nothing after it. */
function isOpen({ lane: { folding }, view }: Situation, cid: Takeover['entry']['cid']): boolean {
  if (folding.faults.get(cid)?.code === 'HS4408') return true
  return view?.standing === 'held' && view.heads.some(({ entries }) => entries.includes(cid))
}

function signed(
  { lane: { folding } }: Situation,
  takeover: Takeover | undefined,
  more: 0 | 1,
): LaneAnswer {
  const before = takeover === undefined ? 0 : folding.holdersOf(takeover)
  return recorded({ signed: before + more, needed: folding.roots.threshold })
}
