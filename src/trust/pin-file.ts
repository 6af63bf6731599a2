import { randomBytes } from 'node:crypto'
import type { Stats } from 'node:fs'
import { statSync } from 'node:fs'
import path from 'node:path'
import type { CidText } from '../../store/cid-text.ts'
import { isCidText } from '../../store/cid-text.ts'
import { HandoffError } from '../errors.ts'
import { readBoundedNow } from '../kernel/files.ts'
import { parseObject, writeDurably } from '../durable-file.ts'

/** The path of rosters that this user has accepted for one genesis, genesis first. */
export interface Pins {
  readonly path: readonly CidText[]
  /** The rosters that stood against each other when the path was computed: a store that lacks one is rolled back. */
  readonly fork: readonly CidText[]
  /** sha256, in hex, over the entries that the path was computed from; empty where it has to be computed again. */
  readonly entries: string
  /** The end of the path where the user has chosen it among others; null where nobody had to choose. */
  readonly chosen: CidText | null
  /** The rosters among those entries that the path has passed by. */
  readonly beside: readonly CidText[]
  /** The freezes among those entries: nobody has to look for them again. */
  readonly freezes: readonly CidText[]
}

/** What is pinned before anything of a store was computed. */
export function unpinned(genesis: CidText): Pins {
  return { path: [genesis], fork: [], entries: '', chosen: null, beside: [], freezes: [] }
}

// a hundred thousand versions of a roster
const maxPinBytes = 8 * 1024 * 1024

function pinFile(keysFolder: string, genesis: CidText): string {
  return path.join(keysFolder, 'trust', `${genesis}.json`)
}

/**
 * Returns the pinned path for a genesis, or undefined at first contact.
 *
 * @throws {HandoffError} `HSTORE_TRUST_DAMAGED` when the file is there and can't be read as one, or when others can
 * write into its folder.
 */
export function findPins(keysFolder: string, genesis: CidText): Pins | undefined {
  for (const folder of [keysFolder, path.join(keysFolder, 'trust')]) refuseOpen(folder)
  const file = pinFile(keysFolder, genesis)
  const text = readText(file)
  if (text === undefined) return undefined
  const parsed = parseObject(text)
  if (isPins(parsed) && parsed.path[0] === genesis) return parsed
  // what an older hstore did not write is looked for again
  const older = {
    ...parsed,
    entries: '',
    chosen: null,
    beside: [],
    freezes: parsed['freezes'] ?? [],
  }
  if (!('beside' in parsed) && isPins(older) && older.path[0] === genesis) return older
  throw new HandoffError(
    'HSTORE_TRUST_DAMAGED',
    `${file} is damaged: restore it, or remove it and accept the store again with --genesis`,
  )
}

function isPins(value: object): value is Pins {
  const { path: pinned, fork, entries, chosen, beside, freezes } = value as Record<string, unknown>
  return (
    [pinned, fork, beside, freezes].every(areCids) &&
    typeof entries === 'string' &&
    (chosen === null || (typeof chosen === 'string' && isCidText(chosen)))
  )
}

function areCids(value: unknown): value is CidText[] {
  return Array.isArray(value) && value.every(isCidText)
}

/**
 * Writes the pinned path for a genesis, synced to disk. The path only grows; its end alone may give way, to a roster that
 * stands against it or that the roots of both have settled on.
 *
 * @param from - The path that the new one was computed from.
 * @throws {HandoffError} `HSTORE_ROSTER_ROLLBACK` when another process has pinned what is not in it.
 */
export async function writePins(
  keysFolder: string,
  genesis: CidText,
  pins: Pins,
  from?: readonly CidText[],
): Promise<void> {
  const there = findPins(keysFolder, genesis)
  const isKept = there === undefined || there.path.every((body, i) => pins.path[i] === body)
  if (!isKept && there.path.join() !== from?.join()) {
    throw new HandoffError(
      'HSTORE_ROSTER_ROLLBACK',
      `another process has accepted roster ${there.path.at(-1)} meanwhile: run it again`,
      { details: { genesis } },
    )
  }
  const text = `${JSON.stringify({ genesis, ...pins }, null, 2)}\n`
  await writeDurably(pinFile(keysFolder, genesis), text, 0o600)
}

/** Returns the 32 secret bytes that verified marks are made under; makes them at first use. */
export async function readMarkSecret(keysFolder: string): Promise<Uint8Array> {
  const file = path.join(keysFolder, 'trust', 'mark-secret')
  const text = isPrivate(file) ? readText(file)?.trim() : undefined
  if (text !== undefined && /^[0-9a-f]{64}$/.test(text)) return Buffer.from(text, 'hex')
  const secret = randomBytes(32)
  await writeDurably(file, `${secret.toString('hex')}\n`, 0o600)
  return secret
}

/** Who can write the folder decides whom the user trusts. */
function refuseOpen(folder: string): void {
  const found = findStats(folder)
  if (found === undefined || process.platform === 'win32') return
  const me = process.getuid?.()
  const isForeign = me !== undefined && found.uid !== me && found.uid !== 0
  if (!isForeign && (found.mode & 0o022) === 0) return
  throw new HandoffError(
    'HSTORE_TRUST_DAMAGED',
    `${folder} can be written by others, who could change whom you trust: look at what is in it, then chmod go-w ${folder}`,
  )
}

/** A secret that others could read, or that others wrote, is none. */
function isPrivate(file: string): boolean {
  const found = findStats(file)
  if (found === undefined) return false
  const isMine = process.getuid === undefined || found.uid === process.getuid()
  return isMine && (process.platform === 'win32' || (found.mode & 0o077) === 0)
}

function findStats(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

function readText(file: string): string | undefined {
  try {
    return new TextDecoder().decode(readBoundedNow(file, maxPinBytes))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new HandoffError(
      'HSTORE_TRUST_DAMAGED',
      `${file} can't be read: make it readable to you alone`,
      {
        cause: error,
      },
    )
  }
}
