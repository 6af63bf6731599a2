import { existsSync } from 'node:fs'
import { appendFile, cp, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Database } from '../../store/database.ts'
import { openDatabase } from '../../store/database.ts'
import { KeptDatabase } from '../../store/kept-database.ts'
import { isWanted, leaveWord } from '../../store/wanted.ts'
import { canMount, SmallDisk } from '../support/small-disk.ts'
import { startStoreProcess } from '../support/store-processes.ts'
import { makeSharedFolder } from '../support/store.ts'
import { makeTempFolder } from '../support/temp-folder.ts'

const wait = { waitMs: 20_000 }
const mounts = canMount(await makeSharedFolder())

async function makeStore(): Promise<{ directory: string; kept: KeptDatabase }> {
  const directory = join(await makeTempFolder(), 'store')
  await (await openDatabase(directory, { ...wait, create: true })).close()
  const kept = new KeptDatabase()
  onTestFinished(() => kept[Symbol.asyncDispose]())
  return { directory, kept }
}

/** LevelDB begins a new list of tables each time it is opened: two names are two openings. */
async function openingOf(directory: string): Promise<string | undefined> {
  return (await readdir(join(directory, 'db'))).find((name) => name.startsWith('MANIFEST'))
}

const isHeld = (directory: string): boolean => existsSync(join(directory, 'holder'))

async function put(database: Database, key: string): Promise<void> {
  await database.commit({ blocks: [], rows: [{ index: 'meta', key, values: [key] }] })
}

/** Opens, reads and writes a row, and closes; returns which opening of LevelDB that was. */
async function step(kept: KeptDatabase, directory: string, key: string): Promise<unknown> {
  await using database = await kept.open(directory, wait)
  await put(database, key)
  expect(database.readRow('meta', key)).toEqual([key])
  return openingOf(directory)
}

