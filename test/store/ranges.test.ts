import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { MemoryLevel } from 'memory-level'
import { describe, expect, it } from 'vitest'
import type { CidText } from '../../store/cid-text.ts'
import { cidTextOf, digestOf } from '../../store/cid-text.ts'
import type { Database } from '../../store/database.ts'
import { openDatabase } from '../../store/database.ts'
import type { EntryRow } from '../../store/indexes.ts'
import { planRows } from '../../store/indexes.ts'
import { rangeKey, rangeNodeKey } from '../../store/keyspace.ts'
import { LevelDatabase } from '../../store/level-database.ts'
import { entriesInRange, RangeTree } from '../../store/ranges.ts'
import type { VerifiedEntry } from '../../src/entry/entry.ts'
import { oddRanges } from '../../src/graph/judge-indexes.ts'
import { makeTempFolder } from '../support/temp-folder.ts'

const stream = 'csag:w'
const isSoak = Boolean(process.env['HSTORE_SOAK'])
const signers = ['did:key:z6MkAda', 'did:key:z6MkBob', 'did:key:z6MkEve'] as const

/** Entries of chains, as they are put or come from elsewhere. */
class Chains {
  readonly db: Database
  readonly cids: CidText[][] = []
  readonly #ends = new Map<string, { readonly cid: CidText; readonly seq: number }>()

  constructor(db: Database) {
    this.db = db
  }

  async add(signer: string, count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const end = this.#ends.get(signer)
      const seq = 1 + (end?.seq ?? 0)
      const bytes = new TextEncoder().encode(`${signer} ${seq}`)
      const cid = cidTextOf(bytes, 'dag-json')
      const row: EntryRow = {
        cid,
        stream,
        signer,
        name: undefined,
        body: cidOf(`body of ${signer} ${seq}`),
        parents: [],
        prev: end === undefined ? [] : [end.cid],
        seq,
        isNode: false,
        node: cid,
      }
      const rows = planRows((index, key) => this.db.readRow(index, key), row)
      void this.db.commit({ blocks: [{ cid, bytes }], rows })
      this.#ends.set(signer, { cid, seq })
      const range = Math.floor(seq / 100)
      while (this.cids.length <= range) this.cids.push([])
      this.cids[range]!.push(cid)
    }
    await this.db.flushed()
  }

  tree(): RangeTree {
    return new RangeTree(this.db, stream, this.cids.length)
  }
}

function cidOf(text: string): CidText {
  return cidTextOf(new TextEncoder().encode(text), 'dag-json')
}

async function memoryDatabase(): Promise<Database> {
  const level = new MemoryLevel()
  await level.open()
  return new LevelDatabase(level, '/nowhere', () => level.close())
}

/** The whole tree from all entries, as docs/format.md tells it. */
function plainNodes(ranges: readonly (readonly CidText[])[]): readonly (readonly string[])[] {
  const sha256 = (...parts: (Uint8Array | string)[]): string => {
    const hash = createHash('sha256')
    for (const part of parts) hash.update(part)
    return hash.digest('base64url')
  }
  let nodes = ranges.map((cids) =>
    cids.length === 0 ? '' : sha256(...[...cids].sort().map(digestOf)),
  )
  const levels = [nodes]
  while (nodes.length > 1) {
    const below = nodes
    nodes = Array.from({ length: Math.ceil(below.length / 32) }, (_, i) => {
      const children = below.slice(i * 32, i * 32 + 32)
      return children.join('') === '' ? '' : sha256(children.join('\n'))
    })
    levels.push(nodes)
  }
  return levels
}

async function expectPlain(tree: RangeTree, ranges: readonly CidText[][]): Promise<void> {
  const levels = plainNodes(ranges)
  expect(await tree.root()).toBe(levels.at(-1)![0] ?? '')
  for (const [level, nodes] of levels.entries())
    for (const [index, wanted] of nodes.entries()) {
      expect(await tree.node(level, index)).toBe(wanted)
      if (level > 0)
        expect(await tree.children(level, index)).toEqual(
          levels[level - 1]!.slice(index * 32, index * 32 + 32),
        )
    }
}

/** Remembers what is known so far, as a sync does. */
async function remember({ db }: Chains, tree: RangeTree, withLast = false): Promise<void> {
  const last = withLast ? tree.takeLast() : []
  await db.commit({ blocks: [], rows: [...tree.takeRows(), ...last] })
}

async function rangeRows(db: Database): Promise<readonly string[]> {
  const keys: string[] = []
  for await (const { key } of db.rows('ranges', '')) keys.push(key)
  return keys
}

