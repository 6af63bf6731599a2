import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { open, stat } from 'node:fs/promises'

/** So many bytes are written before they are pushed to the disk, while more come. */
const bytesPerSync = 32 * 1024 * 1024

/**
 * The file of a large artifact that comes in pieces. It is hashed as it is written, so that it need not be read again:
 * only as long as it is one file, held open, and nobody else has added to it.
 */
export class LargePart {
  readonly file: string
  #handle: FileHandle | undefined
  #hash = createHash('sha256')
  #hashedBytes = 0
  #isOwn = true
  #unsyncedBytes = 0
  #syncing: Promise<void> = Promise.resolve()

  constructor(file: string) {
    this.file = file
  }

  /** Adds bytes behind what is there. */
  async append(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const handle = (this.#handle ??= await open(this.file, 'a', 0o600))
    await this.#check(handle)
    for await (const chunk of chunks) {
      await handle.writeFile(chunk)
      this.#hash.update(chunk)
      this.#hashedBytes += chunk.length
      this.#unsyncedBytes += chunk.length
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
    const handle = (this.#handle ??= await open(this.file, 'a', 0o600))
    try {
      await this.#syncing
      await handle.datasync()
      await this.#check(handle)
      if (this.#isOwn) return this.#hash.digest()
    } finally {
      this.close()
    }
    const hash = createHash('sha256')
    for await (const chunk of createReadStream(this.file, { highWaterMark: 1024 * 1024 }))
      hash.update(chunk as Uint8Array)
    return hash.digest()
  }

  close(): void {
    // what is there is looked at again by whoever goes on with it
    void this.#handle?.close().catch(() => undefined)
    this.#handle = undefined
  }

  /** While the file is open, its number on the disk can't become another's. */
  async #check(handle: FileHandle): Promise<void> {
    const mine = await handle.stat()
    const there = await stat(this.file).catch(() => undefined)
    this.#isOwn &&=
      there?.ino === mine.ino && there.dev === mine.dev && mine.size === this.#hashedBytes
  }
}
