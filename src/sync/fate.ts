import type { CidText } from '../../store/cid-text.ts'

/** What becomes of an entry that arrived. */
export type Fate =
  /** It is valid or held, complete, and may be stored. */
  | { readonly fate: 'stored' }
  /** The store has it. */
  | { readonly fate: 'there' }
  /** It has no right under the roster: not stored, asked again when the roster changes. */
  | { readonly fate: 'parked'; readonly code: string; readonly why: string }
  /** It is no entry, or breaks the format: never stored. */
  | { readonly fate: 'refused'; readonly code: string; readonly why: string }
  /** Made by a newer hstore: not judged here. */
  | { readonly fate: 'newer'; readonly code: string; readonly why: string }
  /** A block that it needs did not come. */
  | { readonly fate: 'incomplete'; readonly needs: readonly CidText[]; readonly why: string }

/** An entry that is not stored, as it is told. */
export interface Unstored {
  readonly cid: string
  readonly fate: 'incomplete' | 'newer' | 'parked' | 'refused'
  readonly why: string
}

/** Returns the entries that are not stored, in the order of the fates. */
export function unstoredIn(fates: ReadonlyMap<CidText, Fate>): Unstored[] {
  return [...fates].flatMap(([cid, found]) =>
    found.fate === 'stored' || found.fate === 'there'
      ? []
      : [{ cid, fate: found.fate, why: found.why }],
  )
}
