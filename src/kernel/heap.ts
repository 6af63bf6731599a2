/** Items of which the first by some order can be taken at any time. */
export class Heap<T> {
  readonly #items: T[] = []
  readonly #isBefore: (a: T, b: T) => boolean

  /** @param isBefore - Returns whether `a` is to be taken before `b`. */
  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore
  }

  /** Puts an item in. */
  add(item: T): void {
    const items = this.#items
    let at = items.push(item) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!this.#isBefore(item, items[above]!)) break
      items[at] = items[above]!
      at = above
    }
    items[at] = item
  }

  /** Returns the first item without taking it; undefined when there is none. */
  peek(): T | undefined {
    return this.#items[0]
  }

  /** Takes the first item; undefined when there is none. */
  take(): T | undefined {
    const items = this.#items
    const first = items[0]
    const last = items.pop()
    if (last !== undefined && items.length > 0) this.#sink(last)
    return first
  }

  #sink(item: T): void {
    const items = this.#items
    let at = 0
    for (let below = 1; below < items.length; below = 2 * at + 1) {
      const right = below + 1
      if (right < items.length && this.#isBefore(items[right]!, items[below]!)) below = right
      if (!this.#isBefore(items[below]!, item)) break
      items[at] = items[below]!
      at = below
    }
    items[at] = item
  }
}
