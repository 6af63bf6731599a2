/**
 * Yields chunks as they come, and ends with an error where none comes for too long.
 *
 * @param faultOf - Makes the error.
 */
export async function* idleBound(
  chunks: AsyncIterable<Uint8Array>,
  idleMs: number,
  faultOf: () => Error,
): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await within(iterator.next(), idleMs, faultOf)
      if (next.done === true) return
      yield next.value
    }
  } finally {
    // a source that hangs is not waited for
    void iterator.return?.()
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
