/** Milliseconds that a byte buys: who sends less than 1 KiB/s is waited for no longer than one who says nothing. */
export const msPerByte: number = 1000 / 1024

/** How long a remote is waited for: neither silence nor a drip holds a sync for ever. */
export class Patience {
  readonly #mostMs: number
  #leftMs: number

  /** @param mostMs - How long nothing may come, in ms. */
  constructor(mostMs: number) {
    this.#mostMs = mostMs
    this.#leftMs = mostMs
  }

  /**
   * Begins anew, for another answer.
   *
   * @param graceMs - How much longer its first byte may take.
   */
  renew(graceMs = 0): void {
    this.#leftMs = this.#mostMs + graceMs
  }

  /**
   * Yields chunks as they come, and ends with an error where they come too late, or too slowly for too long.
   *
   * @param faultOf - Makes the error.
   */
  async *bound(
    chunks: AsyncIterable<Uint8Array>,
    faultOf: () => Error,
  ): AsyncGenerator<Uint8Array> {
    const iterator = chunks[Symbol.asyncIterator]()
    try {
      for (;;) {
        const startMs = performance.now()
        const next = await within(iterator.next(), this.#leftMs, faultOf)
        if (next.done === true) return
        this.#spend(performance.now() - startMs, next.value.length)
        yield next.value
      }
    } finally {
      // a source that hangs is not waited for
      void iterator.return?.()
    }
  }

  #spend(ms: number, sizeBytes: number): void {
    const leftMs = this.#leftMs - ms + sizeBytes * msPerByte
    this.#leftMs = Math.max(0, Math.min(this.#mostMs, leftMs))
  }
}

/** Returns what a promise gives, or throws when it takes too long. */
export async function within<T>(
  promise: Promise<T>,
  timeoutMs: number,
  faultOf: () => Error,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(faultOf()), timeoutMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
