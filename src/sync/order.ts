import type { CidText } from '../../store/cid-text.ts'
import type { Database } from '../../store/database.ts'
import { linksFirst } from '../../store/links-first.ts'
import type { Linked } from '../../store/links-first.ts'
import type { Entry } from '../entry/entry.ts'
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

/** So many entries are read while the database is open: whoever waits for it has it in between. */
const stepSize = 256

/** Opens a store for one step of a work. */
export type InStore = <T>(use: (db: Database) => Promise<T>) => Promise<T>

/** Returns entries of a stream in the order of their links; those that the stream does not have are left out. */
export async function orderIn(
  inStore: InStore,
  stream: string,
  { wanted, ends }: ToOrder,
): Promise<Ordered> {
  const all: Linked[] = []
  for (const cids of steps(wanted)) all.push(...(await inStore((db) => linksOf(db, stream, cids))))
  const asked = new Set(wanted)
  const isBelow = ({ signer, seq }: Entry): boolean => seq <= (ends.get(signer) ?? -1)
  // each link is looked up once, however many entries have it
  const others = new Set(all.flatMap(linksIn).filter((link) => !asked.has(link)))
  const there = new Set<CidText>()
  for (const cids of steps([...others]))
    await inStore(async (db) => {
      for (const cid of cids) {
        const found = await findInStream(db, stream, cid)
        if (found !== undefined && isBelow(found.entry)) there.add(cid)
      }
    })
  const closed = new Set<CidText>()
  const open: CidText[] = []
  for (const entry of linksFirst(all)) {
    if (linksIn(entry).every((link) => closed.has(link) || there.has(link))) closed.add(entry.cid)
    else open.push(entry.cid)
  }
  return { closed: [...closed], open }
}

function linksIn({ parents, prev }: Linked): readonly CidText[] {
  return [...parents, ...prev]
}

function* steps(cids: readonly CidText[]): Generator<readonly CidText[]> {
  for (let at = 0; at < cids.length; at += stepSize) yield cids.slice(at, at + stepSize)
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
