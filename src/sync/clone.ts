import { createReadStream } from 'node:fs'
import { rmdir, stat } from 'node:fs/promises'
import path from 'node:path'
import type { CidText } from '../../store/cid-text.ts'
import { isCidText } from '../../store/cid-text.ts'
import { openDatabase } from '../../store/database.ts'
import { StoreError } from '../../store/errors.ts'
import type { ContextOptions } from '../context.ts'
import { HandoffError } from '../errors.ts'
import { assertFree } from '../init-verb.ts'
import { whyUnwritten } from '../kernel/errno.ts'
import { makeFolder } from '../kernel/files.ts'
import { Marks } from '../marks.ts'
import { beginClone, endClone, hasConfig, writeConfig } from '../store-folder.ts'
import { findPins, readMarkSecret, unpinned, writePins } from '../trust/pin-file.ts'
import { greet } from './greet.ts'
import { assertManifest, takeIn } from './import.ts'
import { KeptOpen } from './kept-open.ts'
import type { Peer } from './peer.ts'
import { openOwn } from './peer.ts'
import type { ProgressState } from './progress.ts'
import type { Transport } from './protocol.ts'
import { Quarantine } from './quarantine.ts'
import { noMarks, writeMarks } from './remote-marks.ts'
import { Remotes } from './remotes.ts'
import { syncSession } from './session.ts'
import { withOwnOf } from './sync-with.ts'
import { takeCar } from './take-car.ts'
import type { TransportOptions } from './transport.ts'
import { absoluteUrl, assertNoScp, openTransport } from './transport.ts'

/** How a store is cloned. */
export interface CloneOptions extends ContextOptions, Pick<TransportOptions, 'signer' | 'ssh'> {
  readonly cwd: string
  /** The agent that acts in the clone when none is named. */
  readonly agent?: string | undefined
  /** Asked whether this is the store that is meant, where no genesis is given. */
  readonly confirm?: ((genesis: CidText) => Promise<boolean>) | undefined
  /** The time, in ms since 1970. */
  readonly nowMs: number
  readonly onProgress?: ((state: ProgressState) => void) | undefined
}

/** What a clone made. */
export interface CloneReport {
  readonly store: string
  readonly genesis: string
  /** How many entries it holds, rosters among them. */
  readonly entries: number
  /** Entries that the source has and that have no right. */
  readonly unstored: number
}

/**
 * Makes a store out of another: a folder, a remote, or a CAR file. Its genesis has to be known from its owner, another way.
 * Cut short, it is a store that `syncWith` completes, or none.
 *
 * @throws {HandoffError} `HSTORE_GENESIS_NEEDED` when nobody says which store is meant, `HSTORE_GENESIS_MISMATCH` when it
 * is another one; `HSTORE_STORE_EXISTS`, `HSTORE_OUTPUT_EXISTS`; what `syncWith` or `importCar` throw.
 */
export async function cloneStore(source: string, options: CloneOptions): Promise<CloneReport> {
  const { cwd, folder, genesis } = options
  if (genesis !== undefined && !isCidText(genesis))
    throw new HandoffError('HSTORE_USAGE', `--genesis takes a whole CID, not ${genesis}`)
  await assertNoScp(source, cwd)
  await assertFree(folder, '; where its clone was cut short, hstore sync goes on from there')
  const made = await makeFolder(folder, 0o700).catch((cause: unknown) => {
    const message = `${folder} can't be made: ${whyUnwritten(cause)}`
    throw new HandoffError('HSTORE_OUTPUT_UNWRITABLE', message, { cause })
  })
  const url = absoluteUrl(source, cwd)
  const file = path.isAbsolute(url) ? await stat(url).catch(() => undefined) : undefined
  try {
    return await (file?.isFile() === true ? cloneCar(url, options) : cloneRemote(url, options))
  } catch (error) {
    if (made !== undefined) await removeEmpty(folder)
    throw hasConfig(folder) ? withAdvice(error) : error
  }
}

/** Nothing stays of a clone that took nothing in. */
async function removeEmpty(folder: string): Promise<void> {
  for (const one of [path.join(folder, 'tmp'), folder]) await rmdir(one).catch(() => undefined)
}

