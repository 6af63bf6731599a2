import type { CidText } from '../../store/cid-text.ts'
import type { Database } from '../../store/database.ts'
import type { Context } from '../context.ts'
import type { Marks } from '../marks.ts'
import { groundOf as blocksOf } from '../trust/ground.ts'
import { loadTrust } from '../trust/load.ts'
import type { LoadedTrust } from '../trust/load.ts'
import type { Pins } from '../trust/pin-file.ts'
import { unpinned } from '../trust/pin-file.ts'

/** What arrivals are judged against: a store that is open, and what its user has accepted for it. */
export interface Ground {
  readonly db: Database
  readonly genesis: CidText
  readonly pins: Pins
  /** Undefined where the store is another user's, or its trust is not this user's own. */
  readonly marks: Marks | undefined
}

/** Returns the ground that an open store gives. */
export function groundOf({ db, marks, trust }: Context): Ground {
  const { genesis, path, fork, chosen } = trust
  return { db, genesis, marks, pins: { ...unpinned(genesis), path, fork, chosen } }
}

/** Returns the trust that the roster stream of a database gives: the one place where sync asks for it. */
export function trustIn(db: Database, { genesis, marks, pins }: Ground): Promise<LoadedTrust> {
  const isMarked = (cid: CidText): boolean => marks?.hasSignature(cid) === true
  return loadTrust(db, genesis, { ...pins, entries: '' }, blocksOf(db, isMarked))
}
