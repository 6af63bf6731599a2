import type { CidText } from '../../store/cid-text.ts'
import { decodeEntry } from '../entry/decode.ts'
import { admit } from './admit.ts'
import type { Arrivals } from './arrivals.ts'
import type { Fate } from './fate.ts'
import type { Judged } from './judge.ts'
import { judgeArrivals } from './judge.ts'
import { partsIn } from './needless.ts'
import type { Peer } from './peer.ts'

/** What became of the entries that waited in quarantine. */
export interface Received {
  /** Entries that are new in the store. */
  readonly added: number
  /** Entries that have no place here: they are let go of. */
  readonly unstored: ReadonlyMap<CidText, Fate>
  /** Entries that wait for blocks, and for which. */
  readonly waiting: ReadonlyMap<CidText, readonly CidText[]>
  /** The body of the highest roster. */
  readonly roster: CidText
}

/**
 * Judges what waits in quarantine, stores what is fit, and lets go of all that is settled.
 *
 * @param decide - Told what was found before anything is stored.
 */
export async function receive(
  peer: Peer,
  arrivals: Arrivals,
  decide: (found: Received) => Decision = () => storeAll,
): Promise<Received> {
  const judged = await judgeArrivals(peer.ground, arrivals)
  const found = foundIn(judged)
  const { isReady, heldBack } = decide(found)
  if (!isReady) return found
  const entries = judged.entries.filter(({ stream }) => !heldBack.has(stream))
  const added = await admit(peer.ground, arrivals, { ...judged, entries })
  if (entries.some(({ stream }) => stream === 'roster')) await peer.accept(judged.pins)
  const needed = neededBy(arrivals, found.waiting.keys())
  arrivals.forget([...arrivals.cids()].filter((cid) => !needed.has(cid)))
  return { ...found, added }
}

/** Whether what was found is stored now, and of which streams nothing is. */
export interface Decision {
  readonly isReady: boolean
  readonly heldBack: ReadonlySet<string>
}

const storeAll: Decision = { isReady: true, heldBack: new Set() }

function foundIn({ fates, trust }: Judged): Received {
  const unstored = new Map<CidText, Fate>()
  const waiting = new Map<CidText, readonly CidText[]>()
  for (const [cid, fate] of fates) {
    if (fate.fate === 'incomplete') waiting.set(cid, fate.needs)
    else if (fate.fate !== 'stored' && fate.fate !== 'there') unstored.set(cid, fate)
  }
  return { added: 0, unstored, waiting, roster: trust.rosterBody }
}

function neededBy(arrivals: Arrivals, waiting: Iterable<CidText>): ReadonlySet<CidText> {
  const needed = new Set<CidText>()
  for (const cid of waiting) {
    needed.add(cid)
    for (const part of partsIn(arrivals, decodeEntry(cid, arrivals.find(cid)!))) needed.add(part)
  }
  return needed
}
