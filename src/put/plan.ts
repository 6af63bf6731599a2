import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { compareUtf8 } from '../kernel/bytes.ts'

/** What a plan has to know and the store has not read yet. */
export class Unread {
  readonly cids: readonly CidText[]

  constructor(cids: readonly CidText[]) {
    this.cids = cids
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

/** Returns the entries, all of them read and verified, or what is still unread. */
export function readEntries(
  context: Context,
  cids: readonly string[],
): readonly VerifiedEntry[] | Unread {
  const entries = cids.map((cid) => context.recent.get(cid))
  const unread = cids.filter((_, i) => entries[i] === undefined)
  return unread.length > 0 ? new Unread(unread as CidText[]) : (entries as VerifiedEntry[])
}

/** Returns names sorted by their UTF-8 bytes, each once. */
export function sortedNames(names: Iterable<string>): string[] {
  return [...new Set(names)].sort(compareUtf8)
}
