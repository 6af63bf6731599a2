/** Rows read of late, the least recently used dropped first. */
export class RowCache {
  readonly #rows = new Map<string, readonly string[]>()
  readonly #limit: number
  #weight = 0

  /** @param limit - Upper bound of what is held, in UTF-16 code units of keys and values. */
  constructor(limit: number) {
    this.#limit = limit
  }

  find(key: string): readonly string[] | undefined {
    const values = this.#rows.get(key)
    if (values === undefined) return undefined
    this.#rows.delete(key)
    this.#rows.set(key, values)
    return values
  }

  set(key: string, values: readonly string[]): void {
    this.delete(key)
    this.#rows.set(key, values)
    this.#weight += weigh(key, values)
    for (const [oldest, dropped] of this.#rows) {
      if (this.#weight <= this.#limit) break
      this.#rows.delete(oldest)
      this.#weight -= weigh(oldest, dropped)
    }
  }

  /** Takes over what a row has become, if it is held: most rows that are written are not read soon. */
  refresh(key: string, values: readonly string[] | undefined): void {
    if (!this.#rows.has(key)) return
    if (values === undefined) this.delete(key)
    else this.set(key, values)
  }

  delete(key: string): void {
    const values = this.#rows.get(key)
    if (values === undefined) return
    this.#rows.delete(key)
    this.#weight -= weigh(key, values)
  }

  clear(): void {
    this.#rows.clear()
    this.#weight = 0
  }
}

// The constants stand for what a row and a value cost besides their text.
function weigh(key: string, values: readonly string[]): number {
  let weight = 64 + key.length
  for (const value of values) weight += 16 + value.length
  return weight
}
