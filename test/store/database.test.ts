import { Level } from 'level'
import {
  copyFile,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { asBytes } from '../../src/kernel/bytes.ts'
import { HashedBlock } from '../../store/block.ts'
import { openDatabase } from '../../store/database.ts'
import { startStoreProcess } from '../support/store-processes.ts'
import { makeTempFolder } from '../support/temp-folder.ts'

const oneTry = { waitMs: 0 }

describe('openDatabase', () => {
  it('makes a store for its owner only, and opens it again', async () => {
    const directory = join(await makeTempFolder(), 'a', '.hstore')
    const made = await openDatabase(directory, { waitMs: 0, create: true })
    await made.commit({ blocks: [], rows: [{ index: 'meta', key: 'k', values: ['v'] }] })
    await made.close()
    for (const folder of ['', 'db', 'artifacts', 'tmp']) {
      expect((await stat(join(directory, folder))).mode & 0o777).toBe(0o700)
    }
    for (const options of [oneTry, { waitMs: 0, create: true }]) {
      await using again = await openDatabase(directory, options)
      expect(again.directory).toBe(directory)
      expect(again.readRow('meta', 'k')).toEqual(['v'])
    }
  })

  it('has the same blocks for who reads them in the order of the disk', async () => {
    const directory = join(await makeTempFolder(), '.hstore')
    const blocks = Array.from({ length: 600 }, (_, i) =>
      HashedBlock.of(Buffer.from(`block ${i}`), 'raw'),
    )
    await using made = await openDatabase(directory, { waitMs: 0, create: true })
    await made.commit({ blocks, rows: [] })
    await made.close()
    await using db = await openDatabase(directory, { waitMs: 0, scans: true })
    const found: string[] = []
    for await (const { cid, sound } of db.scan()) if (sound) found.push(cid!)
    expect(found).toEqual(blocks.map(({ cid }) => cid).sort())
    const reads = await db.getMany(blocks.map(({ cid }) => cid))
    expect(reads.map((read) => read.state === 'ok' && asBytes(read.bytes))).toEqual(
      blocks.map(({ bytes }) => asBytes(bytes)),
    )
  })

  it('does not make a store unless it is told to', async () => {
    const folder = await makeTempFolder()
    for (const directory of [folder, join(folder, 'absent')]) {
      const opened = openDatabase(directory, oneTry)
      await expect(opened).rejects.toMatchObject({ code: 'HSTORE_STORE_UNREADABLE' })
      await expect(opened).rejects.toThrow(directory)
    }
    await writeFile(join(folder, 'db'), 'a file')
    await expect(openDatabase(folder, oneTry)).rejects.toMatchObject({
      code: 'HSTORE_STORE_UNREADABLE',
    })
    await expect(openDatabase(folder, { waitMs: 0, create: true })).rejects.toMatchObject({
      code: 'HSTORE_STORE_UNREADABLE',
    })
  })

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('refuses to wait %s ms', async (waitMs) => {
    await expect(openDatabase('.', { waitMs })).rejects.toBeInstanceOf(RangeError)
  })

  it('takes up a store whose making was cut short', async () => {
    const directory = await makeTempFolder()
    await mkdir(join(directory, 'db'))
    await writeFile(join(directory, 'db', 'MANIFEST-000001'), '')
    await (await openDatabase(directory, { waitMs: 0, create: true })).close()
    await (await openDatabase(directory, oneTry)).close()
  })

  it('tells a store made by a newer hstore', async () => {
    const directory = await makeStore()
    await withLevel(directory, (level) => level.put('!meta!format', '["4"]'))
    await expect(openDatabase(directory, oneTry)).rejects.toMatchObject({
      code: 'HSTORE_STORE_NEWER',
    })
  })

  it.each([false, true])(
    'says that a store is damaged, and heals nothing by itself (create %s)',
    async (create) => {
      const options = { waitMs: 0, create }
      const damaged = { code: 'HSTORE_STORE_DAMAGED' }
      const directory = await makeStore()
      const current = join(directory, 'db', 'CURRENT')
      await copyFile(current, join(directory, 'kept'))
      await truncate(current)
      await expect(openDatabase(directory, options)).rejects.toMatchObject(damaged)
      await writeFile(current, Buffer.alloc(16))
      await expect(openDatabase(directory, options)).rejects.toMatchObject(damaged)
      await rm(current)
      await expect(openDatabase(directory, options)).rejects.toMatchObject(damaged)
      await expect(openDatabase(directory, options)).rejects.toThrow('run hstore fsck')
      await copyFile(join(directory, 'kept'), current)
      await withLevel(directory, (level) =>
        level.batch([
          { type: 'del', key: '!meta!format' },
          { type: 'put', key: '!heads!csag:w', value: '[]' },
        ]),
      )
      await expect(openDatabase(directory, options)).rejects.toMatchObject(damaged)
    },
  )
})

describe('a log that was damaged', () => {
  it('is refused until it is rebuilt, and its files are kept', async () => {
    const directory = await makeStore()
    const database = await openDatabase(directory, oneTry)
    for (const key of ['a', 'b', 'c']) {
      await database.commit({ blocks: [], rows: [{ index: 'meta', key, values: [key] }] })
    }
    await database.close()
    const files = await readdir(join(directory, 'db'))
    const log = join(
      directory,
      'db',
      files.find((name) => name.endsWith('.log'))!,
    )
    const bytes = await readFile(log)
    bytes[bytes.length - 3]! ^= 4
    await writeFile(log, bytes)
    const damaged = { code: 'HSTORE_STORE_DAMAGED' }
    await expect(openDatabase(directory, oneTry)).rejects.toMatchObject(damaged)
    await expect(openDatabase(directory, oneTry)).rejects.toThrow('fsck --rebuild')
    expect(await readFile(join(directory, 'salvage', '1', basename(log)))).toEqual(bytes)
  })

  it('keeps nothing of an opening that went well, or was killed while it went well', async () => {
    const directory = await makeStore()
    await writeRow(directory)
    await mkdir(join(directory, 'kept-999999999-0'))
    await writeFile(join(directory, 'kept-999999999-0', '000003.log'), 'x')
    await (await openDatabase(directory, oneTry)).close()
    expect(await readdir(directory)).toEqual(['artifacts', 'closed', 'db', 'lock', 'tmp'])
  })

  it('that lacks the entry that was acknowledged last is refused each time', async () => {
    const directory = await makeStore()
    await writeRow(directory)
    const cid = `baguqeera${'a'.repeat(52)}`
    await writeFile(join(directory, 'acknowledged'), `${cid}\n`)
    for (let i = 0; i < 2; i++) {
      await expect(openDatabase(directory, oneTry)).rejects.toMatchObject({
        code: 'HSTORE_STORE_DAMAGED',
      })
    }
  })

  it.each(['', '\0'.repeat(100), 'no cid\n', '\n\n'])(
    'has nothing to do with a list of acknowledged entries that holds %j',
    async (text) => {
      const directory = await makeStore()
      await writeFile(join(directory, 'acknowledged'), text)
      await (await openDatabase(directory, oneTry)).close()
    },
  )
})

describe('a lock file that was deleted', () => {
  it('lets nobody in while the process that held it runs', async () => {
    const directory = await makeStore()
    const holder = startStoreProcess('hold', directory)
    await holder.said(1)
    await rm(join(directory, 'db', 'LOCK'))
    const opened = openDatabase(directory, { waitMs: 50 })
    await expect(opened).rejects.toMatchObject({ details: { holder: holder.pid } })
    const other = startStoreProcess('try', directory)
    await other.ended
    expect(other.lines).toEqual(['HSTORE_STORE_BUSY'])
    await holder.kill()
    await (await openDatabase(directory, oneTry)).close()
  })
})

describe('an open database', () => {
  it('reads rows that are not on disk yet, and lists those that are', async () => {
    const directory = await makeStore()
    await using database = await openDatabase(directory, oneTry)
    const keys = ['a', 'b', 'b\u0000', 'b\u0000c', 'bc', 'b\u{10ffff}', 'c']
    const rows = keys.map((key) => ({ index: 'names', key, values: [key, ''] }) as const)
    const written = database.commit({ blocks: [], rows })
    for (const key of keys) expect(database.readRow('names', key)).toEqual([key, ''])
    expect(database.readRow('heads', 'a')).toBeUndefined()
    const listed: unknown[] = []
    for await (const row of database.rows('names', 'b')) listed.push(row)
    expect(listed).toEqual(
      ['b', 'b\u0000', 'b\u0000c', 'bc', 'b\u{10ffff}'].map((key) => ({ key, values: [key, ''] })),
    )
    await written
  })

  it('deletes rows', async () => {
    const directory = await makeStore()
    await using database = await openDatabase(directory, oneTry)
    const row = { index: 'tips', key: 'k' } as const
    await database.commit({ blocks: [], rows: [{ ...row, values: ['v'] }] })
    expect(database.readRow('tips', 'k')).toEqual(['v'])
    const deleted = database.commit({ blocks: [], rows: [{ ...row, values: undefined }] })
    expect(database.readRow('tips', 'k')).toBeUndefined()
    await deleted
    expect(database.readRow('tips', 'k')).toBeUndefined()
  })

  it('says when a row is damaged', async () => {
    const directory = await makeStore()
    await withLevel(directory, (level) => level.put('!heads!s', '["unfinished'))
    await using database = await openDatabase(directory, oneTry)
    expect(() => database.readRow('heads', 's')).toThrow(
      expect.objectContaining({ code: 'HSTORE_STORE_DAMAGED' }),
    )
    const rows = database.rows('heads', '')[Symbol.asyncIterator]()
    await expect(rows.next()).rejects.toMatchObject({ code: 'HSTORE_STORE_DAMAGED' })
  })

  it('writes what is queued before it closes, once, and then refuses', async () => {
    const directory = await makeStore()
    const database = await openDatabase(directory, oneTry)
    const row = { index: 'meta', key: 'last', values: ['v'] } as const
    const written = database.commit({ blocks: [], rows: [row] })
    await Promise.all([database.close(), database.close(), written])
    await expect(database.commit({ blocks: [], rows: [row] })).rejects.toBeInstanceOf(TypeError)
    expect(() => database.readRow('meta', 'last')).toThrow(TypeError)
    await using again = await openDatabase(directory, oneTry)
    expect(again.readRow('meta', 'last')).toEqual(['v'])
  })

  it('names its process in the holder file while it is open', async () => {
    const directory = await makeStore()
    const holder = join(directory, 'holder')
    const database = await openDatabase(directory, oneTry)
    expect(await readFile(holder, 'utf8')).toBe(`${process.pid}\n`)
    await database.close()
    await expect(stat(holder)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('leaves alone a holder file that is not its own', async () => {
    const directory = await makeStore()
    const database = await openDatabase(directory, oneTry)
    await writeFile(join(directory, 'holder'), '1\n')
    await database.close()
    expect(await readFile(join(directory, 'holder'), 'utf8')).toBe('1\n')
  })
})

describe('a database that is held', () => {
  it('by another process, is busy and says by whom', async () => {
    const directory = await makeStore()
    const other = startStoreProcess('hold', directory)
    await other.said(1)
    const busy = { code: 'HSTORE_STORE_BUSY', details: { holder: other.pid } }
    await expect(openDatabase(directory, oneTry)).rejects.toMatchObject(busy)
    const started = performance.now()
    const opened = openDatabase(directory, { waitMs: 200 })
    await expect(opened).rejects.toMatchObject(busy)
    await expect(opened).rejects.toThrow(`${other.pid}`)
    await expect(opened).rejects.toThrow('--wait')
    expect(performance.now() - started).toBeGreaterThanOrEqual(200)
  })

  it('by a process that gets killed, is free at once and as it was', async () => {
    const directory = await makeStore()
    const other = startStoreProcess('hold', directory)
    await other.said(1)
    const opened = openDatabase(directory, { waitMs: 20_000 })
    await other.kill()
    await using database = await opened
    expect(database.readRow('meta', 'format')).toEqual(['3'])
    expect(await readFile(join(directory, 'holder'), 'utf8')).toBe(`${process.pid}\n`)
  })

  it('by this process, makes the second wait like another process', async () => {
    const directory = await makeStore()
    const link = join(await makeTempFolder(), 'link')
    await symlink(directory, link)
    const first = await openDatabase(directory, oneTry)
    for (const path of [directory, `${directory}/../${directory.split('/').at(-1)}`, link]) {
      await expect(openDatabase(path, oneTry)).rejects.toMatchObject({
        code: 'HSTORE_STORE_BUSY',
        details: { holder: process.pid },
      })
    }
    const second = openDatabase(link, { waitMs: 20_000 })
    await sleep(50)
    await first.close()
    await (await second).close()
  })

  it('by this process, stays held after the process tried to open it again', async () => {
    const directory = await makeStore()
    await using first = await openDatabase(directory, oneTry)
    await rm(join(directory, 'holder'))
    await expect(openDatabase(directory, oneTry)).rejects.toThrow()
    await expectClosedToOthers(directory)
    expect(first.readRow('meta', 'format')).toEqual(['3'])
  })

  it('by one thread, is busy for the others', async () => {
    const directory = await makeStore()
    await using database = await openDatabase(directory, oneTry)
    const worker = new Worker(
      `import(process.argv[2]).then(({ openDatabase }) => openDatabase(process.argv[3], { waitMs: 0 }))
        .then(() => 'open', (error) => error.code)
        .then((result) => require('node:worker_threads').parentPort.postMessage(result))`,
      {
        eval: true,
        argv: [new URL('../../dist/store/database.js', import.meta.url).href, directory],
      },
    )
    const result = await new Promise((resolve, reject) => {
      worker.once('message', resolve).once('error', reject)
    })
    await worker.terminate()
    expect(result).toBe('HSTORE_STORE_BUSY')
    await expectClosedToOthers(directory)
    expect(database.readRow('meta', 'format')).toEqual(['3'])
  })

  it('by a dead process with this pid, as its file says, is not held', async () => {
    const directory = await makeStore()
    await writeFile(join(directory, 'holder'), `${process.pid}\n`)
    await (await openDatabase(directory, oneTry)).close()
  })

  it('goes round fairly: 8 processes open, commit and close it 50 times each', async () => {
    const directory = await makeStore()
    const ids = Array.from({ length: 8 }, (_, i) => `p${i}`)
    const processes = ids.map((id) => startStoreProcess('cycle', directory, id, '50'))
    expect(await Promise.all(processes.map(({ ended }) => ended))).toEqual(ids.map(() => 0))
    await using database = await openDatabase(directory, oneTry)
    const rows: string[] = []
    for await (const { key } of database.rows('meta', 'p')) rows.push(key)
    expect(rows).toHaveLength(400)
  })
})

/** Closing any descriptor of LevelDB's lock file would have dropped this process's lock without a word. */
async function expectClosedToOthers(directory: string): Promise<void> {
  const other = startStoreProcess('try', directory)
  await other.ended
  expect(other.lines).toEqual(['HSTORE_STORE_BUSY'])
}

async function makeStore(): Promise<string> {
  const directory = await makeTempFolder()
  await (await openDatabase(directory, { waitMs: 0, create: true })).close()
  return directory
}

async function writeRow(directory: string): Promise<void> {
  await using database = await openDatabase(directory, oneTry)
  await database.commit({ blocks: [], rows: [{ index: 'meta', key: 'k', values: ['v'] }] })
}

async function withLevel(
  directory: string,
  change: (level: Level) => Promise<void>,
): Promise<void> {
  const level = new Level(join(directory, 'db'))
  await change(level)
  await level.close()
}
