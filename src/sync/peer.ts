import type { Database } from '../../store/database.ts'
import { openDatabase } from '../../store/database.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { ContextOptions } from '../context.ts'
import { openContext } from '../context.ts'
import { HandoffError } from '../errors.ts'
import { HstoreError } from '../kernel/errors.ts'
import { lookAtAddress, readConfig } from '../store-folder.ts'
import type { Pins } from '../trust/pin-file.ts'
import { findPins, unpinned, writePins } from '../trust/pin-file.ts'
import type { Trust } from '../trust/standing.ts'
import type { Ground } from './ground.ts'
import { groundOf, trustIn } from './ground.ts'

/** One side of a sync while its database is open. */
export interface Peer extends AsyncDisposable {
  readonly db: Database
  readonly ground: Ground
  /** The body of the highest accepted roster. */
  readonly roster: CidText
  /** Returns whether what this user accepts beside the store is what it was when it was opened. */
  isCurrent(): boolean
  /** Remembers the rosters that were accepted, where this user remembers any for the store. */
  accept(pins: Pins): Promise<void>
}

/** A side that has its rosters. */
export interface SettledPeer extends Peer {
  readonly trust: Trust
}

/** Opens this user's own store. Throws what `openContext` throws. */
export async function openOwn(options: ContextOptions): Promise<SettledPeer> {
  const { genesis } = readConfig(options.folder)
  const before = textOfPins(options.keysFolder, genesis)
  const context = await openContext(options)
  return {
    db: context.db,
    ground: groundOf(context),
    roster: context.trust.rosterBody,
    trust: context.trust,
    isCurrent: () => before !== undefined && textOfPins(options.keysFolder, genesis) === before,
    accept: (pins) =>
      writePins(options.keysFolder, context.trust.genesis, pins, context.trust.path),
    [Symbol.asyncDispose]: () => context[Symbol.asyncDispose](),
  }
}

/** Undefined where there are none that can be read: who opens the store is told why. */
function textOfPins(keysFolder: string, genesis: CidText): string | undefined {
  try {
    return JSON.stringify(findPins(keysFolder, genesis))
  } catch (error) {
    if (error instanceof HstoreError) return undefined
    throw error
  }
}

/**
 * Opens another store by its folder. It is judged by its own rosters alone: what this user has accepted for the same
 * genesis says nothing of how far that store is.
 *
 * @throws {HandoffError} `HSTORE_STORE_MISSING`, `HSTORE_STORE_FOREIGN`; `HSTORE_REMOTE_INVALID` when it has no roster that
 * its genesis is the start of.
 */
export async function openOther(folder: string, waitMs: number): Promise<SettledPeer> {
  const { genesis } = readConfig(folder, lookAtAddress)
  const db = await openDatabase(folder, { waitMs })
  try {
    const ground: Ground = { db, genesis, pins: unpinned(genesis), marks: undefined }
    const trust = await trustOf(folder, ground)
    return {
      db,
      ground,
      roster: trust.rosterBody,
      trust,
      isCurrent: () => true,
      accept: async () => undefined,
      [Symbol.asyncDispose]: () => db.close(),
    }
  } catch (error) {
    await db.close()
    throw error
  }
}

async function trustOf(folder: string, ground: Ground): Promise<Trust> {
  try {
    return (await trustIn(ground.db, ground)).trust
  } catch (cause) {
    if (!(cause instanceof HstoreError)) throw cause
    const message = `${folder} does not hold the rosters of its genesis ${ground.genesis}: run hstore fsck there`
    throw new HandoffError('HSTORE_REMOTE_INVALID', message, { cause })
  }
}

/** Throws `HSTORE_GENESIS_MISMATCH` when two stores are not one. */
export function assertSameStore(mine: CidText, theirs: CidText, remote: string): void {
  if (mine === theirs) return
  throw new HandoffError(
    'HSTORE_GENESIS_MISMATCH',
    `${remote} is the store ${theirs}, this one is ${mine}: nothing was taken in`,
    { details: { genesis: theirs, store: mine } },
  )
}
