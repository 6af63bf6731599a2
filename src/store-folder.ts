import { rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { CidText } from '../store/cid-text.ts'
import { isCidText } from '../store/cid-text.ts'
import { parseObject, writeDurably } from './durable-file.ts'
import { isAgentId } from './entry/text.ts'
import { HandoffError } from './errors.ts'
import { whyOf } from './kernel/errno.ts'
import { readBoundedNow } from './kernel/files.ts'

/** What `.hstore/config.json` holds. */
export interface StoreConfig {
  readonly format: 1
  readonly genesis: CidText
  /** The agent that acts when none is named. */
  readonly agent: string | undefined
}

const configName = 'config.json'
/** Is there from the beginning of a clone until it has its configuration. */
const cloningName = 'config.json.cloning'
const maxConfigBytes = 64 * 1024

/**
 * Returns the store's folder: `.hstore` in `from` or in the nearest folder above.
 *
 * @throws {HandoffError} `HSTORE_STORE_MISSING` when there is none.
 */
export function findStoreFolder(from: string): string {
  for (let at = path.resolve(from); ; at = path.dirname(at)) {
    const folder = path.join(at, '.hstore')
    if (isStore(folder)) return folder
    if (path.dirname(at) === at) {
      throw new HandoffError(
        'HSTORE_STORE_MISSING',
        `no .hstore in ${path.resolve(from)} or above it: run hstore init --as AGENT, or name a store with --store`,
      )
    }
  }
}

/** Returns whether a folder is a store, whole or not: one that lost its configuration has a database still. */
export function isStore(folder: string): boolean {
  return [configName, 'db', cloningName].some((name) => isThere(path.join(folder, name)))
}

/** Returns whether a folder is a store that has its configuration. */
export function hasConfig(folder: string): boolean {
  return isThere(path.join(folder, configName))
}

function isThere(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false
    throw unreadable(file, error)
  }
}

/**
 * Returns a store's configuration.
 *
<<<<<<< HEAD
 * @param advice - What is told to do where there is no store.
 * @throws {HandoffError} `HSTORE_STORE_MISSING` when the folder is no store; `HSTORE_STORE_FOREIGN` when another user
=======
 * @throws {HandoffError} `HSTORE_STORE_MISSING` when the folder is no store, or no whole one yet; `HSTORE_STORE_FOREIGN` when another user
>>>>>>> 45270f2 (clone: one that was cut short is named as such by every verb and goes on, and one that failed leaves nothing)
 * owns it; `HSTORE_INPUT_UNREADABLE` when its configuration can't be read, `HSTORE_CONFIG_DAMAGED` when it is none;
 * `HSTORE_VERSION_NEWER` for a later format.
 */
export function readConfig(
  folder: string,
  advice = 'run hstore init --as AGENT there',
): StoreConfig {
  if (!isStore(folder))
    throw new HandoffError('HSTORE_STORE_MISSING', `${folder} is no store: ${advice}`)
  refuseForeign(folder)
  if (!hasConfig(folder))
    throw isThere(path.join(folder, cloningName)) ? cut(folder) : damaged(folder, 'is gone')
  const file = path.join(folder, configName)
  const config = parseObject(readText(file))
  if (typeof config['format'] === 'number' && config['format'] > 1) {
    throw new HandoffError(
      'HSTORE_VERSION_NEWER',
      `${folder} was made by a newer hstore: update hstore`,
    )
  }
  const { agent, genesis } = config
  if (config['format'] !== 1 || !isCidText(genesis) || !(agent === undefined || isAgentId(agent))) {
    throw damaged(folder, 'is no configuration of a store')
  }
  return { format: 1, genesis, agent }
}

function readText(file: string): string {
  try {
    return new TextDecoder().decode(readBoundedNow(file, maxConfigBytes))
  } catch (error) {
    throw unreadable(file, error)
  }
}

/** What is told where somebody else's store is not where it is looked for: one that is made there would be another. */
export const lookAtAddress = 'look at the address'

/** Writes a store's configuration, which makes the folder a store. */
export async function writeConfig(folder: string, config: StoreConfig): Promise<void> {
  await writeDurably(path.join(folder, configName), `${JSON.stringify(config, null, 2)}\n`, 0o644)
}

/** Notes that a folder is being made a store out of another. */
export function beginClone(folder: string): void {
  writeFileSync(path.join(folder, cloningName), '', { mode: 0o600 })
}

/** To be called once the clone has its configuration, or has failed with nothing in it. */
export function endClone(folder: string): void {
  rmSync(path.join(folder, cloningName), { force: true })
}

function cut(folder: string): HandoffError {
  const message = `${folder} is a clone that was cut short: give the same hstore clone again, it goes on from there`
  return new HandoffError('HSTORE_STORE_MISSING', message)
}

function damaged(folder: string, what: string): HandoffError {
  return new HandoffError(
    'HSTORE_CONFIG_DAMAGED',
    `${path.join(folder, configName)} ${what}: run hstore fsck`,
  )
}

/** A folder that another user filled can hold anything: as git does, hstore does not work in it. */
function refuseForeign(folder: string): void {
  const { uid } = statSync(folder)
  const me = process.getuid?.()
  if (me === undefined || uid === me) return
  throw new HandoffError(
    'HSTORE_STORE_FOREIGN',
    `${folder} belongs to user ${uid}, not to you (${me}): take it over with chown, or clone a CAR that its owner exports`,
  )
}

function unreadable(file: string, cause: unknown): HandoffError {
  return new HandoffError('HSTORE_INPUT_UNREADABLE', `${file}: ${whyOf(cause)}`, { cause })
}

/** Returns the folder of the store that is named, or of the nearest one upward; throws what `findStoreFolder` throws. */
export function folderOf({
  store,
  cwd,
}: {
  readonly store?: string | undefined
  readonly cwd?: string | undefined
}): string {
  if (store === undefined) return findStoreFolder(cwd ?? '.')
  const folder = path.resolve(cwd ?? '.', store)
  const inner = path.join(folder, '.hstore')
  return !isStore(folder) && isStore(inner) ? inner : folder
}
