import type { Level } from 'level'
import { asBuffer, asBytes } from '../src/kernel/bytes.ts'
import type { Block } from './block.ts'
import type { CidSet } from './cid-set.ts'
import type { CidText } from './cid-text.ts'
import { isCidText } from './cid-text.ts'
import type { RowChange } from './commit.ts'
import type { Database } from './database.ts'
import type { IndexName } from './keyspace.ts'
import { decodeRow, parseEntryKey, rowRange, withoutSublevel } from './keyspace.ts'
import { LevelBlockStore } from './level-block-store.ts'
import { loadLevel } from './level-module.ts'

/** What the rows of a database say, beside what is copied of them. */
export interface RowFinds {
  /** Blocks whose bytes do not hash to their names. */
  readonly corrupt: Set<CidText>
  /** Entries that the index of entries names. */
  readonly named: CidSet
}

const batchSize = 256
// what only this store knows: rows that no block gives back
const keptIndexes: readonly IndexName[] = ['collected', 'made']

/** Copies, from a folder that LevelDB can open, all blocks that hash to their names and the rows that no block gives back. */
export async function copyDatabaseRows(
  folder: string,
  db: Database,
  finds: RowFinds,
): Promise<void> {
  const LevelDB = await loadLevel()
  const level = new LevelDB<string, string>(folder, { createIfMissing: false })
  await level.open()
  try {
    const blocks = new LevelBlockStore(level, folder, () => undefined)
    for await (const batch of blocks.scanBatches()) {
      const sound: Block[] = []
      for (const { cid, bytes, sound: isSound } of batch) {
        if (cid === undefined) continue
        if (isSound) sound.push({ cid, bytes: bytes.slice() })
        else finds.corrupt.add(cid)
      }
      await db.commit({ blocks: sound, rows: [] })
    }
    for (const index of keptIndexes) await copyIndex(level, index, db)
    for await (const { key } of rowsOf(level, 'entries')) {
      const { cid } = parseEntryKey(key)
      if (isCidText(cid)) finds.named.add(cid)
    }
  } finally {
    await level.close()
  }
}

async function copyIndex(level: Level, index: IndexName, db: Database): Promise<void> {
  let rows: RowChange[] = []
  for await (const { key, text } of rowsOf(level, index)) {
    const values = decodeRow(text)
    if (values !== undefined) rows.push({ index, key, values })
    if (rows.length < batchSize) continue
    await db.commit({ blocks: [], rows })
    rows = []
  }
  await db.commit({ blocks: [], rows })
}

async function* rowsOf(
  level: Level,
  index: IndexName,
): AsyncGenerator<{ readonly key: string; readonly text: string }> {
  const views = { keyEncoding: 'view', valueEncoding: 'view' } as const
  const range = { ...views, ...rowRange(index, '') }
  for await (const [key, value] of level.iterator<Uint8Array, Uint8Array>(range)) {
    const name = withoutSublevel(asBuffer(key).toString())
    yield { key: name, text: asBuffer(asBytes(value)).toString() }
  }
}
