/** The values of a row; null for one that is known not to be there. */
type Held = readonly string[] | null

/**
 * Rows read of late. Two generations, of which the older is dropped when the younger is full: a hit in the younger one
 * costs a plain look-up.
 */
export class RowCache {
  readonly #half: number
  #young = new Map<string, Held>()
  #old = new Map<string, Held>()
  #weight = 0

  /** @param limit - Upper bound of what is held, in UTF-16 code units of keys and values. */
  constructor(limit: number) {
    this.#half = limit / 2
  }

  find(key: string): Held | undefined {
    const values = this.#young.get(key)
    if (values !== undefined) return values
    const older = this.#old.get(key)
    if (older !== undefined) this.set(key, older)
    return older
  }

  set(key: string, values: Held): void {
    this.#weight += weigh(key, values)
    if (this.#weight > this.#half) {
      this.#old = this.#young
      this.#young = new Map()
      this.#weight = weigh(key, values)
    }
    if (this.#weight <= this.#half) this.#young.set(key, values)
    else this.delete(key)
  }

  /** Takes over what a row has become, if it is held: most rows that are written are not read soon. */
  refresh(key: string, values: readonly string[] | undefined): void {
    if (this.#young.has(key) || this.#old.has(key)) this.set(key, values ?? null)
  }

  delete(key: string): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
    this.#weight = 0
  }
}

// The constants stand for what a row and a value cost besides their text.
function weigh(key: string, values: Held): number {
  let weight = 64 + key.length
  for (const value of values ?? []) weight += 16 + value.length
  return weight
}
