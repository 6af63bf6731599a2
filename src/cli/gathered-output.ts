import type { Io } from './io.ts'

const mostLength = 16 * 1024

/** Lines for stdout: what comes without a wait in between goes out in one write, and nothing waits for more to come. */
export class GatheredOutput {
  readonly #io: Io
  #text = ''
  #turnEnd: NodeJS.Immediate | undefined
  #written: Promise<void> = Promise.resolve()

  constructor(io: Io) {
    this.#io = io
  }

  /** Takes a line; waits while stdout takes no more, and throws what writing before it threw. */
  async add(line: string): Promise<void> {
    this.#text += line
    this.#turnEnd ??= setImmediate(() => this.#write())
    if (this.#text.length > mostLength) await this.flush()
  }

  /** Resolves when all is written; throws what writing threw. */
  async flush(): Promise<void> {
    this.#write()
    await this.#written
  }

  #write(): void {
    clearImmediate(this.#turnEnd)
    this.#turnEnd = undefined
    const text = this.#text
    this.#text = ''
    if (text === '') return
    this.#written = this.#written.then(() => this.#io.out(text))
    // the next flush tells
    this.#written.catch(() => undefined)
  }
}
