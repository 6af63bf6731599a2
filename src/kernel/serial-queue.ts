/** Runs pieces of work one after the other, in the order in which they came; one that fails holds up none behind it. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()
  #size = 0

  /** How many pieces wait or are under way. */
  get size(): number {
    return this.#size
  }

  /** Runs `work` once all before it have ended; gives what it gives, throws what it throws. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#size += 1
    const done = this.#last.then(work)
    this.#last = done.catch(() => undefined)
    try {
      return await done
    } finally {
      this.#size -= 1
    }
  }

  /** Resolves when all that was there at the time of the call has ended. */
  async settled(): Promise<void> {
    await this.#last
  }
}
