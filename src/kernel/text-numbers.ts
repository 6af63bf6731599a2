/** Texts numbered from 0 on: what is read from many blocks says the same names over and over. */
export class TextNumbers<T extends string = string> {
  readonly #numbers = new Map<T, number>()
  readonly #texts: T[] = []

  /** Returns the number of a text; it is given the next one where it has none. */
  add(text: T): number {
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    this.#numbers.set(text, this.#texts.length)
    return this.#texts.push(text) - 1
  }

  /** Returns the text of a number that was given. */
  at(number: number): T {
    return this.#texts[number]!
  }
}
