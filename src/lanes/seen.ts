import type { Tick } from '../contracts/hrc/documents.ts'
import type { EpochOrder } from './epoch-order.ts'
import type { LaneHead, Placed } from './view.ts'
import { byEvent } from './view.ts'

/** Who held the pen, the last epoch first. */
interface Owners {
  readonly epoch: number
  readonly owner: string
  readonly before: Owners | undefined
}

/** What nodes say of a lane together: never changed, and shared by the entries that have seen the same nodes. */
export interface Seen {
  /** The key of the opening, or of the takeover, that all rests on. */
  readonly root: string
  /** The epoch of that takeover; 0 for an opening. */
  readonly since: number
  /** Whether another opening, or takeover of the same epoch, stands against it. */
  readonly isRivalled: boolean
  readonly epoch: number
  readonly owners: Owners
  readonly heads: readonly LaneHead[]
  readonly tick: Tick
  /** The highest epoch of any node, of what a takeover left behind too. */
  readonly highest: number
  /** How the nodes of its epoch follow each other. */
  readonly order: EpochOrder
}

/** Returns what is seen once a node is added that counts. */
export function seenWith(before: Seen | undefined, node: Placed, order: EpochOrder): Seen {
  const { epoch, key, event, status, tick } = node
  const isRoot = node.follows.length === 0 || node.base === key
  const on = isRoot ? undefined : before
  const alone = {
    root: on?.root ?? key,
    since: on?.since ?? (node.base === '' ? 0 : epoch),
    isRivalled: false,
    epoch,
    owners:
      on !== undefined && on.epoch === epoch
        ? on.owners
        : { epoch, owner: node.owner, before: on?.owners },
    heads: [{ key, event, status, entries: [node.cid] }],
    tick,
    highest: epoch,
    order,
  }
  return before === undefined ? alone : joinSeen(before, alone)
}

/** Returns what is seen in either; one of them itself where it has all. Which comes first makes no difference. */
export function joinSeen(a: Seen, b: Seen): Seen {
  if (a === b) return a
  const highest = Math.max(a.highest, b.highest)
  if (a.since !== b.since) return raised(a.since > b.since ? a : b, highest)
  if (a.isRivalled || b.isRivalled || a.root !== b.root)
    return raised(a.isRivalled ? a : { ...b, isRivalled: true }, highest)
  if (a.epoch !== b.epoch) return raised(a.epoch > b.epoch ? a : b, highest)
  return raised(joinTops(a, b), highest)
}

function joinTops(a: Seen, b: Seen): Seen {
  const heads = joinHeads(a, b)
  const tick = Math.max(a.tick, b.tick)
  if (heads === a.heads && tick === a.tick) return a
  return heads === b.heads && tick === b.tick ? b : { ...a, heads, tick }
}

function raised(seen: Seen, highest: number): Seen {
  return seen.highest === highest ? seen : { ...seen, highest }
}

function joinHeads({ heads: ours, order }: Seen, { heads: theirs }: Seen): readonly LaneHead[] {
  if (ours === theirs) return ours
  const [one, other] = [ours[0]!.key, theirs[0]!.key]
  if (ours.length === 1 && theirs.length === 1 && one !== other) {
    if (order.leads(one, other)) return ours
    if (order.leads(other, one)) return theirs
  }
  const left = without(ours, theirs, order)
  const right = without(theirs, ours, order)
  if (left.length === 0 && right.length === theirs.length) return theirs
  if (right.length === 0 && left.length === ours.length) return ours
  return merged(left, right)
}

/** Both are in order, and so is what comes of them. */
function merged(left: readonly LaneHead[], right: readonly LaneHead[]): LaneHead[] {
  const heads: LaneHead[] = []
  let at = 0
  for (const head of left) {
    for (; at < right.length && byEvent(right[at]!, head) < 0; at++) heads.push(right[at]!)
    heads.push(right[at]?.key === head.key ? joinTwins(head, right[at++]!) : head)
  }
  return [...heads, ...right.slice(at)]
}

/** The heads that none of the others follows. */
function without(
  heads: readonly LaneHead[],
  others: readonly LaneHead[],
  order: EpochOrder,
): readonly LaneHead[] {
  return heads.filter(({ key }) =>
    others.every((other) => other.key === key || !order.leads(other.key, key)),
  )
}

function joinTwins(a: LaneHead, b: LaneHead): LaneHead {
  const added = b.entries.filter((cid) => !a.entries.includes(cid))
  return added.length === 0 ? a : { ...a, entries: [...a.entries, ...added].sort() }
}

/** Returns who held the pen at an epoch. */
export function ownerAt({ owners }: Seen, epoch: number): string | undefined {
  let found: Owners | undefined = owners
  while (found !== undefined && found.epoch > epoch) found = found.before
  return found?.epoch === epoch ? found.owner : undefined
}
