import type { ByteChunks } from '../../store/byte-source.ts'
import type { CidText } from '../../store/cid-text.ts'
import { StoreError } from '../../store/errors.ts'
import type { ContextOptions } from '../context.ts'
import { HandoffError } from '../errors.ts'
import { readConfig } from '../store-folder.ts'
import { admit } from './admit.ts'
import type { Arrivals } from './arrivals.ts'
import type { Fate, Unstored } from './fate.ts'
import { unstoredIn } from './fate.ts'
import type { Peer } from './peer.ts'
import { openOwn } from './peer.ts'
import type { Judged } from './judge.ts'
import { judgeArrivals } from './judge.ts'
import type { Manifest } from './manifest.ts'
import { needlessIn } from './needless.ts'
import type { TakenCar } from './take-car.ts'
import { takeCar } from './take-car.ts'

/** What an import did. */
export interface ImportCarReport {
  readonly genesis: string
  /** Entries in the file. */
  readonly entries: number
  /** How many of them are new. */
  readonly added: number
  /** Entries without a right under the roster: not stored. */
  readonly parked: readonly Unstored[]
}

/**
 * Takes in a CAR that `exportCar` made. All of it is read, hashed and judged, as `verify` does, before any of it is in the
 * store; a file that is not whole, or holds what is no entry of this store, changes nothing.
 *
 * @throws {StoreError} `HSTORE_CAR_INVALID` naming the block.
 * @throws {HandoffError} `HSTORE_GENESIS_MISMATCH` when it is another store's; `HSTORE_VERSION_NEWER`;
 * `HSTORE_QUARANTINE_FULL`; what `openContext` throws.
 */
export async function importCar(
  options: ContextOptions,
  source: ByteChunks,
): Promise<ImportCarReport> {
  const { genesis } = readConfig(options.folder)
  const car = await takeCar(options.folder, source)
  try {
    const manifest = assertManifest(car, genesis)
    // the store is opened only now: nobody waits for it while a file is read
    await using own = await openOwn(options)
    return await takeIn(own, car, manifest)
  } finally {
    await car.arrivals.drop()
  }
}

/** Returns the manifest of a CAR that is of this store; throws `HSTORE_CAR_INVALID`, `HSTORE_GENESIS_MISMATCH`. */
export function assertManifest({ manifest, root }: TakenCar, genesis: CidText): Manifest {
  if (manifest === undefined) {
    const message = `CAR refused: it holds no history, its root ${root} is no manifest of hstore export`
    throw new StoreError('HSTORE_CAR_INVALID', message, { details: { cid: root } })
  }
  if (manifest.genesis === genesis) return manifest
  throw new HandoffError(
    'HSTORE_GENESIS_MISMATCH',
    `the file is of the store ${manifest.genesis}, this one is ${genesis}: nothing was taken in`,
    { details: { genesis: manifest.genesis, store: genesis } },
  )
}

/** Judges a CAR and takes it in, or nothing of it. */
export async function takeIn(
  own: Peer,
  { arrivals, last }: TakenCar,
  manifest: Manifest,
): Promise<ImportCarReport> {
  const judged = await judgeArrivals(own.ground, arrivals)
  assertWhole(arrivals, judged, manifest, last)
  const added = await admit(own.ground, arrivals, judged)
  if (added > 0) await own.accept(judged.pins)
  return {
    genesis: manifest.genesis,
    entries: judged.fates.size,
    added,
    parked: unstoredIn(judged.fates),
  }
}

/** Whatever is wrong in one place of a file, none of it is taken in. */
function assertWhole(arrivals: Arrivals, judged: Judged, manifest: Manifest, last: CidText): void {
  for (const [cid, fate] of judged.fates) {
    const fault = faultOf(cid, fate, last)
    if (fault !== undefined) throw fault
  }
  const absent = manifest.tips.find((cid) => !judged.fates.has(cid))
  if (absent !== undefined)
    throw refused(`entry ${absent}, which its manifest names, is not in it`, absent, last)
  const needless = needlessIn(arrivals, judged, manifest)
  if (needless !== undefined) throw refused(`nothing in it needs block ${needless}`, needless, last)
}

function faultOf(cid: CidText, found: Fate, last: CidText): Error | undefined {
  if (found.fate === 'refused') return refused(`entry ${cid}: ${found.why}`, cid, last)
  if (found.fate === 'incomplete') {
    const missing = found.needs[0] ?? cid
    return refused(`entry ${cid}: block ${missing} is not in it`, missing, last)
  }
  if (found.fate !== 'newer') return undefined
  return new HandoffError('HSTORE_VERSION_NEWER', found.why, { details: { cid } })
}

function refused(what: string, cid: CidText, last: CidText): StoreError {
  const message = `CAR refused: ${what} (last block ${last})`
  return new StoreError('HSTORE_CAR_INVALID', message, { details: { cid, last } })
}
