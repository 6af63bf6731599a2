import {
  copyFile,
  mkdir,
  readdir,
  readFile,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isAsClosed } from '../../store/closed-state.ts'
import { openDatabase } from '../../store/database.ts'
import { KeptLogs, keptFolders } from '../../store/kept-logs.ts'
import type { Place } from '../../store/place.ts'
import { startStoreProcess } from '../support/store-processes.ts'
import { makeTempFolder } from '../support/temp-folder.ts'

async function makeStore(): Promise<Place> {
  const directory = join(await makeTempFolder(), '.hstore')
  await (await openDatabase(directory, { waitMs: 0, create: true })).close()
  return { directory, databasePath: join(directory, 'db') }
}

async function manifestOf({ databasePath }: Place): Promise<string> {
  return join(databasePath, (await readFile(join(databasePath, 'CURRENT'), 'latin1')).trim())
}

/** What an opening keeps when a table is there that the list does not name. */
async function keptFrom(place: Place): Promise<readonly string[]> {
  await writeFile(join(place.databasePath, '000099.ldb'), 'half a table')
  const kept = new KeptLogs(place)
  const names = await Promise.all(keptFolders(place.directory).map((folder) => readdir(folder)))
  kept.drop()
  return names.flat().filter((name) => name.endsWith('.ldb'))
}

describe('the note of how a database was closed', () => {
  it('makes a table that a compaction has left nothing to doubt about', async () => {
    const place = await makeStore()
    expect(isAsClosed(place)).toBe(true)
    expect(await keptFrom(place)).toEqual([])
  })

  it('counts no more once the list of tables was cut, changed or put back', async () => {
    const place = await makeStore()
    const manifest = await manifestOf(place)
    const bytes = await readFile(manifest)
    await truncate(manifest, bytes.length - 1)
    expect(isAsClosed(place)).toBe(false)
    bytes[bytes.length - 1]! ^= 1
    await writeFile(manifest, bytes)
    expect(isAsClosed(place)).toBe(false)
    expect(await keptFrom(place)).toEqual(['000099.ldb'])
  })

  it('counts no more once somebody has opened the database, and was killed', async () => {
    const place = await makeStore()
    const holder = startStoreProcess('hold', place.directory)
    await holder.said(1)
    await holder.kill()
    expect(isAsClosed(place)).toBe(false)
    expect(await keptFrom(place)).toEqual(['000099.ldb'])
    await (await openDatabase(place.directory, { waitMs: 5000 })).close()
    expect(isAsClosed(place)).toBe(true)
  })

  it('is none where it is a link, of another size, of another list, or not there', async () => {
    const place = await makeStore()
    const note = join(place.directory, 'closed')
    const text = await readFile(note, 'latin1')
    const elsewhere = join(await makeTempFolder(), 'closed')
    await copyFile(note, elsewhere)
    for (const spoil of [
      () => writeFile(note, `${text}x`),
      () => writeFile(note, `${'0'.repeat(64)}\n`),
      () => rm(note),
      () => symlink(elsewhere, note),
      () => rm(note).then(() => mkdir(note)),
    ]) {
      await spoil()
      expect(isAsClosed(place)).toBe(false)
    }
  })
})
