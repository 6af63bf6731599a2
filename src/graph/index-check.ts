import { CidSet } from '../../store/cid-set.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Database } from '../../store/database.ts'
import type { IndexName } from '../../store/keyspace.ts'
import { entryKey, nameKey, nodeKey, parseEntryKey, tipKey } from '../../store/keyspace.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import type { Entries } from '../entry/entry-table.ts'
import { kindOf, nodeKey as nodeOf } from '../entry/kinds.ts'

/** Returns whether a row is one that entries give. */
type RowTest = (key: string, values: readonly string[]) => boolean

/** What a check of all rows shows. */
export interface CheckedRows {
  /** Whether the indexes hold exactly the rows that the entries give. */
  readonly isSound: boolean
  /** Entries that share their name with others. */
  readonly namesakes: ReadonlySet<string>
}

/**
 * Returns whether the indexes hold exactly the rows that entries give. It says the same as a plan of all rows, which takes
 * hundreds of bytes a row: each row is held against the entries that it names, and their number against how many there are.
 */
export async function checkRows(db: Database, entries: Entries): Promise<CheckedRows> {
  const check = new IndexCheck(entries)
  for (const [index, test] of check.tests()) {
    for await (const rows of db.rowBatches(index, ''))
      if (!rows.every(({ key, values }) => test(key, values))) return unsound
  }
  return { isSound: check.isComplete(), namesakes: check.namesakes }
}

const unsound: CheckedRows = { isSound: false, namesakes: new Set() }

/** The indexes that name each entry once, or not at all. */
type DueIndex = 'bodies' | 'entries' | 'heads' | 'names' | 'nodes' | 'tips'

/** Rows are counted as they fit: when all fit, and as many came as there should be, none is missing. */
class IndexCheck {
  readonly #entries: Entries
  readonly namesakes = new Set<string>()
  /** Entries that an entry of the same signer and stream names in `prev`. */
  readonly #chained = new CidSet()
  /** Nodes that a node entry of the same stream has among its parents, and those of their documents. */
  readonly #followed = new CidSet()
  /** Rows of names that more than one entry has: what `doubles` holds. */
  readonly #doubles = new Map<string, readonly string[]>()
  /** How many more times an entry is to be named, by index. */
  readonly #due: Record<DueIndex, number> = {
    entries: 0,
    bodies: 0,
    names: 0,
    nodes: 0,
    tips: 0,
    heads: 0,
  }

  constructor(entries: Entries) {
    this.#entries = entries
    for (const entry of entries.values()) this.#begin(entry)
    this.#due.tips = entries.size - this.#chained.size
  }

  /** The test of each index. What `bodies` and `names` show is asked for later. */
  tests(): readonly (readonly [IndexName, RowTest])[] {
    return [
      ['entries', (key, values) => this.#isEntry(key, values)],
      ['bodies', (key, values) => this.#isBody(key, values)],
      ['names', (key, values) => this.#isName(key, values)],
      ['doubles', (key, values) => this.#isDouble(key, values)],
      ['nodes', (key, values) => this.#isNode(key, values)],
      ['tips', (key, values) => this.#areTips(key, values)],
      ['heads', (key, values) => this.#areHeads(key, values)],
    ]
  }

  isComplete(): boolean {
    const { heads, ...others } = this.#due
    const headsLeft = heads - this.#followed.size
    return (
      headsLeft === 0 && this.#doubles.size === 0 && Object.values(others).every((due) => due === 0)
    )
  }

  #begin(entry: VerifiedEntry): void {
    const { cid, kind, name, parents, prev, signer, stream } = entry
    const due = this.#due
    due.entries += 1
    due.bodies += 1
    if (name !== undefined) due.names += 1
    if (nodeOf(entry) !== cid) due.nodes += 1
    for (const link of prev) {
      const before = this.#entries.get(link)
      if (before?.signer === signer && before.stream === stream) this.#chained.add(link)
    }
    if (!kindOf(kind).isNode) return
    due.heads += 1
    for (const link of parents) {
      const parent = this.#entries.get(link)
      if (parent?.stream === stream && kindOf(parent.kind).isNode) this.#followed.add(link)
    }
  }

  #isEntry(key: string, [value, ...more]: readonly string[]): boolean {
    const entry = this.#entries.get(parseEntryKey(key).cid)
    this.#due.entries -= 1
    return (
      entry !== undefined &&
      entryKey(entry.stream, entry.seq, entry.cid) === key &&
      value === entry.signer &&
      more.length === 0
    )
  }

  #isBody(key: string, values: readonly string[]): boolean {
    const fits = this.#areAll(values, 'bodies', ({ body }) => body === key)
    if (fits && values.length > 1) this.#followTogether(values as readonly CidText[])
    return fits
  }

  /** Entries of one node are followed together. */
  #followTogether(twins: readonly CidText[]): void {
    const groups = new Map<string, CidText[]>()
    for (const cid of twins) {
      const entry = this.#entries.get(cid)!
      if (!kindOf(entry.kind).isNode) continue
      const node = `${entry.stream}\u0000${nodeOf(entry)}`
      groups.set(node, [...(groups.get(node) ?? []), cid])
    }
    for (const group of groups.values()) {
      if (!group.some((cid) => this.#followed.has(cid))) continue
      for (const cid of group) this.#followed.add(cid)
    }
  }

  #isName(key: string, values: readonly string[]): boolean {
    if (values.length > 1) {
      this.#doubles.set(key, values)
      for (const cid of values) this.namesakes.add(cid)
    }
    return this.#areAll(
      values,
      'names',
      ({ name, stream }) => name !== undefined && nameKey(stream, name) === key,
    )
  }

  #isDouble(key: string, values: readonly string[]): boolean {
    const wanted = this.#doubles.get(key)
    this.#doubles.delete(key)
    return wanted?.length === values.length && wanted.every((cid, i) => cid === values[i])
  }

  #isNode(key: string, [node, body, ...more]: readonly string[]): boolean {
    const entry = this.#entries.get(key.slice(key.lastIndexOf('\u0000') + 1) as CidText)
    this.#due.nodes -= 1
    return (
      entry !== undefined &&
      nodeKey(entry.stream, entry.cid) === key &&
      nodeOf(entry) === node &&
      node !== entry.cid &&
      body === entry.body &&
      more.length === 0
    )
  }

  #areTips(key: string, values: readonly string[]): boolean {
    return this.#areAll(
      values,
      'tips',
      ({ cid, signer, stream }) => tipKey(stream, signer) === key && !this.#chained.has(cid),
    )
  }

  #areHeads(key: string, values: readonly string[]): boolean {
    return this.#areAll(
      values,
      'heads',
      ({ cid, kind, stream }) => stream === key && kindOf(kind).isNode && !this.#followed.has(cid),
    )
  }

  /** Returns whether a row names entries, each once and in order, that all belong there. */
  #areAll(
    values: readonly string[],
    index: DueIndex,
    belongs: (entry: VerifiedEntry) => boolean,
  ): boolean {
    this.#due[index] -= values.length
    return (
      values.length > 0 &&
      values.every((cid, i) => {
        const entry = this.#entries.get(cid as CidText)
        return entry !== undefined && (i === 0 || values[i - 1]! < cid) && belongs(entry)
      })
    )
  }
}