/** What was taken in before stays. */
function withAdvice(error: unknown): unknown {
  if (!(error instanceof StoreError) || error.code !== 'HSTORE_STORE_FULL') return error
  const message = `${error.message}: what came before stays, and hstore sync goes on from there`
  return new StoreError(error.code, message, { cause: error })
}

async function cloneCar(file: string, options: CloneOptions): Promise<CloneReport> {
  const { folder } = options
  const car = await takeCar(folder, createReadStream(file))
  try {
    const genesis = await agreed(car.manifest?.genesis, file, options)
    const manifest = assertManifest(car, genesis)
    beginClone(folder)
    await using blank = await openBlank(genesis, options)
    const { added, parked } = await takeIn(blank, car, manifest)
    return { store: folder, genesis, entries: added, unstored: parked.length }
  } finally {
    await car.arrivals.drop()
  }
}

async function cloneRemote(url: string, options: CloneOptions): Promise<CloneReport> {
  const { cwd, folder, keysFolder, waitMs, nowMs, onProgress, ssh, signer, agent } = options
  await using transport = await openTransport(url, { cwd, waitMs, own: folder, ssh, signer, agent })
  const { genesis: theirs } = await greet(transport)
  const genesis = await agreed(theirs, url, options)
  beginClone(folder)
  const remotes = await Remotes.open(folder, keysFolder, genesis)
  await remotes.add({ name: 'origin', url })
  const quarantine = await Quarantine.open(folder, url)
  try {
    const session = { pull: true, push: false, dryRun: false, nowMs, onProgress }
    await using kept = new KeptOpen(folder, () => openClone(genesis, options))
    const done = await syncSession(withOwnOf(kept), transport, quarantine, noMarks, session)
    if (!hasConfig(folder)) throw noRoster(transport, genesis)
    // nothing is asked any more: both sides close while it is noted what they have
    await Promise.all([
      writeMarks(keysFolder, genesis, url, done.marks),
      kept[Symbol.asyncDispose](),
      transport[Symbol.asyncDispose](),
    ])
    const { pulled, unstored } = done.report
    return { store: folder, genesis, entries: pulled, unstored: unstored.length }
  } finally {
    await quarantine.close()
  }
}

function noRoster({ name }: Transport, genesis: CidText): HandoffError {
  const message = `${name} gave no roster that the genesis ${genesis} is the start of: nothing was made`
  return new HandoffError('HSTORE_REMOTE_INVALID', message)
}

/** Returns the genesis that both the source and this user name. */
async function agreed(
  theirs: CidText | undefined,
  source: string,
  { genesis: named, confirm }: CloneOptions,
): Promise<CidText> {
  if (theirs === undefined) return (named ?? '') as CidText
  if (named === theirs) return theirs
  if (named !== undefined) {
    const message = `${source} is the store ${theirs}, not ${named}: nothing was made`
    throw new HandoffError('HSTORE_GENESIS_MISMATCH', message, { details: { genesis: theirs } })
  }
  if ((await confirm?.(theirs)) === true) return theirs
  throw new HandoffError(
    'HSTORE_GENESIS_NEEDED',
    `first contact with the store ${source}: compare its genesis ${theirs} with what its owner says, then add --genesis ${theirs}`,
    { details: { genesis: theirs } },
  )
}

async function openClone(genesis: CidText, options: CloneOptions): Promise<Peer> {
  return hasConfig(options.folder) ? openOwn({ ...options, genesis }) : openBlank(genesis, options)
}

/** Opens a store that has no roster yet: it becomes one when the first rosters are accepted. */
async function openBlank(
  genesis: CidText,
  { agent, folder, keysFolder, waitMs }: CloneOptions,
): Promise<Peer> {
  const pins = findPins(keysFolder, genesis) ?? unpinned(genesis)
  const secret = await readMarkSecret(keysFolder)
  const db = await openDatabase(folder, { waitMs, create: true })
  return {
    db,
    ground: { db, genesis, pins, marks: new Marks(db, secret) },
    roster: genesis,
    isCurrent: () => false,
    async accept(found) {
      await writePins(keysFolder, genesis, found)
      await writeConfig(folder, { format: 1, genesis, agent })
      endClone(folder)
    },
    [Symbol.asyncDispose]: () => db.close(),
  }
}
