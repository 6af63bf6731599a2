import type { CidText } from '../store/cid-text.ts'
import type { Context } from './context.ts'
import { getEntry } from './context.ts'
import type { VerifiedEntry } from './entry/entry.ts'
import { familyOf, kindOf } from './entry/kinds.ts'
import { headsOf, streamsOf } from './graph/ref.ts'
import { Numbers } from './kernel/numbers.ts'
import { TextNumbers } from './kernel/text-numbers.ts'
import type { LogOrder } from './log-order.ts'
import { orderNodes, orderNotes } from './log-order.ts'
import type { Standing, Trust } from './trust/standing.ts'

/** A node as `log` shows it: the entry that names it, and its parents by the entries that name them. */
export interface Logged {
  readonly entry: VerifiedEntry
  readonly parents: readonly CidText[]
  readonly standing: Standing['standing']
}

/** A log as it is shown, of any length: its entries lie packed, in some 200 bytes each. */
export class Log implements Iterable<Logged> {
  readonly #order: LogOrder
  readonly #standings = new TextNumbers<Standing['standing']>()
  /** By index, the number of the standing. */
  readonly #standingOf = new Numbers()

  /** What stands is found out at once: it may take blocks of the store, which is closed when the log is shown. */
  constructor(order: LogOrder, trust: Trust) {
    this.#order = order
    for (let index = 0; index < order.size; index++) {
      const { standing } = trust.standingOf(order.entryAt(index))
      this.#standingOf.push(this.#standings.add(standing))
    }
  }

  /** How many entries it has. */
  get size(): number {
    return this.#order.size
  }

  /** Returns the entry at an index, from 0 on. */
  at(index: number): Logged {
    return {
      entry: this.#order.entryAt(index),
      parents: this.#order.parentsAt(index),
      standing: this.#standings.at(this.#standingOf.at(index)),
    }
  }

  /** Returns the CID of the entry at an index. */
  cidAt(index: number): CidText {
    return this.#order.cidAt(index)
  }

  /** Returns the indexes of what an entry follows; a number from `size` on stands for an entry that the log does not have. */
  indexesAt(index: number): readonly number[] {
    return this.#order.indexesAt(index)
  }

  *[Symbol.iterator](): Generator<Logged> {
    for (let index = 0; index < this.size; index++) yield this.at(index)
  }
}

/**
 * Returns nodes and their ancestors, children before parents; of those that are free the one with the largest seq, then
 * the least CID. Of notes it returns their signers' chains, the largest seq first: what they follow is `prev`.
 *
 * @param limit - How many to return at most: no more of the history is read than it takes to be sure of their order.
 * @throws {HstoreError} what `getEntry` throws of an entry on the way.
 */
export async function logOf(
  context: Context,
  starts: readonly CidText[],
  limit: number,
): Promise<Log> {
  const [first] = starts
  const isNote = first !== undefined && !kindOf((await getEntry(context, first)).kind).isNode
  const order = isNote ? orderNotes : orderNodes
  return new Log(await order(context, starts, limit), context.trust)
}

/** A head of a stream. */
export interface Head {
  readonly stream: string
  readonly entry: VerifiedEntry
}

/** Streams whose heads are read at once, at most. */
const atOnce = 256

/** Returns the heads of every stream but the roster's; two of one stream are a fork. */
export async function allHeads(context: Context): Promise<readonly Head[]> {
  const streams = (await streamsOf(context)).filter((stream) => familyOf(stream) !== 'roster')
  const heads: Head[] = []
  for (let at = 0; at < streams.length; at += atOnce) {
    const read = streams.slice(at, at + atOnce).map(async (stream) => {
      const entries = await headsOf(context, stream)
      return entries.map((entry) => ({ stream, entry }))
    })
    for (const found of await Promise.all(read)) heads.push(...found)
  }
  return heads
}
