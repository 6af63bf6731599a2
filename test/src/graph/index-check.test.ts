import { describe, expect, it } from 'vitest'
import type { CidText } from '../../../store/cid-text.ts'
import { cidTextOf } from '../../../store/cid-text.ts'
import type { Database, Row } from '../../../store/database.ts'
import { planAll } from '../../../store/indexes.ts'
import type { VerifiedEntry } from '../../../src/entry/entry.ts'
import { kindOf } from '../../../src/entry/kinds.ts'
import { rowOf } from '../../../src/entry/row.ts'
import { checkRows } from '../../../src/graph/index-check.ts'
import { planRows } from '../../../src/graph/judge-indexes.ts'
import type { LoadedGraph } from '../../../src/graph/loaded.ts'
import { randomOf } from '../../support/envelope.ts'

type Rows = Map<string, Row[]>
type Random = () => number

const runs = process.env['HSTORE_SOAK'] ? 20_000 : 600
const kinds = ['envelope', 'envelope', 'envelope', 'turn', 'lane-open', 'certificate', 'unheard-of']
const indexes = ['entries', 'bodies', 'names', 'doubles', 'nodes', 'tips', 'heads']
const names = ['r1', 'r2', 'r3', 'x'.repeat(300)]

const pick = <T>(random: Random, of: readonly T[]): T => of[Math.floor(random() * of.length)]!
const cidOf = (text: string): CidText => cidTextOf(new TextEncoder().encode(text), 'dag-json')

/** Entries that name each other as they like, in whatever stream. */
function randomEntries(random: Random): ReadonlyMap<CidText, VerifiedEntry> {
  const entries: VerifiedEntry[] = []
  const count = Math.floor(random() * 12)
  const some = (): CidText[] => {
    const cids = Array.from({ length: pick(random, [0, 1, 1, 2, 3]) }, () =>
      random() < 0.05 || entries.length === 0 ? cidOf('gone') : pick(random, entries).cid,
    )
    return [...new Set(cids)].sort()
  }
  for (let i = 0; i < count; i++) {
    const kind = pick(random, kinds)
    const [author, body] = [pick(random, ['ann', 'bob']), cidOf(`body ${Math.floor(random() * 6)}`)]
    const [stream, signer] = [pick(random, ['csag:v', 'csag:w']), pick(random, ['did:1', 'did:2'])]
    const name = kindOf(kind).isNamed ? pick(random, names) : undefined
    const seq = 1 + Math.floor(random() * 5)
    const links = { parents: some(), prev: some(), refs: [], shallow: [] }
    const fields = { author, body, cid: cidOf(`entry ${i}`), kind, name, seq, signer, stream }
    entries.push({ ...fields, ...links, witness: false } as unknown as VerifiedEntry)
  }
  entries.sort(() => random() - 0.5)
  return new Map(entries.map((entry) => [entry.cid, entry]))
}

function rowsOf(entries: ReadonlyMap<CidText, VerifiedEntry>): Rows {
  const rows: Rows = new Map(indexes.map((index) => [index, []]))
  for (const { index, key, values } of planAll([...entries.values()].map(rowOf)))
    rows.get(index)!.push({ key, values: values! })
  return rows
}

/** Changes one row, or what rows there are; now and then to what it is already. */
function tamper(random: Random, rows: Rows, entries: readonly CidText[]): void {
  const all = rows.get(pick(random, indexes))!
  const at = Math.floor(random() * all.length)
  const row = all[at]
  const other = pick(random, [...entries, cidOf('ghost')])
  if (row === undefined) return void all.push({ key: pick(random, names), values: [other] })
  const { key, values } = row
  const changed: readonly (readonly Row[])[] = [
    [],
    [{ key, values: [...values, other].sort() }],
    [{ key, values: [...new Set([...values, other])].sort() }],
    [{ key, values: values.slice(1) }],
    [{ key, values: values.toReversed() }],
    [{ key, values: values.map((value, i) => (i === 0 ? other : value)) }],
    [{ key: `${key}0`, values }],
    [row, { key: `${key}0`, values }],
    [{ key, values: pick(random, all).values }],
    [{ key: pick(random, all).key, values }],
  ]
  all.splice(at, 1, ...pick(random, changed))
}

function databaseOf(rows: Rows): Database {
  const rowBatches = async function* (index: string): AsyncGenerator<readonly Row[]> {
    const byKey = new Map(rows.get(index)!.map((row) => [row.key, row]))
    if (byKey.size > 0) yield [...byKey.values()]
  }
  return { rowBatches } as unknown as Database
}

describe('the quick check of all rows', () => {
  it('says of random graphs, as they are and tampered with, what the plan of all rows does', async () => {
    let faults = 0
    for (let seed = 1; seed <= runs; seed++) {
      const random = randomOf(seed)
      const entries = randomEntries(random)
      const graph = { entries } as unknown as LoadedGraph
      const rows = rowsOf(entries)
      for (let round = 0; round < 6; round++) {
        const db = databaseOf(rows)
        const changes = await planRows(db, graph)
        const { isSound, namesakes } = await checkRows(db, entries)
        expect({ seed, round, isSound }).toEqual({ seed, round, isSound: changes.length === 0 })
        if (round === 0) expect({ seed, isSound, namesakes }).toEqual({ seed, ...wholeOf(entries) })
        faults += isSound ? 0 : 1
        tamper(random, rows, [...entries.keys()])
      }
    }
    expect(faults).toBeGreaterThan(runs)
  })
})

function wholeOf(entries: ReadonlyMap<CidText, VerifiedEntry>): object {
  const idOf = ({ name, stream }: VerifiedEntry): string => `${stream} ${name}`
  const named = [...entries.values()].filter(({ name }) => name !== undefined)
  const shared = named.filter((one) => named.filter((two) => idOf(one) === idOf(two)).length > 1)
  return { isSound: true, namesakes: new Set(shared.map(({ cid }) => cid)) }
}
