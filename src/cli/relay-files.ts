import { stat } from 'node:fs/promises'
import path from 'node:path'
import type { RelayFile } from '../contracts/turns/validate.ts'
import { HandoffError } from '../errors.ts'
import type { RelayFiles } from '../relay/files.ts'
import { readSteady } from '../relay/read-steady.ts'
import { isStream, readInput } from './input.ts'
import type { Io } from './io.ts'
import { UsageError } from './io.ts'

/** What M8Shift calls a relay. */
export const relayName = 'M8SHIFT.md'
const archiveName = 'M8SHIFT.archive.md'
const maxBytes = 32 * 1024 * 1024

/** Returns a relay's file for a verb of upstream's; what can't be read ends as upstream ends: with 1. */
export async function readRelayFile(io: Io, name: string): Promise<RelayFile> {
  const details = { path: name }
  const bytes = await readInput(io, name).catch((cause: unknown) => {
    const isUnread = cause instanceof HandoffError && cause.code === 'HSTORE_INPUT_UNREADABLE'
    if (!isUnread) throw cause
    throw new HandoffError('HSTORE_RELAY_INVALID', cause.message, { cause, details })
  })
  if (bytes.length <= maxBytes) return { bytes, name }
  throw new HandoffError('HSTORE_RELAY_INVALID', `${name}: is more than 32 MiB`, { details })
}

/** Returns the archive that is named, which has to be there, or where it is wanted the one beside the relay, if any. */
export async function readArchive(
  io: Io,
  relay: string,
  named: string | undefined,
  isWanted: boolean,
): Promise<RelayFile | undefined> {
  if (named !== undefined) return readRelayFile(io, named)
  if (!isWanted) return undefined
  const beside = relay === '-' ? archiveName : path.join(path.dirname(relay), archiveName)
  const found = await stat(path.resolve(io.cwd, beside)).catch(() => undefined)
  return found === undefined || found.size === 0 ? undefined : readRelayFile(io, beside)
}

/**
 * Returns what reads a relay's files once the store is held, all at one moment; a stream, which is as it was when it was
 * given, is read now.
 */
export async function relayReader(
  io: Io,
  file: string,
  archive: string | undefined,
): Promise<() => Promise<RelayFiles>> {
  const read = (): Promise<RelayFiles> => readRelayFiles(io, file, archive)
  if (!(await isStream(io, file)) && (archive === undefined || !(await isStream(io, archive)))) {
    return () => readSteady(path.resolve(io.cwd, file), read)
  }
  const files = await read()
  return async () => files
}

/**
 * Returns a relay's files: the archive that is named, else the one beside `M8SHIFT.md`. Files without a byte are taken as
 * such, and so is an archive that is not beside `M8SHIFT.md`: what stood in them is missing then.
 */
async function readRelayFiles(
  io: Io,
  file: string,
  named: string | undefined,
): Promise<RelayFiles> {
  const living = await readEvenEmpty(io, file)
  if (named !== undefined) return { living, archive: await readEvenEmpty(io, named) }
  // beside another file the archive may be another's
  if (path.basename(file) !== relayName) return { living }
  const beside = path.join(path.dirname(file), archiveName)
  const found = await readArchive(io, file, undefined, true)
  return { living, archive: found ?? { bytes: new Uint8Array(), name: beside } }
}

async function readEvenEmpty(io: Io, name: string): Promise<RelayFile> {
  const found =
    name === '-' ? undefined : await stat(path.resolve(io.cwd, name)).catch(() => undefined)
  if (found?.isFile() === true && found.size === 0) return { bytes: new Uint8Array(), name }
  return readRelayFile(io, name)
}

/** Returns the relay that --relay names. */
export function relayOf(options: Readonly<Record<string, unknown>>): string {
  const relay = options['relay']
  if (typeof relay === 'string' && relay !== '') return relay
  throw new UsageError('--relay NAME says which relay of the store')
}
