import { setTimeout as sleep } from 'node:timers/promises'
import { maxDelayMs } from '../../store/wait.ts'
import { isWanted, takeWordBack } from '../../store/wanted.ts'
import type { Pins } from '../trust/pin-file.ts'
import type { Peer } from './peer.ts'

/** So long a store stays open when nothing is done with it, where nobody waits for it; looked at every few ms. */
const idleMs = 1000
const lookMs = 25

/** What others have accepted beside the keys is looked at again after so long. */
const lookAgainMs = 1000

/**
 * A store that stays open between the steps of a sync where they follow each other at once: to open it costs more than
 * most steps. Who waits for the database gets it after the step under way.
 */
export class KeptOpen<T extends Peer> implements AsyncDisposable {
  readonly #directory: string
  readonly #openPeer: () => Promise<T>
  #peer: T | undefined
  /** When it was known last that its trust is what the user has accepted. */
  #currentMs = 0
  /** Until then somebody else has the first turn. */
  #othersFirst: Promise<void> | undefined
  #isStale = false
  #timer: NodeJS.Timeout | undefined
  #lastTurn: Promise<void> = Promise.resolve()

  /** @param openPeer - Opens the store in `directory`. */
  constructor(directory: string, openPeer: () => Promise<T>) {
    this.#directory = directory
    this.#openPeer = openPeer
  }

  /** Gives the store to one at a time, until it is disposed of. */
  async open(): Promise<T> {
    const endTurn = await this.#takeTurn()
    try {
      const peer = (this.#peer ??= await this.#openNow())
      return {
        ...peer,
        accept: async (pins: Pins) => {
          // the trust that the peer has is not what is accepted now
          this.#isStale = true
          await peer.accept(pins)
        },
        [Symbol.asyncDispose]: async () => {
          try {
            await this.#rest()
          } finally {
            endTurn()
          }
        },
      }
    } catch (error) {
      endTurn()
      throw error
    }
  }

  /** Lets go of the store, after all who have or await it. */
  async [Symbol.asyncDispose](): Promise<void> {
    const endTurn = await this.#takeTurn()
    try {
      await this.#close()
    } finally {
      endTurn()
    }
  }

  async #takeTurn(): Promise<() => void> {
    const before = this.#lastTurn
    let endTurn = (): void => undefined
    this.#lastTurn = new Promise((resolve) => {
      endTurn = resolve
    })
    await before
    clearInterval(this.#timer)
    return endTurn
  }

  async #openNow(): Promise<T> {
    await this.#othersFirst
    const peer = await this.#openPeer()
    // the word of one who was killed would stay for ever; who still waits leaves it again
    if (this.#othersFirst !== undefined) takeWordBack(this.#directory)
    this.#currentMs = performance.now()
    this.#isStale = false
    return peer
  }

  /** Ends a turn: what comes next may come at once. */
  async #rest(): Promise<void> {
    const isAwaited = isWanted(this.#directory)
    if (isAwaited || !this.#isCurrent()) await this.#close()
    else this.#watch()
    this.#othersFirst = isAwaited ? sleep(maxDelayMs) : undefined
  }

  #isCurrent(): boolean {
    if (this.#isStale) return false
    const nowMs = performance.now()
    if (nowMs - this.#currentMs <= lookAgainMs) return true
    this.#currentMs = nowMs
    return this.#peer?.isCurrent() === true
  }

  #watch(): void {
    const sinceMs = performance.now()
    this.#timer = setInterval(() => {
      const isIdle = performance.now() - sinceMs > idleMs
      if (isIdle || isWanted(this.#directory)) void this.#closeIdle()
    }, lookMs)
  }

  async #closeIdle(): Promise<void> {
    // what could not be closed shows when it is opened again
    await this[Symbol.asyncDispose]().catch(() => undefined)
  }

  async #close(): Promise<void> {
    const peer = this.#peer
    this.#peer = undefined
    await peer?.[Symbol.asyncDispose]()
  }
}
