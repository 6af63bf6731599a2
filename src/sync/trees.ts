import type { CidText } from '../../store/cid-text.ts'
import type { Database } from '../../store/database.ts'
import { parseTipKey, rangeOf } from '../../store/keyspace.ts'
import { RangeTree } from '../../store/ranges.ts'
import { decodeEntry } from '../entry/decode.ts'
import { HstoreError } from '../kernel/errors.ts'

/** The ends of all chains that a store holds, by stream; the streams are sorted. */
export type Tips = ReadonlyMap<string, readonly CidText[]>

/** What was read of a database, as long as nothing is written to it. */
interface Known {
  commits: number
  tips: Tips | undefined
  readonly trees: Map<string, RangeTree>
}

/** Where so many streams have changed, their last ranges are remembered too: each costs as much to read as a whole range. */
const manyStreams = 32

const known = new WeakMap<Database, Known>()

/** Returns the ends of all chains that a store holds. */
export async function tipsIn(db: Database): Promise<Tips> {
  const now = knownOf(db)
  now.tips ??= await readTips(db)
  return now.tips
}

async function readTips(db: Database): Promise<Tips> {
  const tips = new Map<string, CidText[]>()
  for await (const rows of db.rowBatches('tips', '')) {
    for (const { key, values } of rows) {
      const { stream } = parseTipKey(key)
      const known = tips.get(stream) ?? []
      tips.set(stream, known)
      known.push(...(values as CidText[]))
    }
  }
  return new Map([...tips].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Returns the fingerprints of a stream, for as long as nothing is written to the store. */
export async function treeOf(db: Database, stream: string): Promise<RangeTree> {
  const { trees } = knownOf(db)
  const found = trees.get(stream) ?? new RangeTree(db, stream, await rangesIn(db, stream))
  trees.set(stream, found)
  return found
}

/**
 * Remembers what fingerprints were computed, with the next that is written. A change since then ends it: what was read
 * before may be wrong by now.
 */
export function rememberTrees(db: Database): void {
  const found = known.get(db)
  if (found === undefined || found.commits !== db.commits) return
  const trees = [...found.trees.values()]
  const last = trees.flatMap((tree) => tree.takeLast())
  const rows = trees.flatMap((tree) => tree.takeRows())
  if (last.length >= manyStreams) rows.push(...last)
  if (rows.length === 0) return
  // where it fails, so does what is written next
  db.commit({ blocks: [], rows }).catch(() => undefined)
  found.commits = db.commits
}

function knownOf(db: Database): Known {
  const { commits } = db
  const found = known.get(db)
  if (found?.commits === commits) return found
  const none: Known = { commits, tips: undefined, trees: new Map() }
  known.set(db, none)
  return none
}

async function rangesIn(db: Database, stream: string): Promise<number> {
  const tips = (await tipsIn(db)).get(stream) ?? []
  let most = -1
  for (const [i, read] of (await db.getMany(tips)).entries())
    if (read.state === 'ok') most = Math.max(most, seqOf(tips[i]!, read.bytes))
  return most < 0 ? 0 : rangeOf(most) + 1
}

/** A chain holds every seq up to its tip's, so the largest says how many ranges there are. */
function seqOf(cid: CidText, bytes: Uint8Array): number {
  try {
    return decodeEntry(cid, bytes).seq
  } catch (error) {
    if (error instanceof HstoreError) return -1
    throw error
  }
}
