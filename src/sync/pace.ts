import { msPerByte } from './patience.ts'
import { answerBytes } from './protocol.ts'

const firstBytes = 256 * 1024
const leastBytes = 64 * 1024

/** A request that took less is followed by a larger one, one that took more by a smaller one. */
const quickMs = 5000
const slowMs = 20_000

/** A way may get slower by that much, all at once. */
const slack = 16

/**
 * How much a request carries to a remote, and how long that may take. Nobody tells how much of it has come until all has:
 * what a way is worth shows in the requests before, so that a slow one is waited for, and a dead one not for long.
 */
export class Pace {
  #sizeBytes = firstBytes
  #msPerByte = msPerByte

  /** About how many bytes of blocks the next request is to carry. */
  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Returns how long that many bytes may be on their way: at first at 1 KiB/s. */
  allowanceMs(sizeBytes: number): number {
    return sizeBytes * this.#msPerByte
  }

  /** Notes how long a request took until its answer began. */
  note(sizeBytes: number, ms: number): void {
    if (sizeBytes < leastBytes / 2) return
    if (ms < quickMs) this.#sizeBytes = Math.min(answerBytes, this.#sizeBytes * 2)
    else if (ms > slowMs) this.#sizeBytes = Math.max(leastBytes, this.#sizeBytes / 2)
    this.#msPerByte = Math.min(msPerByte, (slack * ms) / sizeBytes)
  }
}
