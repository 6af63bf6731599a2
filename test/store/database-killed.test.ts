import { describe, expect, it } from 'vitest'
import type { CidText } from '../../store/cid-text.ts'
import type { Database } from '../../store/database.ts'
import { openDatabase } from '../../store/database.ts'
import { startStoreProcess } from '../support/store-processes.ts'
import { makeTempFolder } from '../support/temp-folder.ts'

const rounds = process.env['HSTORE_SOAK'] ? 200 : 20

describe('a writer that is killed', () => {
  it(`loses nothing that it had acknowledged, in ${rounds} rounds on one store`, async () => {
    const directory = await makeTempFolder()
    await (await openDatabase(directory, { waitMs: 0, create: true })).close()
    let acknowledged = 0
    for (let round = 0; round < rounds; round++) {
      const id = `r${round}`
      const writer = startStoreProcess('write', directory, id)
      await writer.said(1 + ((round * 7) % 40))
      await writer.kill()
      await using database = await openDatabase(directory, { waitMs: 20_000 })
      for (const line of writer.lines) await expectWhole(database, `${id}-${line}`)
      await expectNoParts(database, id)
      acknowledged += writer.lines.length
    }
    expect(acknowledged).toBeGreaterThan(rounds)
    await using database = await openDatabase(directory, { waitMs: 0 })
    for await (const { sound } of database.scan()) expect(sound).toBe(true)
  })
})

async function expectWhole(database: Database, key: string): Promise<void> {
  const cids = database.readRow('meta', key) as readonly CidText[] | undefined
  expect(cids).toHaveLength(2)
  expect(database.readRow('marks', key)).toEqual(cids)
  const reads = await database.getMany(cids ?? [])
  expect(reads.map(({ state }) => state)).toEqual(['ok', 'ok'])
}

/** What was not acknowledged may be there or not, but whole. */
async function expectNoParts(database: Database, id: string): Promise<void> {
  const found: string[][] = [[], []]
  for await (const { key } of database.rows('meta', `${id}-`)) {
    await expectWhole(database, key)
    found[0]?.push(key)
  }
  for await (const { key } of database.rows('marks', `${id}-`)) found[1]?.push(key)
  expect(found[0]).toEqual(found[1])
}
