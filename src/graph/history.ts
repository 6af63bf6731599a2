import type { CidText } from '../../store/cid-text.ts'
import type { BegunEntry, Context } from '../context.ts'
import { beginEntry } from '../context.ts'
import type { Entry, VerifiedEntry } from '../entry/entry.ts'
import { nodeKey } from '../entry/kinds.ts'
import { cidsIn } from './index-row.ts'

/** Signatures under way at once, at most. */
const underWay = 512

/** Nodes and their ancestors, as far down as was asked for. */
export class History {
  readonly #context: Context
  readonly #entries = new Map<CidText, VerifiedEntry>()
  /** Entries read or under way. */
  readonly #seen = new Set<CidText>()
  #wave: readonly CidText[]
  #pending: Promise<VerifiedEntry>[] = []

  constructor(context: Context, starts: readonly CidText[]) {
    this.#context = context
    this.#wave = starts
  }

  /** The entries read, each with the others of its node. */
  get entries(): ReadonlyMap<CidText, VerifiedEntry> {
    return this.#entries
  }

  /** Links that lead on; nothing is known of what they name. */
  get open(): readonly CidText[] {
    return this.#wave
  }

  /**
   * Reads on, children before parents, until `count` entries are there or nothing is open.
   *
   * @throws {HstoreError} what `getEntry` throws.
   */
  async read(count: number): Promise<void> {
    while (this.#wave.length > 0 && this.#seen.size < count) {
      const next = new Set<CidText>()
      for (const cid of this.#wave) {
        if (!this.#seen.has(cid)) await this.#readNode(cid, next)
      }
      this.#wave = [...next].filter((cid) => !this.#seen.has(cid))
    }
    await this.#settle(0)
  }

  async #readNode(cid: CidText, next: Set<CidText>): Promise<void> {
    const begun = await beginEntry(this.#context, cid)
    await this.#take(begun, next)
    const key = nodeKey(begun.stated)
    if (key === cid) return
    for (const other of cidsIn(this.#context, { index: 'bodies', body: begun.stated.body })) {
      if (this.#seen.has(other)) continue
      const sibling = await beginEntry(this.#context, other)
      if (nodeKey(sibling.stated) === key && this.#isValid(sibling.stated))
        await this.#take(sibling, next)
    }
  }

  async #take({ stated, verified }: BegunEntry, next: Set<CidText>): Promise<void> {
    this.#seen.add(stated.cid)
    this.#pending.push(verified)
    for (const parent of stated.parents) next.add(parent)
    if (this.#pending.length > underWay) await this.#settle(underWay / 2)
  }

  /** What somebody without a right says of a document changes nothing about it. */
  #isValid(entry: Entry): boolean {
    return this.#context.trust.standingOf(entry).standing === 'valid'
  }

  /** Waits until at most `most` signatures are still being checked, those begun first. */
  async #settle(most: number): Promise<void> {
    const begun = this.#pending.splice(0, this.#pending.length - most)
    for (const entry of await Promise.all(begun)) this.#entries.set(entry.cid, entry)
  }
}
