import path from 'node:path'
import { parsePassed } from '../store/canonical.ts'
import type { CidText } from '../store/cid-text.ts'
import { isCidText } from '../store/cid-text.ts'
import type { Database, OpenDatabase } from '../store/database.ts'
import { openDatabase } from '../store/database.ts'
import { decodeEntry, entryOfForm } from './entry/decode.ts'
import type { Entry, VerifiedEntry } from './entry/entry.ts'
import { asVerified, findVerified, findVerifiedInBackground } from './entry/verify.ts'
import { HandoffError } from './errors.ts'
import { quoted } from './kernel/shown.ts'
import { RecentMap } from './kernel/recent-map.ts'
import { Marks } from './marks.ts'
import type { StoreConfig } from './store-folder.ts'
import { readConfig } from './store-folder.ts'
import { loadTrust } from './trust/load.ts'
import type { Ground } from './trust/ground.ts'
import { groundOf } from './trust/ground.ts'
import { findPins, readMarkSecret, unpinned, writePins } from './trust/pin-file.ts'
import type { Trust } from './trust/standing.ts'

/** How a store is opened. */
export interface ContextOptions {
  /** The store's `.hstore` folder. */
  readonly folder: string
  /** The folder of this user's keys; trust stands beside them. */
  readonly keysFolder: string
  /** How long to wait for another process to let go of the database, in ms. */
  readonly waitMs: number
  /** The genesis to accept at first contact. */
  readonly genesis?: string | undefined
  /** How the database is opened: `openDatabase` unless told. */
  readonly open?: OpenDatabase | undefined
  /** All of it is read, in the order of the disk. */
  readonly scans?: boolean | undefined
}

/** An open store with the trust that this user puts in it: what every verb works on. */
export interface Context extends AsyncDisposable {
  readonly folder: string
  readonly keysFolder: string
  readonly config: StoreConfig
  readonly db: Database
  readonly marks: Marks
  /** The accepted rosters; replaced when a new version is accepted. */
  trust: Trust
  /** Heads of streams whose index names an entry that is not valid, by stream and index row. */
  oddHeads: RecentMap<readonly CidText[]>
  /** Entries that a plan under way has read: more than `recent` may keep. */
  readonly held: Map<string, VerifiedEntry>
  /** Entries read and verified lately. */
  readonly recent: RecentMap<VerifiedEntry>
}

/**
 * Opens a store, with its path of rosters checked against the one that this user accepted before.
 *
 * @throws {HandoffError} `HSTORE_STORE_MISSING`, `HSTORE_STORE_FOREIGN`, `HSTORE_GENESIS_NEEDED` at first contact
 * without `genesis`, `HSTORE_GENESIS_MISMATCH` when it is another one, `HSTORE_ROSTER_ROLLBACK`.
 * @throws {StoreError} `HSTORE_STORE_BUSY` when another process holds it longer than `waitMs`; other `HSTORE_STORE_…`.
 */
export async function openContext(options: ContextOptions): Promise<Context> {
  const { folder, keysFolder, waitMs, open = openDatabase, scans = false } = options
  const config = readConfig(folder)
  const isKnown = findPins(keysFolder, config.genesis) !== undefined
  acceptGenesis(config.genesis, isKnown, options)
  const secret = await readMarkSecret(keysFolder)
  const db = await open(folder, { waitMs, scans })
  try {
    // read only now: another process may have accepted more while this one waited
    const pins = findPins(keysFolder, config.genesis)
    const loaded = await loadTrust(db, config.genesis, pins, groundIn(db, new Marks(db, secret)))
    if (loaded.pins !== pins) await writePins(keysFolder, config.genesis, loaded.pins, pins?.path)
    return makeContext({ folder, keysFolder, config, db, secret, trust: loaded.trust })
  } catch (error) {
    await db.close()
    throw error
  }
}

/** Returns what standings are computed over in a store. */
export function groundIn(db: Database, marks: Marks): Ground {
  return groundOf(db, (cid) => marks.hasSignature(cid))
}

/**
 * Takes over the rosters and freezes that the store's blocks now give, and pins them beside the keys.
 *
 * @param choice - The one of two rosters that the user goes on with.
 */
export async function reloadTrust(context: Context, choice?: CidText): Promise<void> {
  const { db, keysFolder, marks, trust } = context
  const { genesis, path } = trust
  const known =
    choice === undefined
      ? { ...unpinned(genesis), path, chosen: trust.chosen }
      : { ...unpinned(genesis), path: [...path, choice], chosen: choice }
  const loaded = await loadTrust(db, genesis, known, groundIn(db, marks))
  context.trust = loaded.trust
  context.oddHeads = new RecentMap(64) // what is valid may be another by now
  await writePins(keysFolder, genesis, loaded.pins, path)
}

