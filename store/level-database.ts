import type { AbstractChainedBatchWriteOptions } from 'abstract-level'
import { asBuffer } from '../src/kernel/bytes.ts'
import type { AcknowledgedList } from './entry-list.ts'
import { HashedBlock } from './block.ts'
import type { BlockRead, BlockReader, ScannedBlock } from './block-store.ts'
import type { CidText } from './cid-text.ts'
import type { Change, RowChange, WriteGroup } from './commit.ts'
import { CommitQueue } from './commit.ts'
import type { Database, Row } from './database.ts'
import { StoreError } from './errors.ts'
import type { IndexName } from './keyspace.ts'
import {
  blockKey,
  blockRange,
  decodeRow,
  encodeRow,
  entryOfKey,
  rowKey,
  rowRange,
  withoutSublevel,
} from './keyspace.ts'
import type { TextLevel } from './level-block-store.ts'
import { isSound, LevelBlockStore } from './level-block-store.ts'
import { FullRanges } from './full-ranges.ts'
import { storeErrorOf } from './level-errors.ts'
import { packBlock } from './packed-block.ts'
import { readAhead } from './read-ahead.ts'
import { RowCache } from './row-cache.ts'

const asView = { valueEncoding: 'view' } as const
const durable: AbstractChainedBatchWriteOptions & { readonly sync: true } = { sync: true }
const cacheLimit = 4 * 1024 * 1024
const rowBatchSize = 256
const rowBatchBytes = 256 * 1024

interface Compacting {
  compactRange(
    start: Uint8Array,
    end: Uint8Array,
    options: { readonly keyEncoding: 'view' },
  ): Promise<void>
}

/** A store's database over an open LevelDB or whatever else speaks abstract-level. */
export class LevelDatabase implements Database {
  readonly directory: string
  readonly #level: TextLevel
  readonly #closeLevel: () => Promise<void>
  readonly #queue: CommitQueue
  readonly #blocks: BlockReader
  readonly #cache = new RowCache(cacheLimit)
  readonly #acknowledged: AcknowledgedList | undefined
  readonly #fullRanges = new FullRanges()
  #commits = 0
  #closing: Promise<void> | undefined

