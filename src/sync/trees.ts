import type { CidText } from '../../store/cid-text.ts'
import type { Database } from '../../store/database.ts'
import { parseTipKey, rangeOf, tipPrefix } from '../../store/keyspace.ts'
import type { RangeTree } from '../../store/ranges.ts'
import { readRangeTree } from '../../store/ranges.ts'
import { decodeEntry } from '../entry/decode.ts'
import { HstoreError } from '../kernel/errors.ts'

/** Returns the streams that a store holds entries of, sorted. */
export async function streamsIn(db: Database): Promise<readonly string[]> {
  const streams = new Set<string>()
  for await (const rows of db.rowBatches('tips', ''))
    for (const { key } of rows) streams.add(parseTipKey(key).stream)
  return [...streams].sort()
}

/** The end of a chain. */
export interface Tip {
  readonly stream: string
  readonly cid: CidText
}

/** Returns the ends of all chains that a store holds. */
export async function tipsIn(db: Database): Promise<readonly Tip[]> {
  const tips: Tip[] = []
  for await (const rows of db.rowBatches('tips', '')) {
    for (const { key, values } of rows) {
      const { stream } = parseTipKey(key)
      for (const cid of values as CidText[]) tips.push({ stream, cid })
    }
  }
  return tips
}

/** What was read of a database, as long as nothing is written to it. */
interface Known {
  readonly commits: number
  readonly trees: Map<string, RangeTree>
}

const known = new WeakMap<Database, Known>()

/** Returns the fingerprints of a stream. */
export async function treeOf(db: Database, stream: string): Promise<RangeTree> {
  const { commits } = db
  const { trees } = knownOf(db)
  const found = trees.get(stream)
  if (found !== undefined) return found
  const tree = await readTree(db, stream)
  if (db.commits === commits) trees.set(stream, tree)
  return tree
}

function knownOf(db: Database): Known {
  const { commits } = db
  const found = known.get(db)
  if (found?.commits === commits) return found
  const none = { commits, trees: new Map() }
  known.set(db, none)
  return none
}

async function readTree(db: Database, stream: string): Promise<RangeTree> {
  const tips: CidText[] = []
  for await (const { values } of db.rows('tips', tipPrefix(stream)))
    tips.push(...(values as CidText[]))
  let most = -1
  for (const [i, read] of (await db.getMany(tips)).entries())
    if (read.state === 'ok') most = Math.max(most, seqOf(tips[i]!, read.bytes))
  return readRangeTree(db, stream, most < 0 ? 0 : rangeOf(most) + 1)
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
