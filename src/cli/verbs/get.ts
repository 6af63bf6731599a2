import path from 'node:path'
import { dsseOf } from '../../entry/dsse.ts'
import type { Found } from '../../get.ts'
import type { Store } from '../../open-store.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../io.ts'
import type { GlobalOptions, Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { openNamed, warnOfStanding } from '../settings.ts'

/** `hstore get`: prints a body's exact bytes, an entry's, an entry as DSSE, the file as given, an artifact, or lays out a bundle. */
export const get: Verb = async (io, [ref = ''], options) => {
  assertOneForm(options)
  const { dsse, entry, original, out, json } = options
  await using store = await openNamed(io, options)
  await warnOfStanding(io, store, ref)
  if (typeof out === 'string') await layOut(io, store, ref, options)
  else if (entry === true) await io.out(await store.getEntryBlock(ref))
  else if (dsse === true) await io.out(dsseLine(await store.getEntryBlock(ref)))
  else if (original === true) await io.out(await store.getOriginal(ref))
  else await give(io, await store.get(ref), json === true)
  return 0
}

function assertOneForm(options: Parameters<Verb>[2]): void {
  const { dsse, entry, original, out, json } = options
  if ([dsse, entry, original, out].filter((option) => option !== undefined).length > 1) {
    throw new UsageError('--entry, --dsse, --original and --out do not go together')
  }
  if (json === true && (dsse === true || entry === true || original === true)) {
    throw new UsageError('--entry, --dsse and --original print what stands there, without --json')
  }
}

function dsseLine(block: Uint8Array): string {
  return `${JSON.stringify(dsseOf(block))}\n`
}

async function layOut(
  io: Io,
  store: Store,
  ref: string,
  { json, out }: GlobalOptions & Readonly<Record<string, unknown>>,
): Promise<void> {
  const { folder, envelope, files } = await store.layOut(ref, path.resolve(io.cwd, String(out)))
  const laid = { out: folder, envelope, files }
  await io.out(json === true ? jsonLine('get', laid) : `${plain(path.join(folder, envelope))}\n`)
  io.err(`${files.length} artifacts laid out in ${plain(folder)}\n`)
}

async function give(io: Io, found: Found, asJson: boolean): Promise<void> {
  if ('bytes' in found) {
    const { cid, kind, document, entry } = found
    await io.out(asJson ? jsonLine('get', { cid, kind, body: entry.body, document }) : found.bytes)
    return
  }
  let size = 0
  for await (const chunk of found.chunks) {
    size += chunk.length
    if (!asJson) await io.out(chunk)
  }
  const { cid, kind } = found
  if (asJson) await io.out(jsonLine('get', { cid, kind, body: cid, size }))
}
