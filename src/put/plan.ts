import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { getEntry } from '../context.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import type { IndexRow } from '../graph/index-row.ts'
import { assertInRow, cidsIn } from '../graph/index-row.ts'
import { compareUtf8 } from '../kernel/bytes.ts'

/** What a plan has to know and the store has not read yet. */
export class Unread {
  readonly #read: (context: Context) => Promise<unknown>

  constructor(read: (context: Context) => Promise<unknown>) {
    this.#read = read
  }

  /** Reads it, so that the next attempt finds it at hand. */
  async read(context: Context): Promise<void> {
    await this.#read(context)
  }
}

/** Where a draft lands: on an entry that says the same, or behind these parents. */
export type Plan =
  | { readonly same: VerifiedEntry }
  | {
      readonly parents: readonly CidText[]
      readonly shallow: readonly string[]
      readonly refs: readonly CidText[]
    }

/**
 * Returns the entries that a row names, all of them read, verified and held against the row, or what is still unread.
 *
 * @throws {StoreError} `HSTORE_STORE_DAMAGED` when the row names an entry that is not its own.
 */
export function entriesIn(context: Context, row: IndexRow): readonly VerifiedEntry[] | Unread {
  const entries = readEntries(context, cidsIn(context, row))
  if (!(entries instanceof Unread)) for (const entry of entries) assertInRow(row, entry)
  return entries
}

/** Returns the entries, all of them read and verified, or what is still unread. */
export function readEntries(
  context: Context,
  cids: readonly CidText[],
): readonly VerifiedEntry[] | Unread {
  const entries = cids.map((cid) => context.recent.get(cid) ?? context.held.get(cid))
  if (!entries.includes(undefined)) return entries as VerifiedEntry[]
  return new Unread(async (context) => {
    for (const cid of cids) context.held.set(cid, await getEntry(context, cid))
  })
}

/** Returns the entry at the one tip of a key's log when it is the agent's certificate and valid. */
export function lastCertificate(
  context: Context,
  agent: string,
  did: string,
): VerifiedEntry | Unread | undefined {
  const entries = entriesIn(context, { index: 'tips', stream: `log:${did}`, signer: did })
  if (entries instanceof Unread) return entries
  if (entries.length !== 1) return undefined
  const entry = entries[0]!
  const isOurs = entry.kind === 'certificate' && entry.author === agent && entry.signer === did
  return isOurs && context.trust.standingOf(entry).standing === 'valid' ? entry : undefined
}

/** Returns names sorted by their UTF-8 bytes, each once. */
export function sortedNames(names: Iterable<string>): string[] {
  return [...new Set(names)].sort(compareUtf8)
}
