import type { DiffReport } from '../../diff-entries.ts'
import { diffText } from '../diff-lines.ts'
import { exits } from '../exit-codes.ts'
import type { Io } from '../io.ts'
import { paintOf } from '../paint.ts'
import { print } from '../print.ts'
import type { Verb } from '../program.ts'
import { jsonLine } from '../render.ts'
import { openNamed, warnOfStanding } from '../settings.ts'

/** `hstore diff`: how two documents differ, by records. Exits with 1 where they do. */
export const diff: Verb = async (io, [a = '', b = ''], options) => {
  const found = await read(io, a, b, options)
  if (options.json === true) await io.out(jsonLine('diff', found))
  else await print(io, diffText(found, paintOf(io)))
  const isSame = found.added.length + found.changed.length + found.dropped.length === 0
  return isSame ? exits.ok : exits.no
}

/** The store is closed by the time that a person reads. */
async function read(
  io: Io,
  a: string,
  b: string,
  options: Parameters<Verb>[2],
): Promise<DiffReport> {
  await using store = await openNamed(io, options)
  for (const ref of new Set([a, b])) await warnOfStanding(io, store, ref)
  const found = await store.diff(a, b)
  return found
}
