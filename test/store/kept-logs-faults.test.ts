import { copyFile, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Block } from '../../store/block.ts'
import { HashedBlock } from '../../store/block.ts'
import { openDatabase } from '../../store/database.ts'
import { entryKey } from '../../store/keyspace.ts'
import { isDamagedLog, readRecords } from '../../store/level-log.ts'
import { findUnnamedTables } from '../../store/level-manifest.ts'
import { rebuildDatabase } from '../../store/rebuild.ts'
import { startStoreProcess } from '../support/store-processes.ts'
import { makeTempFolder } from '../support/temp-folder.ts'

const oneTry = { waitMs: 0 }
const damaged = { code: 'HSTORE_STORE_DAMAGED' }

/** A block that its index calls an entry, so that it stands on the list of those that were acknowledged. */
function blockOf(i: number): Block {
  const bytes = new TextEncoder().encode(JSON.stringify({ i, pad: 'x'.repeat(9000) }))
  return HashedBlock.of(bytes, 'dag-json')
}

const blocks = Array.from({ length: 24 }, (_, i) => blockOf(i))

async function put(directory: string, from: number, to: number, create = false): Promise<void> {
  await using database = await openDatabase(directory, { waitMs: 0, create })
  for (const [i, block] of blocks.slice(from, to).entries()) {
    const key = entryKey('s', from + i, block.cid)
    await database.commit({ blocks: [block], rows: [{ index: 'entries', key, values: ['x'] }] })
  }
}

/** A store with 12 entries in a table and 12 in the log. */
async function makeStore(): Promise<string> {
  const directory = join(await makeTempFolder(), '.hstore')
  await put(directory, 0, 12, true)
  await put(directory, 12, 24)
  return directory
}

async function fileOf(directory: string, name: RegExp): Promise<string> {
  const names = await readdir(join(directory, 'db'))
  return join(
    directory,
    'db',
    names
      .filter((one) => name.test(one))
      .sort()
      .at(-1)!,
  )
}

const logOf = (directory: string): Promise<string> => fileOf(directory, /\.log$/)

async function heldIn(directory: string): Promise<number> {
  await using database = await openDatabase(directory, oneTry)
  const reads = await database.getMany(blocks.map(({ cid }) => cid))
  return reads.filter(({ state }) => state === 'ok').length
}

async function rebuild(directory: string): Promise<void> {
  await rebuildDatabase(directory, 0, async () => ({ entries: [], lost: [] }))
}

describe('a log', () => {
  it('that LevelDB wrote is sound, wherever it breaks off', async () => {
    const log = new Uint8Array(await readFile(await logOf(await makeStore())))
    expect(readRecords(log)).toHaveLength(12)
    expect(isDamagedLog(log)).toBe(false)
    for (let at = 0; at < log.length; at += 997) {
      expect(isDamagedLog(log.subarray(0, at))).toBe(false)
      const zeros = log.slice()
      zeros.fill(0, at)
      expect(isDamagedLog(zeros)).toBe(false)
    }
  })

  it('is damaged by any bit that differs before its last block, and by zeros within', async () => {
    const log = new Uint8Array(await readFile(await logOf(await makeStore())))
    for (let at = 0; at < log.length - 32 * 1024; at += 1999) {
      const flipped = log.slice()
      flipped[at]! ^= 1 << (at % 8)
      expect({ at, is: isDamagedLog(flipped) }).toEqual({ at, is: true })
      const zeros = log.slice()
      zeros.fill(0, at, at + 512)
      expect({ at, is: isDamagedLog(zeros) }).toEqual({ at, is: true })
    }
    expect(isDamagedLog(new Uint8Array(40_000).fill(7))).toBe(true)
  })

  it('with a hole that LevelDB passes over in silence is refused, and a rebuild brings the rest', async () => {
    const directory = await makeStore()
    const log = await logOf(directory)
    const bytes = await readFile(log)
    bytes.fill(0, 0, 512)
    await writeFile(log, bytes)
    for (let i = 0; i < 2; i++) {
      await expect(openDatabase(directory, oneTry)).rejects.toMatchObject(damaged)
    }
    await rebuild(directory)
    // LevelDB gives up the block of 32 KiB that the hole is in, which holds four
    expect(await heldIn(directory)).toBeGreaterThanOrEqual(20)
  })
})

describe('a MANIFEST', () => {
  it('names the tables that are there', async () => {
    const directory = await makeStore()
    await (await openDatabase(directory, oneTry)).close()
    const names = await readdir(join(directory, 'db'))
    expect(names.filter((name) => name.endsWith('.ldb')).length).toBeGreaterThan(0)
    expect(findUnnamedTables(join(directory, 'db'), names)).toEqual([])
    expect(findUnnamedTables(join(directory, 'db'), [...names, '099999.ldb'])).toEqual([
      '099999.ldb',
    ])
  })

  it('that was cut at any byte loses no entry: refused, then rebuilt', async () => {
    const ground = await makeStore()
    const { length } = await readFile(await fileOf(ground, /^MANIFEST/))
    for (let at = 0; at < length; at += Math.ceil(length / 12)) {
      const directory = join(await makeTempFolder(), '.hstore')
      await mkdir(join(directory, 'db'), { recursive: true })
      await copyFile(join(ground, 'acknowledged'), join(directory, 'acknowledged'))
      for (const name of await readdir(join(ground, 'db'))) {
        await copyFile(join(ground, 'db', name), join(directory, 'db', name))
      }
      await truncate(await fileOf(directory, /^MANIFEST/), at)
      const opened = await heldIn(directory).catch((error: { code: string }) => error.code)
      if (opened !== 24) {
        expect({ at, opened }).toEqual({ at, opened: damaged.code })
        await rebuild(directory)
      }
      expect({ at, held: await heldIn(directory) }).toEqual({ at, held: 24 })
    }
  })
})

