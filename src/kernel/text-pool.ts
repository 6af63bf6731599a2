/** Keeps one copy of each text: what is read from many blocks says the same names over and over. */
export class TextPool {
  readonly #texts = new Map<string, string>()

  /** Returns the copy of `text` that was given first. */
  once<T extends string>(text: T): T {
    const known = this.#texts.get(text)
    if (known !== undefined) return known as T
    this.#texts.set(text, text)
    return text
  }
}
