import path from 'node:path'
import { writeNewFile } from '../../durable-file.ts'
import { HandoffError } from '../../errors.ts'
import { removeLeftovers } from '../../leftover-files.ts'
import { exits } from '../exit-codes.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../io.ts'
import type { Verb } from '../program.ts'
import { relayOf } from '../relay-files.ts'
import { jsonLine } from '../render.ts'
import { openNamed } from '../settings.ts'

/** `hstore turn export`: gives a relay's files back, byte for byte. */
export const turnExport: Verb = async (io, _, options) => {
  const relay = relayOf(options)
  const out = (options['out'] as string | undefined) ?? '-'
  const archiveOut = options['archive'] as string | undefined
  assertOneOutput([out, archiveOut, ...(options.json === true ? ['-'] : [])])
  await using store = await openNamed(io, options)
  const { cid, living, archive } = await store.turns.export(relay)
  if (archiveOut !== undefined) {
    if (archive === undefined) throw noArchive()
    await write(io, archiveOut, archive)
  }
  await write(io, out, living)
  if (options.json === true) {
    await io.out(jsonLine('turn-export', { relay, cid, out, archive: archiveOut ?? null }))
  }
  if (archive !== undefined && archiveOut === undefined) {
    io.err('hstore: the relay has an archive too: --archive FILE writes it\n')
  }
  return exits.ok
}

function assertOneOutput(outputs: readonly (string | undefined)[]): void {
  if (outputs.filter((name) => name === '-').length < 2) return
  throw new UsageError(
    'one thing goes to stdout, the relay unless said: --out and --archive name files for the others',
  )
}

function noArchive(): HandoffError {
  return new HandoffError('HSTORE_REF_NOT_FOUND', 'the relay has no archive: leave --archive out')
}

async function write(io: Io, name: string, bytes: Uint8Array): Promise<void> {
  if (name === '-') return io.out(bytes)
  const file = path.resolve(io.cwd, name)
  await removeLeftovers(file)
  await writeNewFile(file, bytes)
}
