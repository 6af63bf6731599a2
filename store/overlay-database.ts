import type { BlockRead, ScannedBlock } from './block-store.ts'
import type { CidText } from './cid-text.ts'
import type { RowChange } from './commit.ts'
import type { Database, Row } from './database.ts'
import type { IndexName } from './keyspace.ts'
import { rowKey } from './keyspace.ts'

/** Where blocks are found that are not in the store yet; each was hashed when it came in. */
export interface MoreBlocks {
  find(cid: CidText): Uint8Array | undefined
  has(cid: CidText): boolean
}

/**
 * A database as it would be with more blocks and rows in it: what judges what has arrived before any of it is written.
 * Nothing goes through it to disk.
 */
export class OverlayDatabase implements Database {
  readonly directory: string
  readonly commits = 0
  readonly #below: Database
  readonly #blocks: MoreBlocks
  readonly #rows = new Map<string, RowChange>()

  constructor(below: Database, blocks: MoreBlocks) {
    this.directory = below.directory
    this.#below = below
    this.#blocks = blocks
  }

  /** Lays rows over those of the store. */
  lay(rows: readonly RowChange[]): void {
    for (const row of rows) this.#rows.set(rowKey(row.index, row.key), row)
  }

  readRow(index: IndexName, key: string): readonly string[] | undefined {
    const laid = this.#rows.get(rowKey(index, key))
    return laid === undefined ? this.#below.readRow(index, key) : laid.values
  }

  async *rows(index: IndexName, prefix: string): AsyncGenerator<Row> {
    const found = new Map<string, readonly string[]>()
    for await (const { key, values } of this.#below.rows(index, prefix)) found.set(key, values)
    for (const { index: of, key, values } of this.#rows.values()) {
      if (of !== index || !key.startsWith(prefix)) continue
      if (values === undefined) found.delete(key)
      else found.set(key, values)
    }
    for (const key of [...found.keys()].sort()) yield { key, values: found.get(key)! }
  }

  async *rowBatches(index: IndexName, prefix: string): AsyncGenerator<readonly Row[]> {
    for await (const row of this.rows(index, prefix)) yield [row]
  }

  async find(cid: CidText): Promise<Uint8Array | undefined> {
    return this.#blocks.find(cid) ?? this.#below.find(cid)
  }

  findNow(cid: CidText): Uint8Array | undefined {
    return this.#blocks.find(cid) ?? this.#below.findNow(cid)
  }

  async get(cid: CidText): Promise<Uint8Array> {
    return this.#blocks.find(cid) ?? this.#below.get(cid)
  }

  async getMany(cids: readonly CidText[]): Promise<readonly BlockRead[]> {
    const below = await this.#below.getMany(cids)
    const reads: BlockRead[] = []
    for (const [i, cid] of cids.entries()) {
      const bytes = this.#blocks.find(cid)
      reads.push(bytes === undefined ? below[i]! : { state: 'ok', bytes })
    }
    return reads
  }

  async has(cid: CidText): Promise<boolean> {
    return this.#blocks.has(cid) || this.#below.has(cid)
  }

  scan(): AsyncIterable<ScannedBlock> {
    return this.#below.scan()
  }

  scanBatches(): AsyncIterable<readonly ScannedBlock[]> {
    return this.#below.scanBatches()
  }

  commit(): Promise<void> {
    return Promise.reject(new TypeError('nothing is written through an overlay'))
  }

  compact(): Promise<void> {
    return Promise.resolve()
  }

  flushed(): Promise<void> {
    return this.#below.flushed()
  }

  settled(): Promise<void> {
    return this.#below.settled()
  }

  /** The database below stays open: it is not the overlay's. */
  close(): Promise<void> {
    return Promise.resolve()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
