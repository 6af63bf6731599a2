import type { CidText } from '../../store/cid-text.ts'
import { decodeEntry } from '../entry/decode.ts'
import { admit } from './admit.ts'
import type { Arrivals } from './arrivals.ts'
import type { Fate } from './fate.ts'
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

/** Judges what waits in quarantine, stores what is fit, and lets go of all that is settled. */
export async function receive(peer: Peer, arrivals: Arrivals): Promise<Received> {
  const judged = await judgeArrivals(peer.ground, arrivals)
  const added = await admit(peer.ground, arrivals, judged)
  const hasRoster = judged.entries.some(({ stream }) => stream === 'roster')
  if (hasRoster) await peer.accept(judged.pins)
  const unstored = new Map<CidText, Fate>()
  const waiting = new Map<CidText, readonly CidText[]>()
  for (const [cid, fate] of judged.fates) {
    if (fate.fate === 'incomplete') waiting.set(cid, fate.needs)
    else if (fate.fate !== 'stored' && fate.fate !== 'there') unstored.set(cid, fate)
  }
  const needed = neededBy(arrivals, waiting.keys())
  arrivals.forget([...arrivals.cids()].filter((cid) => !needed.has(cid)))
  return { added, unstored, waiting, roster: judged.trust.rosterBody }
}

function neededBy(arrivals: Arrivals, waiting: Iterable<CidText>): ReadonlySet<CidText> {
  const needed = new Set<CidText>()
  for (const cid of waiting) {
    needed.add(cid)
    for (const part of partsIn(arrivals, decodeEntry(cid, arrivals.find(cid)!))) needed.add(part)
  }
  return needed
}
