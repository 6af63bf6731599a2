import { createHash } from 'node:crypto'
import path from 'node:path'
import type { CidText } from '../../store/cid-text.ts'
import { isCidText } from '../../store/cid-text.ts'
import { parseObject, writeDurably } from '../durable-file.ts'
import { readBounded } from '../kernel/files.ts'

/** What this user has seen of a remote. Stands beside the keys: a store that somebody shipped says nothing of it. */
export interface RemoteMarks {
  /** When the remote was last heard, in ms since 1970; 0 for never. */
  readonly contactMs: number
  /** By stream, the ends of the signers' chains that it had. */
  readonly tips: Readonly<Record<string, readonly CidText[]>>
  /** Entries that had no right here under a roster: not asked for again before it changes. */
  readonly parked: UnderRoster
  /** Entries that the remote did not take under its roster. */
  readonly untaken: UnderRoster
  /** How many entries the remote had that were not here after the last contact, and the other way round. */
  readonly behind: number
  readonly ahead: number
}

/** Entries, and the body of the roster that they were judged by. */
export interface UnderRoster {
  readonly roster: string
  readonly cids: readonly CidText[]
}

const nobody: UnderRoster = { roster: '', cids: [] }

/** What is known of a remote before it was heard. */
export const noMarks: RemoteMarks = {
  contactMs: 0,
  tips: {},
  parked: nobody,
  untaken: nobody,
  behind: 0,
  ahead: 0,
}

const maxBytes = 64 * 1024 * 1024

function fileOf(keysFolder: string, genesis: CidText, url: string): string {
  const name = createHash('sha256').update(url).digest('hex').slice(0, 32)
  return path.join(keysFolder, 'trust', 'remotes', genesis, `${name}.json`)
}

/** Returns what this user has seen of a remote; nothing where the file is not there or is none. */
export async function readMarks(
  keysFolder: string,
  genesis: CidText,
  url: string,
): Promise<RemoteMarks> {
  const bytes = await readBounded(fileOf(keysFolder, genesis, url), maxBytes).catch(() => undefined)
  if (bytes === undefined) return noMarks
  const { contactMs, tips, parked, untaken, behind, ahead } = parseObject(
    new TextDecoder().decode(bytes),
  )
  return {
    contactMs: countOf(contactMs),
    tips: tipsIn(tips),
    parked: underRoster(parked),
    untaken: underRoster(untaken),
    behind: countOf(behind),
    ahead: countOf(ahead),
  }
}

/** Writes what was seen of a remote, synced to disk. */
export async function writeMarks(
  keysFolder: string,
  genesis: CidText,
  url: string,
  marks: RemoteMarks,
): Promise<void> {
  const text = `${JSON.stringify({ genesis, url, ...marks })}\n`
  await writeDurably(fileOf(keysFolder, genesis, url), text, 0o600)
}

function countOf(value: unknown): number {
  return typeof value === 'number' && value >= 0 ? value : 0
}

function tipsIn(value: unknown): Record<string, readonly CidText[]> {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(
    Object.entries(value).map(([stream, cids]) => [stream, cidsIn(cids)] as const),
  )
}

function cidsIn(value: unknown): readonly CidText[] {
  return Array.isArray(value) ? value.filter(isCidText) : []
}

function underRoster(value: unknown): UnderRoster {
  const { roster, cids } = (value ?? {}) as { roster?: unknown; cids?: unknown }
  return typeof roster === 'string' ? { roster, cids: cidsIn(cids) } : nobody
}
