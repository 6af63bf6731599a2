import { Level } from 'level'
import { MemoryLevel } from 'memory-level'
import type { TextLevel } from '../../store/level-block-store.ts'
import type { BlockStoreUnderTest } from '../suites/block-store.ts'
import { LevelDatabase } from '../../store/level-database.ts'
import { describeBlockStore } from '../suites/block-store.ts'
import { makeTempFolder } from '../support/temp-folder.ts'

describeBlockStore('LevelDB', async () => {
  const folder = await makeTempFolder()
  return openOver(new Level(folder), folder)
})

describeBlockStore('memory', () => openOver(new MemoryLevel(), 'memory'))

async function openOver(level: TextLevel, place: string): Promise<BlockStoreUnderTest> {
  await level.open()
  return {
    database: new LevelDatabase(level, place, () => level.close()),
    putRaw: (key, bytes) => level.put(`!blocks!${key}`, bytes, { valueEncoding: 'view' }),
  }
}
