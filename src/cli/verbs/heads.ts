import { record } from '../log-lines.ts'
import { paintOf } from '../paint.ts'
import type { Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { assertOneForm, openNamed } from '../settings.ts'

/** `hstore heads`: every stream's heads; two of one stream are a fork. */
export const heads: Verb = async (io, _args, options) => {
  assertOneForm(options)
  await using store = await openNamed(io, options)
  const found = (await store.heads()).map(({ stream, entry }) => ({
    stream,
    cid: entry.cid,
    revision: entry.name ?? '',
    author: entry.author,
  }))
  if (options.json === true) await io.out(jsonLine('heads', { heads: found }))
  else if (options['z'] === true) {
    const records = found.map(({ stream, cid, revision, author }) =>
      record([cid, stream, author, revision]),
    )
    await io.out(records.join(''))
  } else {
    const paint = paintOf(io)
    const lines = found.map(
      ({ stream, cid, revision, author }) =>
        `${plain(stream)} ${paint('cid', cid)} ${plain(`${revision} by ${author}`)}\n`,
    )
    await io.out(lines.join(''))
  }
  return 0
}