describe('a database that is kept', () => {
  it('is opened once for those who come one after the other, and closed when nobody does', async () => {
    const { directory, kept } = await makeStore()
    const openings = new Set<unknown>()
    for (const key of ['a', 'b', 'c']) openings.add(await step(kept, directory, key))
    expect(openings.size).toBe(1)
    expect(isHeld(directory)).toBe(true)
    while (isHeld(directory)) await sleep(20)
    await using database = await openDatabase(directory, { waitMs: 0 })
    for (const key of ['a', 'b', 'c']) expect(database.readRow('meta', key)).toEqual([key])
  })

  it('serves nobody who has closed it', async () => {
    const { directory, kept } = await makeStore()
    const database = await kept.open(directory, wait)
    await database.close()
    await database.close()
    expect(() => database.readRow('meta', 'a')).toThrow(TypeError)
    await expect(put(database, 'a')).rejects.toBeInstanceOf(TypeError)
  })

  it('goes to another process that waits, even for no time', async () => {
    const { directory, kept } = await makeStore()
    await step(kept, directory, 'a')
    // a try gives it time to be let go of, which may be too short on a machine that is busy: then the next finds it free
    let said: string | undefined
    while (said !== 'open') {
      const other = startStoreProcess('try', directory)
      await other.said(1)
      said = other.lines[0]
      expect(said).toMatch(/^(?:open|HSTORE_STORE_BUSY)$/)
      await other.ended
    }
    // in use, it goes when it is closed
    const database = await kept.open(directory, wait)
    const holder = startStoreProcess('hold', directory)
    while (!isWanted(directory)) await sleep(2)
    await put(database, 'b')
    await database.close()
    expect(isHeld(directory)).toBe(false)
    // who comes again gives the other time; a slow one gets it after that
    const again = step(kept, directory, 'c')
    await holder.said(1)
    await holder.kill()
    await again
    await using last = await kept.open(directory, wait)
    for (const key of ['a', 'b', 'c']) expect(last.readRow('meta', key)).toEqual([key])
  })

  it('shows what another process wrote in between', async () => {
    const { directory, kept } = await makeStore()
    {
      await using database = await kept.open(directory, wait)
      expect(database.readRow('meta', 'x-0')).toBe(undefined)
    }
    const writer = startStoreProcess('write', directory, 'x')
    await writer.said(1)
    await writer.kill()
    await using database = await kept.open(directory, wait)
    expect(database.readRow('meta', 'x-0')).toHaveLength(2)
  })

  it('is kept again after one who waited for it was killed', async () => {
    const { directory, kept } = await makeStore()
    leaveWord(directory)
    const openings: unknown[] = []
    for (const key of ['a', 'b', 'c']) openings.push(await step(kept, directory, key))
    expect(openings[1]).not.toBe(openings[0])
    expect(openings[2]).toBe(openings[1])
    expect(isWanted(directory)).toBe(false)
  })

  it('is given to the second of two when the first has closed it', async () => {
    const { directory, kept } = await makeStore()
    const first = await kept.open(directory, wait)
    const second = kept.open(directory, wait)
    while (!isWanted(directory)) await sleep(2)
    await put(first, 'a')
    await first.close()
    await using database = await second
    expect(database.readRow('meta', 'a')).toEqual(['a'])
  })

  it('is not written to where another has come in its place', async () => {
    const { directory, kept } = await makeStore()
    const copy = `${directory}-copy`
    await cp(directory, copy, { recursive: true })
    await step(kept, directory, 'gone')
    await rename(directory, `${directory}-old`)
    await rename(copy, directory)
    const before = await openingOf(directory)
    await step(kept, directory, 'here')
    expect(await openingOf(directory)).not.toBe(before)
    await kept[Symbol.asyncDispose]()
    await using database = await openDatabase(directory, wait)
    expect(database.readRow('meta', 'here')).toEqual(['here'])
    expect(database.readRow('meta', 'gone')).toBe(undefined)
  })

  it('is opened anew where its files were touched', async () => {
    const { directory, kept } = await makeStore()
    const file = (pattern: RegExp) => async (): Promise<string> => {
      const names = await readdir(join(directory, 'db'))
      return join(directory, 'db', names.find((name) => pattern.test(name)) ?? '')
    }
    const list = join(directory, 'acknowledged')
    const touches = [
      async () => rm(await file(/LOCK/)()),
      async () => rm(join(directory, 'lock')),
      async () => utimes(await file(/\.log$/)(), 1, 1),
      async () => utimes(await file(/CURRENT/)(), 1, 1),
      async () => appendFile(list, 'more\n'),
      async () => writeFile(join(directory, 'db', '999999.ldb'), ''),
    ]
    for (const touch of touches) {
      const before = await step(kept, directory, 'a')
      await touch()
      expect(await step(kept, directory, 'b')).not.toBe(before)
    }
  })

  it('is told to be gone as it is when it is opened', async () => {
    const { directory, kept } = await makeStore()
    await step(kept, directory, 'a')
    await rm(directory, { recursive: true })
    await expect(kept.open(directory, wait)).rejects.toMatchObject({
      code: 'HSTORE_STORE_UNREADABLE',
    })
    await expect(kept.open(directory, { waitMs: -1 })).rejects.toBeInstanceOf(RangeError)
  })

  it.runIf(mounts)('is opened anew where a write has failed', async () => {
    const disk = new SmallDisk(join(await makeTempFolder(), 'disk'), '8m')
    const directory = join(disk.path, 'store')
    await (await openDatabase(directory, { ...wait, create: true })).close()
    const kept = new KeptDatabase()
    onTestFinished(() => kept[Symbol.asyncDispose]())
    const before = await step(kept, directory, 'a')
    {
      await using database = await kept.open(directory, wait)
      disk.fill(0)
      await expect(put(database, 'x'.repeat(100_000))).rejects.toMatchObject({
        code: 'HSTORE_STORE_FULL',
      })
      disk.empty()
      await expect(put(database, 'b')).rejects.toMatchObject({ code: 'HSTORE_STORE_FULL' })
    }
    expect(await step(kept, directory, 'c')).not.toBe(before)
    await kept[Symbol.asyncDispose]()
  })

  it('is one of several stores', async () => {
    const { directory, kept } = await makeStore()
    const other = await makeStore()
    await step(kept, directory, 'a')
    await step(kept, other.directory, 'b')
    expect([isHeld(directory), isHeld(other.directory)]).toEqual([false, true])
    await using database = await kept.open(directory, wait)
    expect(database.readRow('meta', 'a')).toEqual(['a'])
  })
})
