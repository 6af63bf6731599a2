import { createHash } from 'node:crypto'
import type { CidText } from './cid-text.ts'
import { digestOf } from './cid-text.ts'
import type { RowChange } from './commit.ts'
import type { Database } from './database.ts'
import { parseEntryKey, rangeFan, rangeKey, rangeNodeKey } from './keyspace.ts'

/*
 * Fingerprints of what a stream holds, in a tree: a leaf covers the entries of a hundred values of seq, an inner node 32
 * nodes of the level below. All are sha2-256, so that nobody can make two sets with one fingerprint.
 *
 * Nodes with others behind them are remembered in rows of `ranges`. Where a node has a row, all below it have theirs: so
 * whoever adds an entry goes up from its leaf, and deletes rows until there is none.
 */

/** What reads rows. */
export type RowReader = Pick<Database, 'readRow' | 'rowBatches'>

/** Fingerprint of a node that holds nothing. */
export const emptyFingerprint = ''

/** Returns the fingerprint of entries, in whatever order they come: 43 characters, or none for none. */
export function fingerprintOf(cids: readonly CidText[]): string {
  if (cids.length === 0) return emptyFingerprint
  const hash = createHash('sha256')
  for (const cid of [...cids].sort()) hash.update(digestOf(cid))
  return hash.digest('base64url')
}

/** Returns the entries of a range in the order of seq: so each stands behind what it follows of its own signer. */
export async function entriesInRange(
  db: RowReader,
  stream: string,
  range: number,
): Promise<readonly CidText[]> {
  const cids: CidText[] = []
  for await (const rows of db.rowBatches('entries', rangeKey(stream, range)))
    for (const { key } of rows) cids.push(parseEntryKey(key).cid)
  return cids
}

/** The fingerprints of one stream, as long as nothing is written to it: each is read or computed when it is asked for. */
export class RangeTree {
  /** How many leaves it has. */
  readonly size: number
  readonly #db: RowReader
  readonly #stream: string
  readonly #known = new Map<string, string>()
  #fresh: RowChange[] = []
  #last: RowChange[] = []

  /** @param size - One more than the range of the largest seq. */
  constructor(db: RowReader, stream: string, size: number) {
    this.#db = db
    this.#stream = stream
    this.size = size
  }

  /** Returns the fingerprint of the whole. */
  root(): Promise<string> {
    return this.node(levelsFor(this.size), 0)
  }

  /** Returns the fingerprint of a node; empty where there is nothing. */
  async node(level: number, index: number): Promise<string> {
    if (index >= nodesAt(level, this.size)) return emptyFingerprint
    if (level > 0 && nodesAt(level - 1, this.size) === 1) return this.node(level - 1, 0)
    const key = rangeNodeKey(this.#stream, level, index)
    const known = this.#known.get(key) ?? this.#db.readRow('ranges', key)?.[0]
    const found = known ?? (await this.#compute(level, index))
    this.#known.set(key, found)
    if (known === undefined) this.#note(level, index, { index: 'ranges', key, values: [found] })
    return found
  }

  /** Returns the fingerprints of the nodes below one, without those at the end that hold nothing. */
  async children(level: number, index: number): Promise<readonly string[]> {
    const end = nodesAt(level - 1, this.size)
    const found: string[] = []
    for (const at of nodesBelow(index)) if (at < end) found.push(await this.node(level - 1, at))
    return found
  }

  /** Returns the rows that remember what was computed, once; but for the last range, which changes with the next entry. */
  takeRows(): readonly RowChange[] {
    const rows = this.#fresh
    this.#fresh = []
    return rows
  }

  /** Returns the row of the last range, where it was computed, once. */
  takeLast(): readonly RowChange[] {
    const rows = this.#last
    this.#last = []
    return rows
  }

  /** The last node of a level above holds for no more entries than there are. */
  #note(level: number, index: number, row: RowChange): void {
    if (index < nodesAt(level, this.size) - 1) this.#fresh.push(row)
    else if (level === 0) this.#last.push(row)
  }

  async #compute(level: number, index: number): Promise<string> {
    return level === 0
      ? fingerprintOf(await entriesInRange(this.#db, this.#stream, index))
      : fingerprintOver(await this.children(level, index))
  }
}

/** Returns how many nodes a level has over some leaves. */
function nodesAt(level: number, leaves: number): number {
  return Math.ceil(leaves / rangeFan ** level)
}

/** Returns the level at which one node covers `leaves` leaves. */
export function levelsFor(leaves: number): number {
  let level = 0
  while (nodesAt(level, leaves) > 1) level += 1
  return level
}

/** Returns the numbers of the nodes that one covers, on the level below. */
export function nodesBelow(index: number): number[] {
  return Array.from({ length: rangeFan }, (_, i) => index * rangeFan + i)
}

/** Returns the fingerprint of a node over others. */
export function fingerprintOver(children: readonly string[]): string {
  if (children.every((child) => child === emptyFingerprint)) return emptyFingerprint
  return createHash('sha256').update(children.join('\n')).digest('base64url')
}
