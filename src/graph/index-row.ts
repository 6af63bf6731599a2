import type { CidText } from '../../store/cid-text.ts'
import { StoreError } from '../../store/errors.ts'
import { nameKey, tipKey } from '../../store/keyspace.ts'
import type { BegunEntry, Context } from '../context.ts'
import type { Entry, VerifiedEntry } from '../entry/entry.ts'
import { beginEntry } from '../context.ts'
import { kindOf } from '../entry/kinds.ts'

/** A row of an index that names entries, and what those entries have in common. */
export type IndexRow =
  | { readonly index: 'bodies'; readonly body: CidText }
  | { readonly index: 'heads'; readonly stream: string }
  | { readonly index: 'names'; readonly stream: string; readonly name: string }
  | { readonly index: 'tips'; readonly stream: string; readonly signer: string }

/** Returns the entries that a row names, by CID; nothing where there is no such row. */
export function cidsIn(context: Context, row: IndexRow): readonly CidText[] {
  return (context.db.readRow(row.index, keyOf(row)) ?? []) as readonly CidText[]
}

/**
 * Returns the entries that a row names, read and verified, each held against the row: rows find, blocks prove.
 *
 * @throws {StoreError} `HSTORE_STORE_DAMAGED` when the row names an entry that is not its own.
 */
export async function readRow(context: Context, row: IndexRow): Promise<readonly VerifiedEntry[]> {
  const begun: BegunEntry[] = []
  for (const cid of cidsIn(context, row)) {
    const entry = await beginEntry(context, cid)
    assertInRow(row, entry.stated)
    begun.push(entry)
  }
  return Promise.all(begun.map(({ verified }) => verified))
}

/** Throws `HSTORE_STORE_DAMAGED` when `row` is none that names `entry`. */
export function assertInRow(row: IndexRow, entry: Entry): void {
  if (isInRow(row, entry)) return
  throw new StoreError(
    'HSTORE_STORE_DAMAGED',
    `the index ${row.index} names ${entry.cid}, which does not belong there: the store was changed or damaged, run hstore fsck`,
    { details: { cid: entry.cid } },
  )
}

function isInRow(row: IndexRow, entry: Entry): boolean {
  if (row.index === 'bodies') return entry.body === row.body
  if (entry.stream !== row.stream) return false
  if (row.index === 'names') return entry.name === row.name
  return row.index === 'tips' ? entry.signer === row.signer : kindOf(entry.kind).isNode
}

function keyOf(row: IndexRow): string {
  if (row.index === 'bodies') return row.body
  if (row.index === 'heads') return row.stream
  return row.index === 'names' ? nameKey(row.stream, row.name) : tipKey(row.stream, row.signer)
}