  /**
   * @param level - Open.
   * @param directory - The store, for messages and artifacts.
   * @param closeLevel - Closes `level`; called once, when nothing is written any more.
   * @param acknowledged - Told of each entry that is on disk.
   */
  constructor(
    level: TextLevel,
    directory: string,
    closeLevel: () => Promise<void>,
    acknowledged?: AcknowledgedList,
  ) {
    this.directory = directory
    this.#level = level
    this.#closeLevel = closeLevel
    this.#acknowledged = acknowledged
    this.#queue = new CommitQueue(
      (group) => this.#write(group),
      (group, failed) => this.#settle(group, failed),
    )
    this.#blocks = new LevelBlockStore(level, directory, (cid) => this.#queue.findBlock(cid))
  }

  readRow(index: IndexName, key: string): readonly string[] | undefined {
    this.#assertOpen()
    return this.#row(index, key)
  }

  #row(index: IndexName, key: string): readonly string[] | undefined {
    const fullKey = rowKey(index, key)
    const pending = this.#queue.findRow(fullKey)
    // A pending deletion is null and must hide what the cache and the disk still hold.
    if (pending !== undefined) return pending ?? undefined
    const known = this.#cache.find(fullKey)
    if (known !== undefined) return known ?? undefined
    const values = this.#load(fullKey)
    this.#cache.set(fullKey, values ?? null)
    return values
  }

  async *rows(index: IndexName, prefix: string): AsyncGenerator<Row> {
    for await (const batch of this.rowBatches(index, prefix)) yield* batch
  }

  async *rowBatches(index: IndexName, prefix: string): AsyncGenerator<readonly Row[]> {
    this.#assertOpen()
    yield* this.#batches(index, prefix)
  }

  async *#batches(index: IndexName, prefix: string): AsyncGenerator<readonly Row[]> {
    await this.settled()
    const bounds = { keyEncoding: 'view', highWaterMarkBytes: rowBatchBytes } as const
    const range = rowRange(index, prefix)
    const iterator = this.#level.iterator<Uint8Array, string>({ ...bounds, ...range })
    try {
      for await (const batch of readAhead(iterator, rowBatchSize)) {
        yield batch.map(([rawKey, text]) => {
          const key = asBuffer(rawKey).toString()
          return { key: withoutSublevel(key), values: this.#decode(key, text) }
        })
      }
    } catch (error) {
      throw storeErrorOf(error, this.directory)
    }
  }

  commit(change: Change): Promise<void> {
    if (this.#closing !== undefined) return Promise.reject(this.#closed())
    for (const block of change.blocks) {
      const { cid, bytes } = block
      if (!(block instanceof HashedBlock) && !isSound(cid, bytes)) {
        const message = `block ${cid}: the bytes given do not hash to it, nothing was written`
        return Promise.reject(new StoreError('HSTORE_BLOCK_CORRUPT', message, { details: { cid } }))
      }
    }
    this.#commits += 1
    const more = this.#collectedRows(change)
    return this.#queue.add(
      more.length === 0 ? change : { ...change, rows: [...change.rows, ...more] },
    )
  }

  /**
   * Whoever puts a block again that was collected wants to keep it; a rebuild only copies. A row of `meta` says whether
   * anything was collected at all, so that most puts need not look for each block.
   */
  #collectedRows({ blocks, rows }: Change): RowChange[] {
    if (rows.some(({ index, values }) => index === 'collected' && values !== undefined))
      return [{ index: 'meta', key: 'collected', values: [] }]
    if (this.#acknowledged === undefined || this.readRow('meta', 'collected') === undefined)
      return []
    return blocks
      .filter(({ cid }) => this.readRow('collected', cid) !== undefined)
      .map(({ cid }) => ({ index: 'collected', key: cid, values: undefined }))
  }

  get commits(): number {
    return this.#commits
  }

  async compact(): Promise<void> {
    this.#assertOpen()
    await this.settled()
    const { gte, lt } = blockRange()
    try {
      if (canCompact(this.#level)) await this.#level.compactRange(gte, lt, { keyEncoding: 'view' })
    } catch (error) {
      throw storeErrorOf(error, this.directory)
    }
  }

  flushed(): Promise<void> {
    return this.#queue.flushed()
  }

  settled(): Promise<void> {
    return this.#queue.settled()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  findNow(cid: CidText): Uint8Array | undefined {
    this.#assertOpen()
    return this.#blocks.findNow(cid)
  }

  async find(cid: CidText): Promise<Uint8Array | undefined> {
    this.#assertOpen()
    return this.#blocks.find(cid)
  }

  async get(cid: CidText): Promise<Uint8Array> {
    this.#assertOpen()
    return this.#blocks.get(cid)
  }

  async getMany(cids: readonly CidText[]): Promise<readonly BlockRead[]> {
    this.#assertOpen()
    return this.#blocks.getMany(cids)
  }

  async has(cid: CidText): Promise<boolean> {
    this.#assertOpen()
    return this.#blocks.has(cid)
  }

  scan(): AsyncIterable<ScannedBlock> {
    this.#assertOpen()
    return this.#blocks.scan()
  }

  scanBatches(): AsyncIterable<readonly ScannedBlock[]> {
    this.#assertOpen()
    return this.#blocks.scanBatches()
  }

  /** A chained batch: an array of operations would be cloned one by one, at 5 µs each. */
  async #write(group: WriteGroup): Promise<void> {
    const batch = this.#level.batch()
    try {
      for (const cid of group.dropped) batch.del(blockKey(cid))
      for (const [cid, bytes] of group.blocks)
        batch.put(blockKey(cid), packBlock(cid, bytes), asView)
      for (const [key, values] of group.rows) {
        if (values === undefined) batch.del(key)
        else batch.put(key, encodeRow(values))
      }
      await batch.write(durable)
      this.#acknowledged?.add(entriesIn(group))
    } catch (error) {
      throw storeErrorOf(error, this.directory)
    } finally {
      await batch.close()
    }
  }

  #settle(group: WriteGroup, failed: boolean): void {
    if (failed) return this.#cache.clear()
    for (const [key, values] of group.rows) this.#cache.refresh(key, values)
    this.#fullRanges.note(group)
  }

  #load(fullKey: string): readonly string[] | undefined {
    let text: string | undefined
    try {
      text = this.#level.getSync(fullKey)
    } catch (error) {
      throw storeErrorOf(error, this.directory)
    }
    return text === undefined ? undefined : this.#decode(fullKey, text)
  }

  #decode(fullKey: string, text: string): readonly string[] {
    const values = decodeRow(text)
    if (values !== undefined) return values
    const message = `${this.directory}: the row ${JSON.stringify(fullKey)} is damaged: run hstore fsck`
    throw new StoreError('HSTORE_STORE_DAMAGED', message)
  }

  async #close(): Promise<void> {
    await this.settled()
    const rows = await this.#fullRanges.rows({
      readRow: (index, key) => this.#row(index, key),
      rowBatches: (index, prefix) => this.#batches(index, prefix),
    })
    // the database is closed whatever becomes of them
    if (rows.length > 0) await this.#queue.add({ blocks: [], rows }).catch(() => undefined)
    this.#acknowledged?.close()
    await this.#closeLevel()
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw this.#closed()
  }

  #closed(): TypeError {
    return new TypeError(`${this.directory}: the database is closed`)
  }
}

/** Only LevelDB itself has files to make smaller. */
function canCompact(level: object): level is Compacting {
  return 'compactRange' in level
}

/** The entries that a group adds, in its order. */
function entriesIn({ rows }: WriteGroup): CidText[] {
  const cids: CidText[] = []
  for (const [key, values] of rows) {
    const cid = values === undefined ? undefined : entryOfKey(key)
    if (cid !== undefined) cids.push(cid)
  }
  return cids
}