/** Returns a context over an open database. */
export function makeContext(parts: {
  readonly folder: string
  readonly keysFolder: string
  readonly config: StoreConfig
  readonly db: Database
  readonly secret: Uint8Array
  readonly trust: Trust
}): Context {
  const { db, secret, ...rest } = parts
  return {
    ...rest,
    db,
    marks: new Marks(db, secret),
    held: new Map(),
    oddHeads: new RecentMap(64),
    recent: new RecentMap(4096),
    [Symbol.asyncDispose]: () => db.close(),
  }
}

/**
 * Returns an entry whose block and signature stand.
 *
 * @throws {StoreError} `HSTORE_BLOCK_NOT_FOUND`, `HSTORE_BLOCK_CORRUPT`, `HSTORE_BLOCK_INVALID`.
 * @throws {HandoffError} `HSTORE_ENTRY_INVALID`, `HSTORE_VERSION_NEWER`, `HSTORE_ENTRY_UNTRUSTED` when the signature
 * does not stand.
 */
export async function getEntry(context: Context, cid: CidText): Promise<VerifiedEntry> {
  return context.recent.get(cid) ?? entryOf(context, cid, await context.db.get(cid))
}

/** Does what `getEntry` does with a block that was read, and throws the same. */
export function entryOf(context: Context, cid: CidText, bytes: Uint8Array): VerifiedEntry {
  const known = context.recent.get(cid)
  if (known !== undefined) return known
  const entry = markedEntry(context, cid, bytes) ?? findVerified(decodeEntry(cid, bytes))
  return keep(context, cid, entry)
}

/**
 * Returns whether a block that was read just now is an entry whose signature is known to stand, and keeps it, so that it
 * need not be read again. What is wrong with it nevertheless is told to whoever asks for the entry.
 */
export function noteMarked(context: Context, cid: CidText, bytes: Uint8Array): boolean {
  try {
    const entry = markedEntry(context, cid, bytes)
    if (entry !== undefined) context.recent.set(cid, entry)
    return entry !== undefined
  } catch (error) {
    if (!(error instanceof HandoffError)) throw error
    return true
  }
}

/** An entry as its block states it, and the promise of the same with its signature checked. */
export interface BegunEntry {
  readonly stated: Entry
  readonly verified: Promise<VerifiedEntry>
}

/**
 * Does what `getEntry` does, with the signature checked on another thread: links can be followed meanwhile. Nothing but
 * reading may rest on what is stated until `verified` has resolved.
 */
export async function beginEntry(context: Context, cid: CidText): Promise<BegunEntry> {
  const known = context.recent.get(cid)
  if (known !== undefined) return { stated: known, verified: Promise.resolve(known) }
  const bytes = await context.db.get(cid)
  const marked = markedEntry(context, cid, bytes)
  if (marked !== undefined) {
    context.recent.set(cid, marked)
    return { stated: marked, verified: Promise.resolve(marked) }
  }
  const entry = decodeEntry(cid, bytes)
  const verified = findVerifiedInBackground(entry).then((found) => keep(context, cid, found))
  verified.catch(() => undefined) // told when it is awaited, if ever
  return { stated: entry, verified }
}

/** Whoever marked an entry had made or decoded its block, of which these are the bytes: it is canonical, and signed. */
function markedEntry(
  { marks }: Context,
  cid: CidText,
  bytes: Uint8Array,
): VerifiedEntry | undefined {
  if (!marks.hasSignature(cid)) return undefined
  return asVerified(entryOfForm(cid, bytes, parsePassed(bytes)))
}

function keep(context: Context, cid: CidText, entry: VerifiedEntry | undefined): VerifiedEntry {
  if (entry !== undefined) {
    context.recent.set(cid, entry)
    return entry
  }
  throw new HandoffError(
    'HSTORE_ENTRY_UNTRUSTED',
    `the signature of entry ${cid} does not stand: run hstore verify ${cid}`,
    { details: { cid } },
  )
}

/** A store that this user never accepted may come from anybody: its genesis has to be named once. */
function acceptGenesis(
  genesis: CidText,
  isKnown: boolean,
  { folder, genesis: named }: ContextOptions,
): void {
  if (named !== undefined && !isCidText(named)) {
    throw new HandoffError(
      'HSTORE_USAGE',
      `${quoted(named)} is no CID: --genesis takes a whole one`,
    )
  }
  if (named !== undefined && named !== genesis) {
    throw new HandoffError(
      'HSTORE_GENESIS_MISMATCH',
      `the store ${path.resolve(folder)} has genesis ${genesis}, not ${named}: it is another store`,
      { details: { genesis } },
    )
  }
  if (isKnown || named === genesis) return
  throw new HandoffError(
    'HSTORE_GENESIS_NEEDED',
    `first contact with the store ${path.resolve(folder)}: compare its genesis ${genesis} with what its owner says, then add --genesis ${genesis}`,
    { details: { genesis } },
  )
}
