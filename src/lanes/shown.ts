import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import type { Tick } from '../contracts/hrc/documents.ts'
import type { Decision } from '../contracts/hrc/evaluate.ts'
import type { Folding } from './fold.ts'
import { ofKind } from './item.ts'
import type { Lane } from './load.ts'
import { laneNames, loadLane } from './load.ts'
import type { LaneOffer, LaneState } from './state.ts'
import { evaluateOffer, findEvidence, offersOf, stateOf, wholeView } from './state.ts'
import type { HeldView } from './view.ts'

/** An offer with HRC's answer on completing it at a tick. */
export interface ShownOffer extends LaneOffer, Decision {
  /** The signal that the answer rests on; null where there is none. */
  readonly signal: CidText | null
}

/** How a lane stands at a tick. */
export interface ShownLane extends Omit<LaneState, 'offers'> {
  readonly offers: readonly ShownOffer[]
  /** Commits by its owner that close the present epoch and do not count, sorted: a roster may have voided one. */
  readonly voidCommits: readonly CidText[]
  /** What does not count, by CID, and why. */
  readonly faults: readonly { readonly cid: CidText; readonly code: string; readonly why: string }[]
}

/** Returns how a lane stands at a tick; undefined where nobody has opened it. */
export async function showLane(
  context: Context,
  name: string,
  now: Tick,
): Promise<ShownLane | undefined> {
  return shownLane(await loadLane(context, name), now)
}

/** Returns how all lanes stand at a tick, by name. */
export async function showLanes(context: Context, now: Tick): Promise<readonly ShownLane[]> {
  const lanes: ShownLane[] = []
  for (const name of await laneNames(context)) {
    const shown = await showLane(context, name, now)
    if (shown !== undefined) lanes.push(shown)
  }
  return lanes
}

/** Returns how a loaded lane stands at a tick; undefined where nobody has opened it. */
export function shownLane({ folding }: Lane, now: Tick): ShownLane | undefined {
  const state = stateOf(folding)
  const view = wholeView(folding)
  if (state === undefined || view === undefined) return undefined
  const offers =
    view.standing === 'held'
      ? offersOf(folding, view).map(({ item }, i): ShownOffer => {
          const evidence = findEvidence(folding, item, now)
          const answer = evaluateOffer(folding, view, item, evidence, now)
          return { ...state.offers[i]!, ...answer, signal: evidence.signal?.entry.cid ?? null }
        })
      : []
  const faults = [...folding.faults].map(([cid, fault]) => ({ cid, ...fault }))
  const voidCommits = view.standing === 'held' ? voidCommitsOf(folding, view) : []
  return { ...state, offers, voidCommits, faults: faults.sort((a, b) => (a.cid < b.cid ? -1 : 1)) }
}

function voidCommitsOf({ faults, items }: Folding, { owner, epoch }: HeldView): CidText[] {
  return [...faults.keys()]
    .filter((cid) => {
      const commit = ofKind(items.get(cid), 'lane-commit')
      return commit?.entry.author === owner && commit.body.ownership_epoch === epoch
    })
    .sort()
}
