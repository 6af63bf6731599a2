import type { CidText } from '../../store/cid-text.ts'
import type { RowChange } from '../../store/commit.ts'
import type { Database, Row } from '../../store/database.ts'
import { planAll } from '../../store/indexes.ts'
import type { IndexName } from '../../store/keyspace.ts'
import {
  parseEntryKey,
  parseRangeKey,
  rangeKey,
  rangeNodeKey,
  rangeOf,
} from '../../store/keyspace.ts'
import { fingerprintOf, fingerprintOver, nodesBelow } from '../../store/ranges.ts'
import { rowOf } from '../entry/row.ts'
import { finding } from '../rules/hstore-rules.ts'
import type { Finding } from '../rules/rule.ts'
import { checkRows } from './index-check.ts'
import type { LoadedGraph } from './loaded.ts'

const derived: readonly IndexName[] = [
  'bodies',
  'doubles',
  'entries',
  'heads',
  'names',
  'nodes',
  'tips',
]

/** What becomes of the indexes of a store. */
export interface IndexPlan {
  /** What makes them what the entries give. */
  readonly changes: readonly RowChange[]
  /** The entries that share their name with others, where nothing is wrong with the rows that say so. */
  readonly namesakes: ReadonlySet<string> | undefined
}

/** Returns the changes that make the indexes what the entries give: none where they are. */
export async function planIndexes(db: Database, graph: LoadedGraph): Promise<IndexPlan> {
  const { isSound, namesakes } = await checkRows(db, graph.entries)
  const changes = isSound ? [] : await planRows(db, graph)
  return {
    changes: [...changes, ...(await oddRanges(db, graph))],
    namesakes: isSound ? namesakes : undefined,
  }
}

/** Returns what `planIndexes` does, but for the ranges: makes all rows, and holds each of the database against its own. */
export async function planRows(db: Database, graph: LoadedGraph): Promise<readonly RowChange[]> {
  const expected = new Map<string, RowChange>()
  for (const row of planAll([...graph.entries.values()].map(rowOf)))
    expected.set(`${row.index}!${row.key}`, row)
  const changes: RowChange[] = []
  for (const index of derived) {
    for await (const rows of db.rowBatches(index, '')) {
      for (const { key, values } of rows) {
        const wanted = expected.get(`${index}!${key}`)
        expected.delete(`${index}!${key}`)
        if (wanted === undefined) changes.push({ index, key, values: undefined })
        else if (!sameValues(wanted.values ?? [], values)) changes.push(wanted)
      }
    }
  }
  return [...changes, ...expected.values()]
}

/**
 * Returns what takes away the rows of fingerprints that are not those of their entries, or have not all rows below them: then an entry that is added
 * would not take them away. A row that is not there is computed when it is asked for.
 */
export async function oddRanges(
  db: Pick<Database, 'rowBatches'>,
  graph: Pick<LoadedGraph, 'entries'>,
): Promise<RowChange[]> {
  const there: Row[] = []
  for await (const rows of db.rowBatches('ranges', '')) there.push(...rows)
  if (there.length === 0) return []
  const cids = cidsByRange(graph)
  const sound = new Map<string, string>()
  const changes: RowChange[] = []
  // from the leaves up: what is right above them follows from them
  const levelOf = ({ key }: Row): number => parseRangeKey(key).level
  for (const { key, values } of there.sort((a, b) => levelOf(a) - levelOf(b))) {
    const { stream, level, index } = parseRangeKey(key)
    const wanted = level === 0 ? fingerprintOf(cids.get(key) ?? []) : over(stream, level, index)
    if (wanted !== undefined && sameValues(values, [wanted])) sound.set(key, wanted)
    else changes.push({ index: 'ranges', key, values: undefined })
  }
  return changes

  function over(stream: string, level: number, index: number): string | undefined {
    const below = nodesBelow(index).map((at) => sound.get(rangeNodeKey(stream, level - 1, at)))
    return below.includes(undefined) ? undefined : fingerprintOver(below as string[])
  }
}

function cidsByRange({
  entries,
}: Pick<LoadedGraph, 'entries'>): ReadonlyMap<string, readonly CidText[]> {
  const cids = new Map<string, CidText[]>()
  for (const { cid, seq, stream } of entries.values()) {
    const key = rangeKey(stream, rangeOf(seq))
    const known = cids.get(key)
    if (known === undefined) cids.set(key, [cid])
    else known.push(cid)
  }
  return cids
}

/** What is wrong with the indexes of a store. */
export interface IndexFaults {
  /** Entries that an index names and the store does not hold. */
  readonly absent: readonly Finding[]
  /** Rows that differ from what the entries give. */
  readonly odd: readonly Finding[]
}

/**
 * Returns what is wrong where the indexes are to be changed. They are derived from blocks, so a difference is damage: a
 * missing row would hide an entry, a head or an equivocation. Rows that only tell of a damaged block are not named twice.
 */
export function judgeIndexes(changes: readonly RowChange[], graph: LoadedGraph): IndexFaults {
  const isAbsent = ({ index, values }: RowChange): boolean =>
    index === 'entries' && values === undefined
  const told = new Set(graph.damage.map(({ cid }) => cid))
  const absent = changes.filter(isAbsent).flatMap(({ key }) => judgeAbsent(told, key))
  if (graph.damage.some(({ severity }) => severity === 'error')) return { absent, odd: [] }
  const odd = changes.filter((change) => !isAbsent(change))
  return { absent, odd: odd.map(({ index, key }) => oddRow(index, key)) }
}

/** A row of an entry whose block is not among the sound ones: named here, unless its damage was. */
function judgeAbsent(told: ReadonlySet<string | undefined>, key: string): Finding[] {
  const { cid } = parseEntryKey(key)
  if (told.has(cid)) return []
  return [finding('HS1001', 'an index names this entry, and the store does not hold it', { cid })]
}

function oddRow(index: string, key: string): Finding {
  const cid = key.split('\u0000').find((part) => part.startsWith('bagu')) as CidText | undefined
  const place = cid === undefined ? {} : { cid }
  const what = key.split('\u0000').join(' ')
  return finding(
    'HS1008',
    `the index ${index} of ${what} is not what the entries give: run hstore fsck --rebuild`,
    place,
  )
}

function sameValues(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i])
}
