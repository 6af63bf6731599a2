import { setTimeout as sleep } from 'node:timers/promises'

/** Who has had room for so long and moved less than this for each second is let go when others need it. */
const graceMs = 5000
const leastBytesPerS = 16 * 1024
/** How many answers are made at once. */
const maxAtWork = 4
const lookMs = 100

/** A part of the room. */
export interface Held extends Disposable {
  /** Tells that so many bytes have come from or gone to the client. */
  moved(bytes: number): void
  /** Tells that the client is not waited for any more: what takes its time now is not its fault. */
  allMoved(): void
}

/** A turn at work of which little is done at once. */
export interface Turn extends Disposable {
  /** Resolves once it is there; to be awaited before the turn is disposed of. */
  begin(): Promise<void>
}

interface Holder {
  readonly bytes: number
  readonly sinceMs: number
  readonly letGo: () => void
  movedBytes: number
}

/** The memory that a server has for what comes from clients and waits to go to them, over all of them. */
export class Room {
  readonly #mostBytes: number
  readonly #clock: () => number
  readonly #holders = new Set<Holder>()
  readonly #waiting: (() => void)[] = []
  #heldBytes = 0
  #atWork = 0

  /** @param clock - Milliseconds that only grow. */
  constructor(mostBytes: number, clock: () => number = () => performance.now()) {
    this.#mostBytes = mostBytes
    this.#clock = clock
  }

  /**
   * Takes room, and lets go of those that are slow where there is none.
   *
   * @param letGo - Called when it is taken back.
   * @returns Undefined when there is no room.
   */
  find(bytes: number, letGo: () => void): Held | undefined {
    for (const holder of this.#holders) {
      if (this.#heldBytes + bytes <= this.#mostBytes) break
      if (!this.#isSlow(holder)) continue
      this.#drop(holder)
      holder.letGo()
    }
    if (this.#heldBytes + bytes > this.#mostBytes) return undefined
    const holder: Holder = { bytes, letGo, sinceMs: this.#clock(), movedBytes: 0 }
    this.#holders.add(holder)
    this.#heldBytes += bytes
    return {
      moved: (moved) => {
        holder.movedBytes += moved
      },
      allMoved: () => {
        holder.movedBytes = Number.POSITIVE_INFINITY
      },
      [Symbol.dispose]: () => this.#drop(holder),
    }
  }

  /** The same, tried again and again for so long. */
  async take(bytes: number, letGo: () => void, waitMs: number): Promise<Held | undefined> {
    const sinceMs = this.#clock()
    for (;;) {
      const held = this.find(bytes, letGo)
      if (held !== undefined || this.#clock() - sinceMs > waitMs) return held
      await sleep(lookMs)
    }
  }

  /** Does some work as soon as few others do theirs: what it needs before it has an answer is bounded by their number. */
  async work<T>(work: () => Promise<T>): Promise<T> {
    using turn = this.turn()
    await turn.begin()
    return await work()
  }

  /** Returns a turn at such work, for what is known only later to need one. */
  turn(): Turn {
    let begun: Promise<void> | undefined
    return {
      begin: () => (begun ??= this.#beginWork()),
      [Symbol.dispose]: () => {
        if (begun !== undefined) this.#endWork()
      },
    }
  }

  async #beginWork(): Promise<void> {
    if (this.#atWork < maxAtWork) this.#atWork += 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #endWork(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#atWork -= 1
    else next()
  }

  #isSlow({ sinceMs, movedBytes }: Holder): boolean {
    const ms = this.#clock() - sinceMs
    return ms > graceMs && movedBytes < (leastBytesPerS * ms) / 1000
  }

  #drop(holder: Holder): void {
    if (this.#holders.delete(holder)) this.#heldBytes -= holder.bytes
  }
}
