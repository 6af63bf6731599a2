/** How much work may still be done on bytes that may be made to cost much; a unit is about a nanosecond. */
export class Budget {
  #left: number

  constructor(units: number) {
    this.#left = units
  }

  /** Allows more. */
  add(units: number): void {
    this.#left += units
  }

  /** Takes units off, and returns whether they were there. */
  spend(units: number): boolean {
    if (this.#left < units) return false
    this.#left -= units
    return true
  }
}