describe('the tree of ranges', () => {
  it('gives what a plain count gives, whenever it was remembered and whatever was added since', async () => {
    const step = fc.record({
      signer: fc.constantFrom(...signers),
      // over the edge of a node of 3,200 at times
      count: fc.oneof(fc.nat(260), fc.constantFrom(3_190, 6_500)),
      remembered: fc.constantFrom('nothing', 'full', 'all'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        const chains = new Chains(await memoryDatabase())
        await using _ = chains.db
        for (const { signer, count, remembered } of steps) {
          await chains.add(signer, count)
          const tree = chains.tree()
          await expectPlain(tree, chains.cids)
          if (remembered !== 'nothing') await remember(chains, tree, remembered === 'all')
        }
        await expectPlain(chains.tree(), chains.cids)
      }),
      { numRuns: isSoak ? 40 : 6 },
    )
  }, 600_000)

  it('reads few rows and no entry but those of the last range, once it is remembered', async () => {
    const chains = new Chains(await memoryDatabase())
    await using db = chains.db
    await chains.add(signers[0], 7_050)
    const first = chains.tree()
    await first.root()
    await remember(chains, first)
    let rows = 0
    const ranges: string[] = []
    const counting = new RangeTree(
      {
        readRow(index, key) {
          rows += 1
          return db.readRow(index, key)
        },
        rowBatches(index, prefix) {
          ranges.push(prefix)
          return db.rowBatches(index, prefix)
        },
      },
      stream,
      71,
    )
    expect(await counting.root()).toBe(await first.root())
    expect(ranges).toEqual([rangeKey(stream, 70)])
    expect(rows).toBeLessThan(32 + 3)
    expect(counting.takeRows()).toEqual([])
  })

  it('has the entries of a range as they follow each other', async () => {
    const chains = new Chains(await memoryDatabase())
    await using db = chains.db
    await chains.add(signers[0], 250)
    for (const [range, cids] of chains.cids.entries())
      expect(await entriesInRange(db, stream, range)).toEqual(cids)
  })

  it('loses every row above an entry that comes late, and no other', async () => {
    const chains = new Chains(await memoryDatabase())
    await using db = chains.db
    await chains.add(signers[0], 7_050)
    const tree = chains.tree()
    await tree.root()
    await remember(chains, tree)
    const before = await rangeRows(db)
    expect(before).toContain(rangeNodeKey(stream, 1, 0))
    await chains.add(signers[1], 1)
    const gone = before.filter((key) => db.readRow('ranges', key) === undefined)
    expect(gone.sort()).toEqual([rangeKey(stream, 0), rangeNodeKey(stream, 1, 0)].sort())
    await expectPlain(chains.tree(), chains.cids)
  })
})

describe('rows of fingerprints', () => {
  it('are named by verify where they are not what the entries give, or nothing would take them away', async () => {
    const chains = new Chains(await memoryDatabase())
    await using db = chains.db
    await chains.add(signers[0], 7_050)
    const tree = chains.tree()
    await tree.root()
    await remember(chains, tree)
    const entries = new Map(
      chains.cids.flatMap((cids, range) =>
        cids.map((cid) => [cid, { cid, seq: range * 100, stream } as VerifiedEntry] as const),
      ),
    )
    const odd = async (): Promise<string[]> =>
      (await oddRanges(db, { entries })).map(({ key }) => key)
    const change = (key: string, values: readonly string[] | undefined): Promise<void> =>
      db.commit({ blocks: [], rows: [{ index: 'ranges', key, values }] })
    expect(await odd()).toEqual([])
    const [leaf, inner, other] = [
      rangeKey(stream, 3),
      rangeNodeKey(stream, 1, 0),
      rangeNodeKey(stream, 1, 1),
    ]
    const [rightLeaf, rightInner] = [leaf, inner].map((key) => db.readRow('ranges', key))
    await change(inner, db.readRow('ranges', other))
    expect(await odd()).toEqual([inner])
    await change(inner, rightInner)
    await change(leaf, db.readRow('ranges', rangeKey(stream, 4)))
    expect(await odd()).toEqual([leaf, inner])
    await change(leaf, undefined)
    expect(await odd()).toEqual([inner])
    await change(leaf, rightLeaf)
    await change(rangeNodeKey(stream, 9, 1), [''])
    expect(await odd()).toEqual([rangeNodeKey(stream, 9, 1)])
  })
})

describe('ranges that were filled', () => {
  it('are remembered when the database is closed, and not the last one', async () => {
    const directory = `${await makeTempFolder()}/.hstore`
    const options = { waitMs: 0, create: true }
    const chains = new Chains(await openDatabase(directory, options))
    await chains.add(signers[0], 350)
    await chains.add(signers[1], 120)
    expect(await rangeRows(chains.db)).toEqual([])
    await chains.db.close()
    await using db = await openDatabase(directory, options)
    const keys = [0, 1, 2].map((range) => rangeKey(stream, range))
    expect(await rangeRows(db)).toEqual(keys)
    await expectPlain(new RangeTree(db, stream, 4), chains.cids)
  })
})
