import type { AbstractIterator } from 'abstract-level'

/**
 * Yields what an iterator gives, up to `size` rows at once, and asks for the next rows before the last are worked on:
 * whoever works on them may queue work of its own on the threads that read.
 */
export async function* readAhead<Key, Value>(
  iterator: AbstractIterator<unknown, Key, Value>,
  size: number,
): AsyncGenerator<readonly (readonly [Key, Value])[]> {
  let next = iterator.nextv(size)
  try {
    for (;;) {
      const rows = await next
      if (rows.length === 0) return
      next = iterator.nextv(size)
      next.catch(() => undefined) // told when it is awaited, if ever
      yield rows
    }
  } finally {
    await next.catch(() => undefined)
    await iterator.close()
  }
}
