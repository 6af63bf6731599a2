import { isWanted } from '../../store/wanted.ts'

/** Links and blocks that one request reads, at most; half a list of the largest kind, or a whole `want` many times. */
const maxReads = 50_000
const longestMs = 2000
/** So long a request works even where somebody waits for the database: a sync beside many writers goes on. */
const shortestMs = 50

/**
 * What one request may cost while the database is open. It is asked between two steps: when it is spent, who asked gets what
 * was found and asks again for the rest, and whoever waits for the database has it first.
 */
export class Budget {
  readonly #directory: string
  readonly #hungUp: AbortSignal | undefined
  readonly #sinceMs = performance.now()
  #reads = 0

  /** @param hungUp - Aborted once nobody waits for the answer any more. */
  constructor(directory: string, hungUp: AbortSignal | undefined) {
    this.#directory = directory
    this.#hungUp = hungUp
  }

  spend(reads: number): void {
    this.#reads += reads
  }

  /** Throws what the signal has for a reason when nobody waits for the answer. */
  get isSpent(): boolean {
    this.#hungUp?.throwIfAborted()
    const ms = performance.now() - this.#sinceMs
    const isOver = this.#reads >= maxReads || ms > longestMs
    return isOver || (ms > shortestMs && isWanted(this.#directory))
  }
}
