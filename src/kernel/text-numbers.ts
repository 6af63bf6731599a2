/** Texts numbered from 0 on: what is read from many blocks says the same names over and over. */
export class TextNumbers {
  readonly #numbers = new Map<string, number>()
  readonly #texts: string[] = []

  /** Returns the number of a text; it is given the next one where it has none. */
  add(text: string): number {
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    this.#numbers.set(text, this.#texts.length)
    return this.#texts.push(text) - 1
  }

  /** Returns the text of a number that was given. */
  at(number: number): string {
    return this.#texts[number]!
  }
}
