/** How far a sync is. */
export interface ProgressState {
  readonly phase: 'compare' | 'pull' | 'push'
  /** Entries that have come, or gone, of `entriesWanted`. */
  readonly entries: number
  readonly entriesWanted: number
  /** Bytes of blocks that have come, or gone. */
  readonly sizeBytes: number
}

/** Counts what goes over, and tells it. */
export class Progress {
  readonly #tell: (state: ProgressState) => void
  #state: ProgressState = { phase: 'compare', entries: 0, entriesWanted: 0, sizeBytes: 0 }

  constructor(tell: (state: ProgressState) => void) {
    this.#tell = tell
  }

  /** All bytes of blocks in both directions. */
  totalBytes = 0

  begin(phase: ProgressState['phase'], entriesWanted: number): void {
    this.#set({ phase, entries: 0, entriesWanted, sizeBytes: 0 })
  }

  entry(sizeBytes: number): void {
    this.#set({ ...this.#state, entries: this.#state.entries + 1 })
    this.block(sizeBytes)
  }

  block(sizeBytes: number): void {
    this.totalBytes += sizeBytes
    this.#set({ ...this.#state, sizeBytes: this.#state.sizeBytes + sizeBytes })
  }

  #set(state: ProgressState): void {
    this.#state = state
    this.#tell(state)
  }
}
