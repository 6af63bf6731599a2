import type { CidText } from '../../store/cid-text.ts'
import { planAll } from '../../store/indexes.ts'
import type { IndexName } from '../../store/keyspace.ts'
import { parseEntryKey } from '../../store/keyspace.ts'
import type { Context } from '../context.ts'
import { rowOf } from '../entry/row.ts'
import { finding } from '../rules/hstore-rules.ts'
import type { Finding } from '../rules/rule.ts'
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

/**
 * Returns where the indexes are not what the entries give. They are derived from blocks, so a difference is damage: a
 * missing row would hide an entry, a head or an equivocation. Rows that only tell of a damaged block are not named twice.
 */
export async function judgeIndexes(context: Context, graph: LoadedGraph): Promise<Finding[]> {
  const expected = new Map<string, readonly string[]>()
  for (const { index, key, values } of planAll([...graph.entries.values()].map(rowOf))) {
    if (values !== undefined) expected.set(`${index}!${key}`, values)
  }
  const findings: Finding[] = []
  const differing: [index: string, key: string][] = []
  for (const index of derived) {
    for await (const rows of context.db.rowBatches(index, '')) {
      for (const { key, values } of rows) {
        const wanted = expected.get(`${index}!${key}`)
        expected.delete(`${index}!${key}`)
        if (wanted !== undefined && sameValues(wanted, values)) continue
        if (index === 'entries' && wanted === undefined) findings.push(...judgeAbsent(graph, key))
        else differing.push([index, key])
      }
    }
  }
  for (const name of expected.keys()) {
    const at = name.indexOf('!')
    differing.push([name.slice(0, at), name.slice(at + 1)])
  }
  const isDamaged = graph.damage.some(({ severity }) => severity === 'error')
  return isDamaged ? findings : [...findings, ...differing.map(([index, key]) => odd(index, key))]
}

/** A row of an entry whose block is not among the sound ones: named here, unless its damage was. */
function judgeAbsent(graph: LoadedGraph, key: string): Finding[] {
  const { cid } = parseEntryKey(key)
  if (graph.damage.some((found) => found.cid === cid)) return []
  return [finding('HS1001', 'an index names this entry, and the store does not hold it', { cid })]
}

function odd(index: string, key: string): Finding {
  const cid = key.split('\u0000').find((part) => part.startsWith('bagu')) as CidText | undefined
  const place = cid === undefined ? {} : { cid }
  const what = key.split('\u0000').join(' ')
  return finding(
    'HS1008',
    `the index ${index} of ${what} is not what the entries give: restore the store from a copy`,
    place,
  )
}

function sameValues(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i])
}
