import type { CidText } from '../store/cid-text.ts'
import type { Context } from './context.ts'
import { getEntry } from './context.ts'
import type { VerifiedEntry } from './entry/entry.ts'
import { familyOf } from './entry/kinds.ts'
import { headsOf, streamsOf } from './graph/ref.ts'
import type { Standing } from './trust/standing.ts'

/** An entry as `log` shows it. */
export interface Logged {
  readonly entry: VerifiedEntry
  readonly standing: Standing['standing']
}

/** Returns an entry and its ancestors over parents, children before parents, siblings by seq and CID. */
export async function logOf(context: Context, start: CidText, limit: number): Promise<readonly Logged[]> {
  const entries = new Map<CidText, VerifiedEntry>()
  let wave = [start]
  while (wave.length > 0) {
    const found: VerifiedEntry[] = []
    for (const cid of wave) found.push(await getEntry(context, cid))
    for (const entry of found) entries.set(entry.cid, entry)
    wave = [...new Set(found.flatMap(({ parents }) => parents))].filter((cid) => !entries.has(cid))
  }
  return childrenFirst(entries)
    .slice(0, limit)
    .map((entry) => ({ entry, standing: context.trust.standingOf(entry).standing }))
}

/** Kahn's order from the heads down; of those that are free the one with the largest seq comes first. */
function childrenFirst(entries: ReadonlyMap<CidText, VerifiedEntry>): VerifiedEntry[] {
  const children = new Map<CidText, number>()
  for (const { parents } of entries.values()) {
    for (const parent of parents) children.set(parent, (children.get(parent) ?? 0) + 1)
  }
  const free = [...entries.values()].filter(({ cid }) => !children.has(cid))
  const order: VerifiedEntry[] = []
  while (free.length > 0) {
    free.sort((a, b) => a.seq - b.seq || (a.cid < b.cid ? 1 : -1))
    const entry = free.pop()!
    order.push(entry)
    for (const parent of entry.parents) {
      const left = children.get(parent)! - 1
      children.set(parent, left)
      const freed = entries.get(parent)
      if (left === 0 && freed !== undefined) free.push(freed)
    }
  }
  return order
}

/** A head of a stream. */
export interface Head {
  readonly stream: string
  readonly entry: VerifiedEntry
}

/** Returns the heads of every stream but the roster's; two of one stream are a fork. */
export async function allHeads(context: Context): Promise<readonly Head[]> {
  const heads: Head[] = []
  for (const stream of await streamsOf(context)) {
    if (familyOf(stream) === 'roster') continue
    for (const entry of await headsOf(context, stream)) heads.push({ stream, entry })
  }
  return heads
}
