import type { Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { openNamed } from '../settings.ts'

/** `hstore heads`: every stream's heads; two of one stream are a fork. */
export const heads: Verb = async (io, _args, options) => {
  await using store = await openNamed(io, options)
  const found = (await store.heads()).map(({ stream, entry }) => ({
    stream,
    cid: entry.cid,
    revision: entry.name ?? '',
    author: entry.author,
  }))
  if (options.json === true) await io.out(jsonLine('heads', { heads: found }))
  else
    for (const { stream, cid, revision, author } of found)
      await io.out(`${plain(`${stream} ${cid} ${revision} by ${author}`)}\n`)
  return 0
}
