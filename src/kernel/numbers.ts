/** A list of whole numbers below 2^32 that grows: four bytes each, outside of the heap. */
export class Numbers {
  #items = new Uint32Array(64)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Returns an item; 0 where none was set. */
  at(index: number): number {
    return index < this.#size ? this.#items[index]! : 0
  }

  /** Puts an item behind the others, and returns its index. */
  push(item: number): number {
    this.set(this.#size, item)
    return this.#size - 1
  }

  /** Sets an item; what lies between it and the others is 0. */
  set(index: number, item: number): void {
    if (index >= this.#items.length) this.#grow(index + 1)
    this.#items[index] = item
    if (index >= this.#size) this.#size = index + 1
  }

  #grow(size: number): void {
    const items = new Uint32Array(Math.max(size, 2 * this.#items.length))
    items.set(this.#items)
    this.#items = items
  }
}
