import { createHmac } from 'node:crypto'
import type { CidText } from '../store/cid-text.ts'
import { isCidText } from '../store/cid-text.ts'
import type { RowChange } from '../store/commit.ts'
import type { Database } from '../store/database.ts'

/**
 * What this user has verified before, under a secret that stands beside the keys: whoever can write the database can't
 * make a mark. `signature` saves checking a signature again; `certified` says that this agent's certificate covers the
 * entry with all that it rests on, `seen` that its judgement took the entry's name into account. Both count under the
 * roster that they were made under alone: trust is computed, never remembered. `made` says that this user made the entry
 * in this store, its body encoded or checked here; it stands in an index of its own, which outlives a rebuild.
 */
export type MarkWhat = 'made' | 'signature' | `${'certified' | 'seen'}:${string}:${string}`

/** Makes and reads verified marks. */
export class Marks {
  readonly #secret: Uint8Array
  readonly #db: Database
  #last = { text: '', mac: '' }

  constructor(db: Database, secret: Uint8Array) {
    this.#db = db
    this.#secret = secret
  }

  /** Returns whether the mark is there and ours. */
  has(cid: CidText, what: MarkWhat): boolean {
    return this.#db.readRow('marks', cid)?.includes(this.#mac(cid, what)) ?? false
  }

  /** Returns the row of an entry with the marks added, or undefined when all are there. */
  rowWith(cid: CidText, whats: readonly MarkWhat[]): readonly string[] | undefined {
    const there = this.#db.readRow('marks', cid) ?? []
    const added = whats.map((what) => this.#mac(cid, what)).filter((mac) => !there.includes(mac))
    return added.length === 0 ? undefined : [...there, ...added]
  }

  /** Returns the row that says that this user makes an entry now. */
  madeRow(cid: CidText): RowChange {
    return { index: 'made', key: cid, values: [this.#mac(cid, 'made')] }
  }

  /** Returns whether this user made an entry in this store. */
  isMade(cid: CidText): boolean {
    return this.#db.readRow('made', cid)?.includes(this.#mac(cid, 'made')) ?? false
  }

  /** Returns whether the entry's signature was checked before, or made, by this user. */
  hasSignature(cid: CidText): boolean {
    // most entries of a store were made in it, and a row that is not there takes longest to look for
    return this.isMade(cid) || this.has(cid, 'signature')
  }

  /** Returns the row that says how far an agent has read in a stream. */
  readRow(agent: string, stream: string, through: readonly CidText[]): RowChange {
    const key = readKey(agent, stream)
    return { index: 'marks', key, values: [...through, this.#readMac(key, through)] }
  }

  /** Returns the ends of what this store has handed to an agent in a stream; none where no row of ours says so. */
  readThrough(agent: string, stream: string): readonly CidText[] {
    const key = readKey(agent, stream)
    const row = this.#db.readRow('marks', key) ?? []
    const through = row.slice(0, -1) as CidText[]
    return row.at(-1) === this.#readMac(key, through) ? through : []
  }

  #readMac(key: string, through: readonly CidText[]): string {
    const text = `read\n${key}\n${through.join('\n')}`
    return createHmac('sha256', this.#secret).update(text).digest('base64url')
  }

  /** Returns the entries that this user made in this store. */
  async made(): Promise<ReadonlySet<CidText>> {
    const cids = new Set<CidText>()
    for await (const rows of this.#db.rowBatches('made', '')) {
      for (const { key, values } of rows) {
        if (isCidText(key) && values.includes(this.#mac(key, 'made'))) cids.add(key)
      }
    }
    return cids
  }

  /** An entry that is read is asked for more than once. */
  #mac(cid: CidText, what: MarkWhat): string {
    const text = `${what}\n${cid}`
    if (text !== this.#last.text) {
      const mac = createHmac('sha256', this.#secret).update(text).digest('base64url')
      this.#last = { text, mac }
    }
    return this.#last.mac
  }
}

/** Agents and streams hold no control characters; a CID holds no space. */
function readKey(agent: string, stream: string): string {
  return `read ${agent}\u0000${stream}`
}
