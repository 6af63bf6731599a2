import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../../store/database.ts'
import { openDatabase } from '../../../store/database.ts'
import { rememberTrees, tipsIn, treeOf } from '../../../src/sync/trees.ts'
import { envelopeOf } from '../../support/envelope.ts'
import type { TestStore } from '../../support/store.ts'
import { agents, makeTestStore, ok } from '../../support/store.ts'
import { makeTempFolder } from '../../support/temp-folder.ts'

let store: TestStore

beforeEach(async () => {
  store = await makeTestStore(path.join(await makeTempFolder(), 'trees'))
})

async function putStreams(count: number, author: string = agents.merger): Promise<void> {
  const lines = Array.from({ length: count }, (_, i) => {
    const small = { workspace: `csag:handoff/w${i}`, revision: `R-${author.at(-1)}`, author }
    return `${JSON.stringify(envelopeOf(small))}\n`
  })
  const file = path.join(store.root, 'lines')
  await writeFile(file, lines.join(''))
  await ok(store.run('put', '--batch', file, '--as', author))
}

async function rootsIn(db: Database): Promise<Record<string, string>> {
  const roots: Record<string, string> = {}
  for (const stream of (await tipsIn(db)).keys())
    roots[stream] = await (await treeOf(db, stream)).root()
  return roots
}

async function rangeRows(db: Database): Promise<number> {
  let count = 0
  for await (const rows of db.rowBatches('ranges', '')) count += rows.length
  return count
}

describe('the last ranges of streams', () => {
  it.each([
    [30, 0],
    [31, 32],
  ])('beside the rosters of %i streams are remembered: %i', async (streams, remembered) => {
    await putStreams(streams)
    {
      await using db = await openDatabase(store.store, { waitMs: 0 })
      const roots = await rootsIn(db)
      expect(Object.keys(roots)).toHaveLength(streams + 1)
      rememberTrees(db)
      await db.flushed()
      expect(await rangeRows(db)).toBe(remembered)
      expect(await rootsIn(db)).toEqual(roots)
    }
    await ok(store.run('verify', '--all'))
    await putStreams(2, agents.a)
    await using db = await openDatabase(store.store, { waitMs: 0 })
    expect(await rangeRows(db)).toBe(Math.max(0, remembered - 2))
    const roots = await rootsIn(db)
    for await (const { key } of db.rows('ranges', ''))
      await db.commit({ blocks: [], rows: [{ index: 'ranges', key, values: undefined }] })
    expect(await rangeRows(db)).toBe(0)
    expect(await rootsIn(db)).toEqual(roots)
  })

  it('are not remembered where something was written since they were read', async () => {
    await putStreams(40)
    await using db = await openDatabase(store.store, { waitMs: 0 })
    await rootsIn(db)
    await db.commit({ blocks: [], rows: [] })
    rememberTrees(db)
    await db.flushed()
    expect(await rangeRows(db)).toBe(0)
  })
})
