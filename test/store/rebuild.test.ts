import { cp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { asBuffer } from '../../src/kernel/bytes.ts'
import type { CidText } from '../../store/cid-text.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import { HashedBlock } from '../../store/block.ts'
import type { RowChange } from '../../store/commit.ts'
import { openDatabase } from '../../store/database.ts'
import { findDatabaseFault, rebuildDatabase } from '../../store/rebuild.ts'
import { bytesOf } from '../support/envelope.ts'
import { startStoreProcess } from '../support/store-processes.ts'
import { makeTempFolder } from '../support/temp-folder.ts'

const oneTry = { waitMs: 0 }

function blockOf(i: number): { cid: CidText; bytes: Uint8Array } {
  const bytes = new TextEncoder().encode(JSON.stringify({ i, pad: 'x'.repeat(3000) }))
  return { cid: cidTextOf(bytes, 'dag-json'), bytes }
}

const blocks = Array.from({ length: 12 }, (_, i) => blockOf(i))

/** A store whose first half of blocks is in tables, the other half in the log. */
async function makeStore(): Promise<string> {
  const directory = join(await makeTempFolder(), '.hstore')
  for (const half of [blocks.slice(0, 6), blocks.slice(6)]) {
    await using database = await openDatabase(directory, { waitMs: 0, create: true })
    for (const block of half) await database.commit({ blocks: [block], rows: [] })
  }
  return directory
}

async function fileOf(directory: string, end: string): Promise<string> {
  const names = await readdir(join(directory, 'db'))
  return join(
    directory,
    'db',
    names
      .filter((name) => name.endsWith(end))
      .sort()
      .at(-1)!,
  )
}

async function heldIn(directory: string): Promise<readonly CidText[]> {
  await using database = await openDatabase(directory, oneTry)
  const reads = await database.getMany(blocks.map(({ cid }) => cid))
  return blocks.filter((_, i) => reads[i]?.state === 'ok').map(({ cid }) => cid)
}

const all = blocks.map(({ cid }) => cid)

describe('rebuildDatabase', () => {
  it.each([
    ['CURRENT', 'cut', 12],
    ['CURRENT', 'emptied', 12],
    ['CURRENT', 'zeroed', 12],
    ['.ldb', 'cut', 8],
    ['.ldb', 'emptied', 6],
    ['.ldb', 'zeroed', 6],
    ['.log', 'emptied', 6],
    ['.log', 'zeroed', 6],
  ])('of a database whose %s was %s brings back %i blocks of 12', async (end, how, count) => {
    const directory = await makeStore()
    const file = end === 'CURRENT' ? join(directory, 'db', end) : await fileOf(directory, end)
    const { length } = await readFile(file)
    if (how === 'zeroed') await writeFile(file, Buffer.alloc(length))
    else await truncate(file, how === 'cut' ? length >> 1 : 0)
    let found = 0
    const kept = await rebuildDatabase(directory, 0, async ({ db }) => {
      for await (const { sound } of db.scan()) found += sound ? 1 : 0
      return { entries: [], lost: [] }
    })
    expect(found).toBeGreaterThanOrEqual(count)
    expect(kept).toBe(join(directory, 'damaged-1'))
    expect(await heldIn(directory)).toHaveLength(found)
    expect(await readdir(directory)).not.toContain('rebuild')
  })

  it('of a log with a changed bit brings back every block but the one that was hit', async () => {
    const directory = await makeStore()
    const file = await fileOf(directory, '.log')
    const bytes = await readFile(file)
    bytes[bytes.length - 100]! ^= 1
    await writeFile(file, bytes)
    for (let i = 0; i < 2; i++) {
      await expect(openDatabase(directory, oneTry)).rejects.toMatchObject({
        code: 'HSTORE_STORE_DAMAGED',
      })
    }
    const kept = await rebuildDatabase(directory, 0, async ({ corrupt }) => {
      expect([...corrupt]).toEqual([all.at(-1)])
      return { entries: [], lost: [] }
    })
    expect(kept).toBe(join(directory, 'damaged-1'))
    expect(await heldIn(directory)).toEqual(all.slice(0, -1))
  })

  it('of a log with a wrong length brings back every block', async () => {
    const directory = await makeStore()
    const file = await fileOf(directory, '.log')
    const bytes = await readFile(file)
    bytes.fill(0xff, 4, 6)
    await writeFile(file, bytes)
    await rebuildDatabase(directory, 0, async () => ({ entries: [], lost: [] }))
    expect(await heldIn(directory)).toEqual(all)
  })

  it('of a table without its last 48 bytes brings back every block', async () => {
    const directory = await makeStore()
    const file = await fileOf(directory, '.ldb')
    await truncate(file, (await readFile(file)).length - 48)
    await rebuildDatabase(directory, 0, async ({ damaged }) => {
      expect(damaged.map(({ path }) => path)).toEqual([file])
      return { entries: [], lost: [] }
    })
    expect(await heldIn(directory)).toEqual(all)
  })

  it('of a table that was cut to half brings back every block before the cut', async () => {
    const directory = join(await makeTempFolder(), '.hstore')
    const bytes = Array.from({ length: 8 }, (_, i) => bytesOf(`${i}`, 10_000))
    const many = bytes.map((some) => HashedBlock.of(some, 'raw'))
    await using database = await openDatabase(directory, { waitMs: 0, create: true })
    const rows = many.slice(0, 2).flatMap(({ cid }): RowChange[] => [
      { index: 'collected', key: cid, values: [] },
      { index: 'made', key: cid, values: [`proof of ${cid}`] },
    ])
    await database.commit({ blocks: many, rows })
    await database.close()
    // the next opening makes a table of the log
    await (await openDatabase(directory, oneTry)).close()
    const file = await fileOf(directory, '.ldb')
    const table = await readFile(file)
    await truncate(file, table.length >> 1)
    const cut = many.filter(
      ({ bytes: some }) => !table.subarray(0, table.length >> 1).includes(asBuffer(some)),
    )
    await rebuildDatabase(directory, 0, async ({ db, damaged }) => {
      expect(damaged.map(({ path }) => path)).toContain(file)
      const reads = await db.getMany(many.map(({ cid }) => cid))
      const lost = many.filter((_, i) => reads[i]?.state !== 'ok')
      expect(lost).toEqual(cut)
      expect(cut).toHaveLength(4)
      return undefined
    })
    await truncate(file, 0)
    await writeFile(file, table.subarray(0, -48))
    await rebuildDatabase(directory, 0, async ({ db }) => {
      for (const { index, key, values } of rows) expect(db.readRow(index, key)).toEqual(values)
      return undefined
    })
  })

  it('changes nothing where it is not to be taken', async () => {
    const directory = await makeStore()
    const names = await readdir(directory)
    expect(await rebuildDatabase(directory, 0, async () => undefined)).toBeUndefined()
    expect(await readdir(directory)).toEqual(names)
    expect(await heldIn(directory)).toEqual(all)
  })

  it('takes up what a rebuild left that was killed between its two renames', async () => {
    const directory = await makeStore()
    await cp(join(directory, 'db'), join(directory, 'damaged-1'), { recursive: true })
    await cp(join(directory, 'db'), join(directory, 'rebuild', 'db'), { recursive: true })
    await rm(join(directory, 'db'), { recursive: true })
    await expect(openDatabase(directory, oneTry)).rejects.toThrow('fsck --rebuild')
    await rebuildDatabase(directory, 0, async () => ({ entries: [], lost: [] }))
    expect(await heldIn(directory)).toEqual(all)
    expect(await readdir(directory)).not.toContain('rebuild')
  })

  it('waits for the process that holds the database, as any other does', async () => {
    const directory = await makeStore()
    const holder = startStoreProcess('hold', directory)
    await holder.said(1)
    const rebuilt = rebuildDatabase(directory, 50, async () => ({ entries: [], lost: [] }))
    await expect(rebuilt).rejects.toMatchObject({ code: 'HSTORE_STORE_BUSY' })
    await holder.kill()
    await rebuildDatabase(directory, 5000, async ({ db }) => {
      const other = startStoreProcess('try', directory)
      await other.ended
      expect(other.lines).toEqual(['HSTORE_STORE_BUSY'])
      await db.flushed()
      return { entries: [], lost: [] }
    })
    expect(await heldIn(directory)).toEqual(all)
  })
})

describe('findDatabaseFault', () => {
  it('has nothing against a sound database, and leaves it as it is', async () => {
    const directory = await makeStore()
    const before = await readdir(join(directory, 'db'))
    expect(await findDatabaseFault(directory, 0)).toBeUndefined()
    expect(await readdir(join(directory, 'db'))).toEqual(before)
  })

  it('names what LevelDB has against a damaged one', async () => {
    const directory = await makeStore()
    await truncate(await fileOf(directory, '.ldb'), 0)
    expect(await findDatabaseFault(directory, 0)).toMatch(/\S/)
  })
})
