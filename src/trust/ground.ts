import type { JsonForm } from '../../store/canonical.ts'
import { decodeForm } from '../../store/canonical.ts'
import type { BlockReader } from '../../store/block-store.ts'
import type { CidText } from '../../store/cid-text.ts'
import { decodeEntry } from '../entry/decode.ts'
import type { Entry, SignedEntry } from '../entry/entry.ts'
import { findVerified } from '../entry/verify.ts'
import { HstoreError } from '../kernel/errors.ts'

/** What standings are computed over: the blocks that are here. Read at once, without a wait. */
export interface Ground {
  /** Returns an entry as its block states it; `other` for a block that is none, `absent` when it is not here. */
  findEntry(cid: CidText): Entry | 'absent' | 'other'
  /** Returns whether the signature of an entry that `findEntry` gave stands. */
  isSigned(entry: Entry): boolean
  /** Returns a block that is no entry, decoded; `other` when it can't be, `absent` when it is not here. */
  findForm(cid: CidText): { readonly [key: string]: JsonForm } | 'absent' | 'other'
}

/**
 * Returns the ground that a store's blocks make. A damaged block is not here.
 *
 * @param isMarked - Returns whether an entry's signature was checked before.
 */
export function groundOf(
  blocks: Pick<BlockReader, 'findNow'>,
  isMarked: (cid: CidText) => boolean = () => false,
): Ground {
  const bytesOf = (cid: CidText): Uint8Array | undefined => soundOf(() => blocks.findNow(cid))
  const entryOf = (cid: CidText): SignedEntry | 'absent' | 'other' => {
    const bytes = bytesOf(cid)
    return bytes === undefined ? 'absent' : (orElse(() => decodeEntry(cid, bytes)) ?? 'other')
  }
  return {
    findEntry: entryOf,
    isSigned({ cid }) {
      if (isMarked(cid)) return true
      const entry = entryOf(cid)
      return typeof entry !== 'string' && findVerified(entry) !== undefined
    },
    findForm(cid) {
      const bytes = bytesOf(cid)
      return bytes === undefined ? 'absent' : (orElse(() => decodeForm(bytes).form) ?? 'other')
    },
  }
}

/** A damaged block gives undefined, the walk names it; a database that can't be read is an error. */
function soundOf(read: () => Uint8Array | undefined): Uint8Array | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof HstoreError && error.code === 'HSTORE_BLOCK_CORRUPT') return undefined
    throw error
  }
}

/** What can't be decoded gives undefined; the walk names it. */
function orElse<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof HstoreError) return undefined
    throw error
  }
}
