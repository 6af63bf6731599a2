import path from 'node:path'
import { UsageError } from '../io.ts'
import type { Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { openNamed, warnOfStanding } from '../settings.ts'

/** `hstore get`: prints a body's exact bytes, an entry's, the file as given, an artifact, or lays out a bundle. */
export const get: Verb = async (io, [ref = ''], options) => {
  const { entry, original, out } = options
  if ([entry, original, out].filter((option) => option !== undefined).length > 1) {
    throw new UsageError('--entry, --original and --out do not go together')
  }
  await using store = await openNamed(io, options)
  await warnOfStanding(io, store, ref)
  if (typeof out === 'string') {
    const laid = await store.layOut(ref, path.resolve(io.cwd, out))
    const { folder, envelope, files } = laid
    await io.out(
      options.json === true
        ? jsonLine('get', { out: folder, envelope, files })
        : `${path.join(folder, envelope)}\n`,
    )
    io.err(`${files.length} artifacts laid out in ${plain(folder)}\n`)
    return 0
  }
  if (entry === true) await io.out(await store.getEntryBlock(ref))
  else if (original === true) await io.out(await store.getOriginal(ref))
  else {
    const found = await store.get(ref)
    if ('bytes' in found) {
      const { cid, kind, document } = found
      await io.out(
        options.json === true
          ? jsonLine('get', { cid, kind, body: found.entry.body, document })
          : found.bytes,
      )
    } else if (options.json === true) {
      let size = 0
      for await (const chunk of found.chunks) size += chunk.length
      await io.out(jsonLine('get', { cid: found.cid, kind: found.kind, body: found.cid, size }))
    } else for await (const chunk of found.chunks) await io.out(chunk)
  }
  return 0
}
