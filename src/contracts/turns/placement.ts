import type { Turn } from './turn.ts'

/** Which turns of a chain stood where. */
export interface Placement {
  readonly chain: readonly Turn[]
  /** Places in the chain, in the order of the file. */
  readonly archive: readonly number[]
  readonly living: readonly number[]
  /** Whether an archive was known; without one, what an archive holds may be older than all that is known. */
  readonly hadArchive: boolean
  /** The places that this store has seen in no file: they were written into it alone, or came from another. */
  readonly unseen: ReadonlySet<number>
  /** What stood in no turn of either file, CRLF and CR as LF: a turn that was begun there may have got its END since. */
  readonly loose: readonly string[]
}

/** The closed turns of a relay and its archive as they are now. */
export interface TurnsNow {
  readonly archive: readonly Turn[]
  readonly living: readonly Turn[]
}
