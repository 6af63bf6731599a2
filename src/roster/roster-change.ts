import type { AgentKey, Grant } from '../trust/roster.ts'
import type { RootsChange } from './change.ts'
import type { CutPlace } from './cut-plan.ts'

/** One thing to be changed in a roster. */
export type RosterChange =
  /** A key of an agent; `replaces` retires another of its keys in the same version. */
  | {
      readonly change: 'add'
      readonly agent: string
      readonly did: string
      readonly machine: string
      /** `file` for a new key unless said; that of a key that is there can be lowered. */
      readonly level: AgentKey['level'] | undefined
      /** Everything where there are none. */
      readonly grants: readonly Grant[]
      /** Patterns of the streams that a new agent may read; everything unless said. */
      readonly read?: readonly string[] | undefined
      readonly replaces: { readonly did: string; readonly place: CutPlace } | undefined
    }
  | { readonly change: 'alias'; readonly agent: string; readonly alias: string }
  /** The streams that an agent may read, in place of those before; with none, the rosters alone. */
  | { readonly change: 'read'; readonly agent: string; readonly read: readonly string[] }
  /** More rights; `readmitted` are entries that count again, and no others. */
  | {
      readonly change: 'grant'
      readonly agent: string
      readonly did: string
      readonly grants: readonly Grant[]
      readonly readmitted: readonly string[]
    }
  /** Closes open grants: all, or `which`; `grants` are given in their place. */
  | {
      readonly change: 'revoke'
      readonly agent: string
      readonly did: string
      readonly which: readonly Grant[] | undefined
      readonly grants: readonly Grant[]
      readonly place: CutPlace
    }
  /** Closes all open grants of a key, or of all keys of an agent. */
  | {
      readonly change: 'remove'
      readonly agent: string
      readonly did: string | undefined
      readonly place: CutPlace
    }
  | ({ readonly change: 'roots' } & RootsChange)

/** A change of one sort. */
export type ChangeOf<C extends RosterChange['change']> = Extract<
  RosterChange,
  { readonly change: C }
>
