import { createHash } from 'node:crypto'
import type { CidText } from './cid-text.ts'
import { digestOf } from './cid-text.ts'
import type { RowChange } from './commit.ts'
import type { Database } from './database.ts'
import { entryPrefix, parseEntryKey, rangeKey } from './keyspace.ts'

/*
 * Fingerprints of what a stream holds, in a tree: a leaf covers the entries of a hundred values of seq, an inner node 32
 * nodes of the level below. All are sha2-256, so that nobody can make two sets with one fingerprint.
 */

/** Nodes that one node of the level above covers. */
export const rangeFan = 32

/** Fingerprint of a node that holds nothing. */
export const emptyFingerprint = ''

/** Returns the fingerprint of entries, in whatever order they come: 43 characters, or none for none. */
export function fingerprintOf(cids: readonly CidText[]): string {
  if (cids.length === 0) return emptyFingerprint
  const hash = createHash('sha256')
  for (const cid of [...cids].sort()) hash.update(digestOf(cid))
  return hash.digest('base64url')
}

/** Returns the entries of a range, sorted. */
export async function entriesInRange(
  db: Database,
  stream: string,
  range: number,
): Promise<readonly CidText[]> {
  const cids: CidText[] = []
  for await (const rows of db.rowBatches('entries', rangeKey(stream, range)))
    for (const { key } of rows) cids.push(parseEntryKey(key).cid)
  return cids.sort()
}

/** The fingerprints of one stream. */
export class RangeTree {
  readonly #levels: (readonly string[])[]

  constructor(leaves: readonly string[]) {
    this.#levels = [leaves]
  }

  /** How many leaves it has. */
  get size(): number {
    return this.#levels[0]!.length
  }

  /** Returns the fingerprint of the whole. */
  get root(): string {
    return this.node(levelsFor(this.size), 0)
  }

  /** Returns the fingerprint of a node; empty where there is nothing. */
  node(level: number, index: number): string {
    while (this.#levels.length <= level) this.#levels.push(above(this.#levels.at(-1)!))
    return this.#levels[level]![index] ?? emptyFingerprint
  }

  /** Returns the fingerprints of the nodes below one, without those at the end that hold nothing. */
  children(level: number, index: number): readonly string[] {
    this.node(level, index)
    return this.#levels[level - 1]!.slice(index * rangeFan, (index + 1) * rangeFan)
  }
}

/** Returns the level at which one node covers `leaves` leaves. */
export function levelsFor(leaves: number): number {
  let level = 0
  for (let nodes = leaves; nodes > 1; nodes = Math.ceil(nodes / rangeFan)) level += 1
  return level
}

/** A node with one child is that child, so that a tree has one root however tall it is thought. */
function above(below: readonly string[]): readonly string[] {
  const nodes: string[] = []
  for (let at = 0; at < below.length; at += rangeFan) {
    const children = below.slice(at, at + rangeFan)
    const isAlone = at === 0 && below.length === 1
    nodes.push(isAlone ? children[0]! : hashOf(children))
  }
  return nodes
}

function hashOf(children: readonly string[]): string {
  if (children.every((child) => child === emptyFingerprint)) return emptyFingerprint
  return createHash('sha256').update(children.join('\n')).digest('base64url')
}

/**
 * Returns the tree of a stream, and remembers what it had to compute.
 *
 * @param leaves - How many there are: one more than the range of the largest seq.
 */
export async function readRangeTree(
  db: Database,
  stream: string,
  leaves: number,
): Promise<RangeTree> {
  const known = new Map<string, string>()
  for await (const batch of db.rowBatches('ranges', entryPrefix(stream)))
    for (const { key, values } of batch) known.set(key, values[0] ?? emptyFingerprint)
  const fingerprints: string[] = []
  const rows: RowChange[] = []
  for (let range = 0; range < leaves; range++) {
    const key = rangeKey(stream, range)
    const remembered = known.get(key)
    const found = remembered ?? fingerprintOf(await entriesInRange(db, stream, range))
    // the last one changes with the next entry
    if (remembered === undefined && found !== emptyFingerprint && range < leaves - 1)
      rows.push({ index: 'ranges', key, values: [found] })
    fingerprints.push(found)
  }
  if (rows.length > 0) await db.commit({ blocks: [], rows })
  return new RangeTree(fingerprints)
}
