/**
 * Map that keeps what was used lately and forgets the rest: two generations, of which the older is dropped when the
 * younger is full. A hit in the younger one costs a plain look-up, which a least-recently-used list does not.
 */
export class RecentMap<V> {
  readonly #half: number
  #young = new Map<string, V>()
  #old = new Map<string, V>()

  /** Takes the most entries to hold; at least half as many of the latest are always there. */
  constructor(limit: number) {
    this.#half = Math.max(1, Math.floor(limit / 2))
  }

  /** Returns how many entries are held, repeats in both generations included; never above the limit. */
  get size(): number {
    return this.#young.size + this.#old.size
  }

  /** Returns the value of `key`, or undefined. */
  get(key: string): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  /** Forgets all. */
  clear(): void {
    this.#young = new Map()
    this.#old = new Map()
  }

  /** Puts `value` in place under `key`. */
  set(key: string, value: V): void {
    this.#young.set(key, value)
    if (this.#young.size < this.#half) return
    this.#old = this.#young
    this.#young = new Map()
  }
}
