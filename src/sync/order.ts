import type { CidText } from '../../store/cid-text.ts'
import type { Database } from '../../store/database.ts'
import { linksFirst } from '../../store/links-first.ts'
import type { Linked } from '../../store/links-first.ts'
import { findInStream } from './serve-blocks.ts'

/** Entries in an order in which each stands behind what it follows. */
export interface Ordered {
  /** Those that rest on each other and on what is there, and on nothing else. */
  readonly closed: readonly CidText[]
  readonly open: readonly CidText[]
}

/** What is to be sorted. */
export interface ToOrder {
  readonly wanted: readonly CidText[]
  /** By signer, the highest seq that is there. */
  readonly ends: ReadonlyMap<string, number>
}

/** Returns entries of a stream in the order of their links; those that the stream does not have are left out. */
export async function orderIn(
  db: Database,
  stream: string,
  { wanted, ends }: ToOrder,
): Promise<Ordered> {
  const isThere = async (cid: CidText): Promise<boolean> => {
    const found = await findInStream(db, stream, cid)
    return found !== undefined && found.entry.seq <= (ends.get(found.entry.signer) ?? -1)
  }
  const all = await linksOf(db, stream, wanted)
  const asked = new Set(wanted)
  const closed = new Set<CidText>()
  const open: CidText[] = []
  for (const { cid, parents, prev } of linksFirst(all)) {
    let isClosed = true
    for (const link of new Set([...parents, ...prev]))
      isClosed &&= closed.has(link) || (!asked.has(link) && (await isThere(link)))
    if (isClosed) closed.add(cid)
    else open.push(cid)
  }
  return { closed: [...closed], open }
}

/** Returns the links alone of entries: of many, the rest would take memory for nothing. */
export async function linksOf(
  db: Database,
  stream: string,
  cids: readonly CidText[],
): Promise<Linked[]> {
  const all: Linked[] = []
  for (const cid of cids) {
    const found = await findInStream(db, stream, cid)
    if (found !== undefined) all.push({ cid, parents: found.entry.parents, prev: found.entry.prev })
  }
  return all
}

/** Orders streams: nothing can be judged before the rosters. */
export function rosterFirst(a: string, b: string): number {
  if (a === b) return 0
  if (a === 'roster' || b === 'roster') return a === 'roster' ? -1 : 1
  return a < b ? -1 : 1
}
