import { lstat } from 'node:fs/promises'
import path from 'node:path'
import { writeNewFile } from '../../durable-file.ts'
import { HandoffError } from '../../errors.ts'
import { equalBytes } from '../../kernel/bytes.ts'
import { readBounded } from '../../kernel/files.ts'
import { removeLeftovers } from '../../leftover-files.ts'
import { exits } from '../exit-codes.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../io.ts'
import type { Verb } from '../program.ts'
import { relayOf } from '../relay-files.ts'
import { jsonLine } from '../render.ts'
import { openNamed } from '../settings.ts'

interface Output {
  /** A file, or `-`. */
  readonly name: string
  readonly bytes: Uint8Array
}

/** `hstore turn export`: gives a relay's files back, byte for byte. */
export const turnExport: Verb = async (io, _, options) => {
  const relay = relayOf(options)
  const out = (options['out'] as string | undefined) ?? '-'
  const archiveOut = options['archive'] as string | undefined
  assertOneOutput([out, archiveOut, ...(options.json === true ? ['-'] : [])])
  await using store = await openNamed(io, options)
  const { cid, living, archive } = await store.turns.export(relay)
  if (archiveOut !== undefined && archive === undefined) throw noArchive()
  const outputs: Output[] = [
    ...(archiveOut === undefined ? [] : [{ name: archiveOut, bytes: archive! }]),
    { name: out, bytes: living },
  ]
  await writeAll(io, outputs)
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

/** All are looked at before one is written. */
async function writeAll(io: Io, outputs: readonly Output[]): Promise<void> {
  const left: Output[] = []
  for (const output of outputs) if (!(await isDone(io, output))) left.push(output)
  for (const output of left) await write(io, output)
}

/**
 * Returns whether a call that was cut short has written a file, byte for byte. What such a call left beside it goes.
 *
 * @throws {HandoffError} `HSTORE_OUTPUT_EXISTS` for a file that holds something else.
 */
async function isDone(io: Io, { name, bytes }: Output): Promise<boolean> {
  if (name === '-') return false
  const file = path.resolve(io.cwd, name)
  await removeLeftovers(file)
  if ((await lstat(file).catch(() => undefined)) === undefined) return false
  const found = await readBounded(file, bytes.length).catch(() => undefined)
  if (found !== undefined && equalBytes(found, bytes)) return true
  throw new HandoffError('HSTORE_OUTPUT_EXISTS', `${file} is there already: name a new file`)
}

async function write(io: Io, { name, bytes }: Output): Promise<void> {
  if (name === '-') return io.out(bytes)
  await writeNewFile(path.resolve(io.cwd, name), bytes)
}
