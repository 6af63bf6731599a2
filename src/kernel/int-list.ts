/** Whole numbers of 32 bits in one piece of memory, which grows as they come; what was never set is 0. */
export class IntList {
  #items = new Int32Array(1024)
  /** One more than the last place that was set. */
  length = 0

  get(at: number): number {
    return at < this.length ? this.#items[at]! : 0
  }

  set(at: number, value: number): void {
    if (at >= this.#items.length) this.#grow(at)
    this.#items[at] = value
    if (at >= this.length) this.length = at + 1
  }

  push(value: number): void {
    this.set(this.length, value)
  }

  #grow(at: number): void {
    const items = new Int32Array(Math.max(at + 1, 2 * this.#items.length))
    items.set(this.#items)
    this.#items = items
  }
}
