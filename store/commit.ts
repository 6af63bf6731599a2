import type { CidText } from './cid-text.ts'
import type { Block } from './block.ts'
import type { IndexName } from './keyspace.ts'
import { rowKey } from './keyspace.ts'

/** A row to set; `values` undefined deletes it. */
export interface RowChange {
  readonly index: IndexName
  readonly key: string
  readonly values: readonly string[] | undefined
}

/** What one commit writes: all of it or nothing. */
export interface Change {
  readonly blocks: readonly Block[]
  readonly rows: readonly RowChange[]
  /** Blocks to delete; one that is among `blocks` of a change in the same batch stays. */
  readonly dropped?: readonly CidText[]
}

/** Several changes that go to disk in one batch. A later change of a row replaces an earlier one. */
export interface WriteGroup {
  readonly blocks: ReadonlyMap<CidText, Uint8Array>
  /** Deleted before `blocks` are written. */
  readonly dropped: ReadonlySet<CidText>
  /** By database key; undefined deletes. */
  readonly rows: ReadonlyMap<string, readonly string[] | undefined>
}

/** Writes a group as one atomic batch and resolves once it is on disk. */
export type WriteGroupToDisk = (group: WriteGroup) => Promise<void>

interface Generation extends WriteGroup {
  readonly blocks: Map<CidText, Uint8Array>
  readonly dropped: Set<CidText>
  readonly rows: Map<string, readonly string[] | undefined>
  sizeBytes: number
  readonly done: Promise<void>
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

// A batch is held in memory twice, here and in LevelDB, so what waits is cut into groups of about this size.
// The first batch of a burst does not wait for more than this.
const firstWriteBytes = 1024 * 1024
const groupLimitBytes = 8 * 1024 * 1024

/**
 * Group commit: changes queue up while a batch is being written and go to disk together in the next one, in the
 * order in which they came.
 *
 * What is queued can be read at once, so a change may build on one that is not on disk yet. Therefore a failed write
 * takes everything queued behind it down with it, and ends the queue: LevelDB's log may hold a torn record then, after
 * which it must not be written on, only opened anew.
 */
export class CommitQueue {
  readonly #write: WriteGroupToDisk
  readonly #settle: (group: WriteGroup, failed: boolean) => void
  readonly #generations: Generation[] = []
  #writing = false
  #turnEnd: NodeJS.Immediate | undefined
  #flying: Generation | undefined
  #failure: Error | undefined

  /**
   * @param write - Writes one group; called again only after the last call has ended.
   * @param settle - Called when a group is on disk or has failed, before anybody is told.
   */
  constructor(write: WriteGroupToDisk, settle: (group: WriteGroup, failed: boolean) => void) {
    this.#write = write
    this.#settle = settle
  }

  /** Queues a change and resolves once it is on disk; rejects with what the write was rejected with. */
  add(change: Change): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    const generation = this.#open()
    for (const { cid, bytes } of change.blocks) {
      generation.blocks.set(cid, bytes)
      generation.sizeBytes += bytes.length
    }
    for (const cid of change.dropped ?? []) generation.dropped.add(cid)
    for (const { index, key, values } of change.rows) {
      generation.rows.set(rowKey(index, key), values)
      generation.sizeBytes += key.length
    }
    if (!this.#writing) {
      this.#writing = true
      // After this turn, so that changes queued one after the other without a wait share the first batch too.
      this.#turnEnd = setImmediate(() => void this.#flush())
    } else if (this.#turnEnd !== undefined && generation.sizeBytes > firstWriteBytes) {
      // Enough is there for the disk to have something to do meanwhile.
      clearImmediate(this.#turnEnd)
      void this.#flush()
    }
    return generation.done
  }

  /** Returns the row that is queued under a database key: its values, null for a deletion, undefined for none. */
  findRow(key: string): readonly string[] | null | undefined {
    for (let i = this.#generations.length - 1; i >= 0; i--) {
      const rows = this.#generations[i]?.rows
      const values = rows?.get(key)
      if (values !== undefined) return values
      if (rows?.has(key)) return null
    }
    return undefined
  }

  /** Returns the bytes of a queued block. */
  findBlock(cid: CidText): Uint8Array | undefined {
    for (const { blocks } of this.#generations) {
      const bytes = blocks.get(cid)
      if (bytes !== undefined) return bytes
    }
    return undefined
  }

  /** Resolves when nothing is queued, whether it was written or failed. */
  async settled(): Promise<void> {
    for (let last = this.#generations.at(-1); last; last = this.#generations.at(-1)) {
      await last.done.catch(() => undefined)
    }
  }

  /** Resolves when all that is queued now is on disk; rejects when a write of it, or one before, has failed. */
  flushed(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    return this.#generations.at(-1)?.done ?? Promise.resolve()
  }

  /** Returns the group that takes the next change; the first one is closed while it is being written. */
  #open(): Generation {
    const last = this.#generations.at(-1)
    if (last !== undefined && last !== this.#flying && last.sizeBytes < groupLimitBytes) return last
    const generation = newGeneration()
    this.#generations.push(generation)
    return generation
  }

  async #flush(): Promise<void> {
    this.#turnEnd = undefined
    for (let first = this.#generations[0]; first; first = this.#generations[0]) {
      this.#flying = first
      try {
        await this.#write(first)
      } catch (error) {
        this.#fail(error instanceof Error ? error : new Error(String(error)))
        break
      }
      this.#generations.shift()
      this.#settle(first, false)
      first.resolve()
    }
    this.#flying = undefined
    this.#writing = false
  }

  #fail(failure: Error): void {
    this.#failure = failure
    for (const generation of this.#generations.splice(0)) {
      this.#settle(generation, true)
      generation.reject(failure)
    }
  }
}

function newGeneration(): Generation {
  let resolve = (): void => undefined
  let reject = (_reason: unknown): void => undefined
  const done = new Promise<void>((yes, no) => {
    resolve = yes
    reject = no
  })
  // Whoever waits is told; a failure that nobody waits for yet is no unhandled one.
  done.catch(() => undefined)
  return {
    blocks: new Map(),
    dropped: new Set(),
    rows: new Map(),
    sizeBytes: 0,
    done,
    resolve,
    reject,
  }
}