describe('what was left by a process that was killed', () => {
  const alive = process.ppid

  it('while it opened the store counts, though another process has its pid now', async () => {
    const directory = await makeStore()
    const log = await logOf(directory)
    const left = join(directory, `kept-${alive}-0`)
    await mkdir(left)
    const bytes = await readFile(log)
    bytes[100]! ^= 1
    await writeFile(join(left, basename(log)), bytes)
    await expect(openDatabase(directory, oneTry)).rejects.toMatchObject(damaged)
    await rebuild(directory)
    expect(await heldIn(directory)).toBe(24)
    expect((await readdir(directory)).sort()).toEqual([
      'artifacts',
      'closed',
      'damaged-1',
      'db',
      'lock',
      'tmp',
    ])
  })

  it('while a table was written does no harm', async () => {
    const directory = await makeStore()
    await writeFile(join(directory, 'db', '000900.ldb'), 'half a table')
    expect(await heldIn(directory)).toBe(24)
    expect(await readdir(directory)).not.toContain('salvage')
  })

  it.each([alive, process.pid, 999_999_999])(
    'while it rebuilt is taken away by the next one (pid %i)',
    async (pid) => {
      const directory = await makeStore()
      await mkdir(join(directory, 'rebuild', 'db'), { recursive: true })
      await mkdir(join(directory, `lock-${pid}-0`))
      await rm(join(directory, 'db', 'CURRENT'))
      await rebuild(directory)
      expect(await heldIn(directory)).toBe(24)
      const names = await readdir(directory)
      expect(names).not.toContain('rebuild')
      expect(names.filter((name) => name.startsWith('lock-'))).toHaveLength(pid < 1e8 ? 1 : 0)
    },
  )
})

describe('a lock file that is deleted', () => {
  it('while a rebuild holds the store lets nobody in', async () => {
    const directory = await makeStore()
    await rebuildDatabase(directory, 0, async () => {
      await rm(join(directory, 'db', 'LOCK'))
      const other = startStoreProcess('try', directory)
      await other.ended
      expect(other.lines).toEqual(['HSTORE_STORE_BUSY'])
      await writeFile(join(directory, 'db', 'LOCK'), '')
      return { entries: [], lost: [] }
    })
    expect(await heldIn(directory)).toBe(24)
  })

  it('with the file that names the holder lets nobody in either', async () => {
    const directory = await makeStore()
    const holder = startStoreProcess('hold', directory)
    await holder.said(1)
    for (let i = 0; i < 3; i++) {
      await rm(join(directory, 'db', 'LOCK'), { force: true })
      await rm(join(directory, 'holder'), { force: true })
      const busy = { code: 'HSTORE_STORE_BUSY' }
      await expect(openDatabase(directory, oneTry)).rejects.toMatchObject(busy)
      await expect(
        rebuildDatabase(directory, 0, async () => ({ entries: [], lost: [] })),
      ).rejects.toMatchObject(busy)
    }
    await holder.kill()
    expect(await heldIn(directory)).toBe(24)
  })

  it('or that a copy has made two of is one again, whoever comes at once, and nothing is left', async () => {
    const directory = await makeStore()
    for (let round = 0; round < 3; round++) {
      await rm(join(directory, 'lock'))
      await writeFile(join(directory, 'lock'), '')
      const all = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) =>
        startStoreProcess('cycle', directory, `${id}${round}`, '1'),
      )
      expect(await Promise.all(all.map(({ ended }) => ended))).toEqual(all.map(() => 0))
      const [one, other] = await Promise.all(
        ['lock', 'db/LOCK'].map((name) => stat(join(directory, name))),
      )
      expect(one!.ino).toBe(other!.ino)
      expect(await readdir(join(directory, 'tmp'))).toEqual([])
    }
  })

  it('is made anew by a rebuild that holds it', async () => {
    const directory = await makeStore()
    await rebuildDatabase(directory, 0, async () => {
      await rm(join(directory, 'db', 'LOCK'))
      return { entries: [], lost: [] }
    })
    expect(await heldIn(directory)).toBe(24)
  })

  it('is waited for by another opening of the same process, too', async () => {
    const directory = await makeStore()
    const opened: unknown[] = []
    await rebuildDatabase(directory, 0, async () => {
      await openDatabase(directory, oneTry).catch((error: { code: string }) =>
        opened.push(error.code),
      )
      await rebuildDatabase(directory, 0, async () => ({ entries: [], lost: [] })).catch(
        (error: { code: string }) => opened.push(error.code),
      )
      return { entries: [], lost: [] }
    })
    expect(opened).toEqual(['HSTORE_STORE_BUSY', 'HSTORE_STORE_BUSY'])
    expect(await heldIn(directory)).toBe(24)
  })
})
