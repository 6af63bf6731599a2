import type { Hash } from 'node:crypto'
import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { createReadStream } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { open, stat } from 'node:fs/promises'
import { StoreError } from '../../store/errors.ts'
import { findHashed, noteHashed } from './hashed-files.ts'
import { takenOver } from './presence.ts'

/** So many bytes are written before they are pushed to the disk, while more come. */
const bytesPerSync = 32 * 1024 * 1024

/**
 * The file of a large artifact that comes in pieces. It is hashed as it is written, so that it need not be read again:
 * only as long as it is one file, and nobody else has added to it.
 */
export class LargePart {
  readonly file: string
  #handle: FileHandle | undefined
  /** Of all that is in the file; undefined where that has to be read. */
  #hash: Hash | undefined
  #sizeBytes = 0
  #unsyncedBytes = 0
  #syncing: Promise<void> = Promise.resolve()

  /** How many bytes are in the file, where it was opened. */
  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** @param file - Held by nobody else. */
  constructor(file: string) {
    this.file = file
  }

  /**
   * Adds bytes behind what is there; of what fails, those stay that came before.
   *
   * @param at - How much is there.
   * @throws {StoreError} `HSTORE_STORE_BUSY` where it is another number.
   */
  async append(at: number, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const handle = await this.#open()
    await this.#check(handle)
    if (at !== this.#sizeBytes) throw this.#changed(at)
    try {
      for await (const chunk of chunks) {
        await handle.writeFile(chunk)
        this.#hash?.update(chunk)
        this.#sizeBytes += chunk.length
        this.#unsyncedBytes += chunk.length
      }
    } finally {
      const stats = await this.#look(handle)
      if (this.#hash !== undefined) noteHashed(stats, this.#hash)
    }
    await this.#check(handle)
    if (this.#unsyncedBytes < bytesPerSync) return
    this.#unsyncedBytes = 0
    await this.#syncing
    this.#syncing = handle.datasync()
    this.#syncing.catch(() => undefined) // told when it is awaited
  }

  /** Brings all of it to the disk and returns the SHA-256 of the file; closes it. */
  async settle(): Promise<Buffer> {
    try {
      const handle = await this.#open()
      await this.#syncing
      await handle.datasync()
      await this.#check(handle)
      return (this.#hash?.copy() ?? (await hashFile(this.file))).digest()
    } finally {
      await this.close()
    }
  }

  /** What is there is looked at again by whoever goes on with it. */
  async close(): Promise<void> {
    const handle = this.#handle
    this.#handle = undefined
    await this.#syncing.catch(() => undefined)
    await handle?.close().catch(() => undefined)
  }

  async #open(): Promise<FileHandle> {
    if (this.#handle !== undefined) return this.#handle
    this.#handle = await open(this.file, 'a', 0o600)
    const stats = await this.#handle.stat({ bigint: true })
    this.#sizeBytes = Number(stats.size)
    this.#hash = this.#sizeBytes === 0 ? createHash('sha256') : findHashed(stats)
    return this.#handle
  }

  /**
   * While the file is open, its number on the disk can't become another's.
   *
   * @throws {StoreError} `HSTORE_STORE_BUSY` where it has its name no more.
   */
  async #check(handle: FileHandle): Promise<void> {
    const mine = await this.#look(handle)
    const there = await stat(this.file, { bigint: true }).catch(() => undefined)
    if (there?.ino !== mine.ino || there.dev !== mine.dev) throw takenOver(this.file)
  }

  async #look(handle: FileHandle): Promise<BigIntStats> {
    const mine = await handle.stat({ bigint: true })
    if (Number(mine.size) !== this.#sizeBytes) this.#hash = undefined
    this.#sizeBytes = Number(mine.size)
    return mine
  }

  #changed(at: number): StoreError {
    const message = `${this.file} has ${this.#sizeBytes} bytes, not ${at}: something else has written to it, sync again`
    return new StoreError('HSTORE_STORE_BUSY', message)
  }
}

/** Returns the SHA-256 of a file that is not written any more; of one that has not changed since, without reading it. */
export async function hashFile(file: string): Promise<Hash> {
  const stats = await stat(file, { bigint: true })
  const known = findHashed(stats)
  if (known !== undefined) return known
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 }))
    hash.update(chunk as Uint8Array)
  noteHashed(stats, hash)
  return hash
}
