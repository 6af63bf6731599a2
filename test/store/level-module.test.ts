import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { makeDatabase, openDatabase } from '../../store/database.ts'
import { findDatabaseFault, rebuildDatabase } from '../../store/rebuild.ts'
import { makeSharedFolder } from '../support/store.ts'

const shared = await makeSharedFolder()

afterEach(() => {
  vi.doUnmock('level')
  vi.resetModules()
})

describe('a store where LevelDB can not be loaded', () => {
  it('is not told as damaged, and nothing is done to it', async () => {
    const directory = path.join(shared, 'store')
    await (await openDatabase(directory, { waitMs: 0, create: true })).close()
    const files = async () => (await readdir(directory, { recursive: true })).sort()
    const before = await files()
    vi.resetModules()
    vi.doMock('level', () => {
      throw new Error('No native build was found\nfor this machine')
    })
    const missing = { code: 'HSTORE_LEVELDB_MISSING' }
    const judge = vi.fn<() => Promise<undefined>>()
    await expect(openDatabase(directory, { waitMs: 0 })).rejects.toMatchObject(missing)
    await expect(makeDatabase(path.join(shared, 'x'), shared)).rejects.toMatchObject(missing)
    await expect(findDatabaseFault(directory, 0)).rejects.toMatchObject(missing)
    await expect(rebuildDatabase(directory, 0, judge)).rejects.toMatchObject(missing)
    expect(judge).not.toHaveBeenCalled()
    expect(await files()).toEqual(before)
    vi.doUnmock('level')
    vi.resetModules()
    await (await openDatabase(directory, { waitMs: 0 })).close()
  })
})
