import type { CidText } from '../../store/cid-text.ts'
import type { Block } from '../../store/block.ts'
import type { RowChange } from '../../store/commit.ts'
import { planRows } from '../../store/indexes.ts'
import { rowKey } from '../../store/keyspace.ts'
import { decodeForm } from '../../store/canonical.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { rowOf } from '../entry/row.ts'
import { findArtifacts } from '../graph/body.ts'
import type { Arrivals } from './arrivals.ts'
import type { Ground } from './ground.ts'
import type { Judged } from './judge.ts'
import { cutsOf } from './roster-right.ts'

const entriesPerCommit = 256
const bytesPerCommit = 8 * 1024 * 1024

/**
 * Stores what was judged fit, in batches each of which is closed: an entry becomes visible with all that it needs, behind
 * what it follows, and synced to disk.
 *
 * @returns How many entries are new.
 */
export async function admit(ground: Ground, arrivals: Arrivals, judged: Judged): Promise<number> {
  // a batch is made while the one before is written: what is on its way to disk is read as if it were there
  let written: Promise<void> = Promise.resolve()
  let batch = new AdmitBatch(ground)
  for (const [i, entry] of judged.entries.entries()) {
    await addEntry(ground, batch, arrivals, entry)
    const isFull = batch.entries >= entriesPerCommit || batch.sizeBytes >= bytesPerCommit
    // rosters are on disk before anything that rests on them
    const isLastRoster = entry.stream === 'roster' && judged.entries[i + 1]?.stream !== 'roster'
    if (!isFull && !isLastRoster) continue
    await written
    written = batch.commit()
    written.catch(() => undefined) // told when it is awaited
    if (isLastRoster) await written
    batch = new AdmitBatch(ground)
  }
  await written
  await batch.commit()
  return judged.entries.length
}

async function addEntry(
  { db }: Ground,
  batch: AdmitBatch,
  arrivals: Arrivals,
  entry: VerifiedEntry,
): Promise<void> {
  const add = (cid: CidText): Uint8Array | undefined => {
    const block = arrivals.findBlock(cid)
    if (block !== undefined) batch.addBlock(block)
    return block?.bytes
  }
  add(entry.cid)
  const body = add(entry.body)
  if (entry.kind === 'roster' && body !== undefined) for (const cut of cutsOf(body)) add(cut)
  if (entry.source !== undefined) add(entry.source)
  if (entry.artifacts !== undefined) {
    const list = add(entry.artifacts) ?? (await db.get(entry.artifacts))
    for (const cid of findArtifacts(decodeForm(list).form) ?? [])
      if (add(cid) === undefined) await arrivals.publish(cid)
  }
  batch.addRows(entry)
}

/** One commit on its way. Rows of entries build on each other, so what is planned is read before what is in the store. */
class AdmitBatch {
  entries = 0
  sizeBytes = 0
  readonly #ground: Ground
  readonly #blocks = new Map<CidText, Block>()
  readonly #rows = new Map<string, RowChange>()

  constructor(ground: Ground) {
    this.#ground = ground
  }

  addBlock(block: Block): void {
    if (this.#blocks.has(block.cid)) return
    this.#blocks.set(block.cid, block)
    this.sizeBytes += block.bytes.length
  }

  addRows(entry: VerifiedEntry): void {
    const { db, marks } = this.#ground
    const read = (index: RowChange['index'], key: string): readonly string[] | undefined => {
      const planned = this.#rows.get(rowKey(index, key))
      return planned === undefined ? db.readRow(index, key) : planned.values
    }
    const mark = marks?.rowWith(entry.cid, ['signature'])
    const marked =
      mark === undefined ? [] : [{ index: 'marks' as const, key: entry.cid, values: mark }]
    for (const row of [...planRows(read, rowOf(entry)), ...marked])
      this.#rows.set(rowKey(row.index, row.key), row)
    this.entries += 1
  }

  async commit(): Promise<void> {
    if (this.entries === 0) return
    await this.#ground.db.commit({
      blocks: [...this.#blocks.values()],
      rows: [...this.#rows.values()],
    })
  }
}
