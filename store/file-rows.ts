import { asBuffer } from '../src/kernel/bytes.ts'
import { readBounded } from '../src/kernel/files.ts'
import { HashedBlock } from './block.ts'
import type { CidSet } from './cid-set.ts'
import { codecOf, isCidText } from './cid-text.ts'
import type { RowChange } from './commit.ts'
import type { Database } from './database.ts'
import { decodeRow, parseEntryKey } from './keyspace.ts'
import { readLogRows } from './log-rows.ts'
import { unpackBlock } from './packed-block.ts'
import type { FileRow } from './table-rows.ts'
import { readTableRows } from './table-rows.ts'

const maxFileBytes = 256 * 1024 * 1024
const batchRows = 256
const batchBytes = 8 * 1024 * 1024

/**
 * Writes what can be read out of a damaged table or log and a database does not hold: blocks that hash to their names; rows of
 * `collected` and `made` of parts that are sound. A file over 256 MiB, or one that can't be read, gives nothing.
 *
 * @param named - Takes the entries that the file's index of entries names.
 */
export async function copyFileRows(file: string, db: Database, named: CidSet): Promise<void> {
  const bytes = await readBounded(file, maxFileBytes).catch(() => new Uint8Array())
  const read = file.endsWith('.log') ? readLogRows : readTableRows
  let blocks: HashedBlock[] = []
  let rows: RowChange[] = []
  let sizeBytes = 0
  for (const row of read(bytes)) {
    const { sublevel, key } = parseKey(row.key)
    if (sublevel === 'blocks') {
      const block = provenBlock(key, row)
      if (block === undefined || (await db.has(block.cid))) continue
      blocks.push(block)
      sizeBytes += block.bytes.length
    } else if (row.sound) {
      const change = changeOf(sublevel, key, row.value)
      if (change !== undefined && db.readRow(change.index, key) === undefined) rows.push(change)
      if (sublevel === 'entries') addEntry(key, named)
    }
    if (blocks.length + rows.length < batchRows && sizeBytes < batchBytes) continue
    await db.commit({ blocks, rows })
    blocks = []
    rows = []
    sizeBytes = 0
  }
  await db.commit({ blocks, rows })
}

function parseKey(bytes: Uint8Array): { readonly sublevel: string; readonly key: string } {
  const [, sublevel = '', key = ''] = /^!(\w+)!(.*)$/s.exec(asBuffer(bytes).toString()) ?? []
  return { sublevel, key }
}

function provenBlock(cid: string, { value }: FileRow): HashedBlock | undefined {
  if (!isCidText(cid)) return undefined
  const bytes = unpackBlock(cid, value)
  const block = bytes && HashedBlock.of(bytes, codecOf(cid))
  return block?.cid === cid ? block : undefined
}

function changeOf(sublevel: string, key: string, value: Uint8Array): RowChange | undefined {
  if (!isCidText(key) || (sublevel !== 'collected' && sublevel !== 'made')) return undefined
  const values = decodeRow(asBuffer(value).toString())
  return values && { index: sublevel, key, values }
}

function addEntry(key: string, named: CidSet): void {
  const { cid } = parseEntryKey(key)
  if (isCidText(cid)) named.add(cid)
}
