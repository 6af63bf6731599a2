import type { CidText } from '../store/cid-text.ts'
import type { Context } from './context.ts'
import { getEntry } from './context.ts'
import type { VerifiedEntry } from './entry/entry.ts'
import { familyOf } from './entry/kinds.ts'
import type { Placed } from './graph/children-first.ts'
import { childrenFirst } from './graph/children-first.ts'
import { History } from './graph/history.ts'
import { headsOf, streamsOf } from './graph/ref.ts'
import type { Standing } from './trust/standing.ts'

/** A node as `log` shows it: the entry that names it, and its parents by the entries that name them. */
export interface Logged {
  readonly entry: VerifiedEntry
  readonly parents: readonly CidText[]
  readonly standing: Standing['standing']
}

/**
 * Returns nodes and their ancestors, children before parents; of those that are free the one with the largest seq, then
 * the least CID.
 *
 * @param limit - How many to return at most: no more of the history is read than it takes to be sure of their order.
 * @throws {HstoreError} what `getEntry` throws of an entry on the way.
 */
export async function logOf(
  context: Context,
  starts: readonly CidText[],
  limit: number,
): Promise<readonly Logged[]> {
  const history = new History(context, starts)
  let placed: readonly Placed[] = []
  for (let count = 2 * limit + 16; placed.length < limit; count *= 2) {
    await history.read(count)
    placed = childrenFirst(history.entries, history.open)
    if (history.open.length === 0) break
  }
  return placed.slice(0, limit).map(({ node, below }) => ({
    entry: node.entry,
    parents: below.map((parent) => parent.node.entry.cid),
    standing: context.trust.standingOf(node.entry).standing,
  }))
}

/**
 * Returns notes and what stands before them in their signers' chains, the largest seq first. Notes have no parents: what
 * they follow is `prev`.
 *
 * @throws {HstoreError} what `getEntry` throws.
 */
export async function notesOf(
  context: Context,
  starts: readonly CidText[],
  limit: number,
): Promise<readonly Logged[]> {
  const seen = new Set(starts)
  const entries: VerifiedEntry[] = []
  for (const cid of seen) {
    const entry = await getEntry(context, cid)
    entries.push(entry)
    for (const link of entry.prev) seen.add(link)
  }
  const sorted = entries.sort((a, b) => b.seq - a.seq || (a.cid < b.cid ? -1 : 1))
  return sorted.slice(0, limit).map((entry) => ({
    entry,
    parents: entry.prev,
    standing: context.trust.standingOf(entry).standing,
  }))
}

/** A head of a stream. */
export interface Head {
  readonly stream: string
  readonly entry: VerifiedEntry
}

/** Streams whose heads are read at once, at most. */
const atOnce = 256

/** Returns the heads of every stream but the roster's; two of one stream are a fork. */
export async function allHeads(context: Context): Promise<readonly Head[]> {
  const streams = (await streamsOf(context)).filter((stream) => familyOf(stream) !== 'roster')
  const heads: Head[] = []
  for (let at = 0; at < streams.length; at += atOnce) {
    const read = streams.slice(at, at + atOnce).map(async (stream) => {
      const entries = await headsOf(context, stream)
      return entries.map((entry) => ({ stream, entry }))
    })
    for (const found of await Promise.all(read)) heads.push(...found)
  }
  return heads
}
