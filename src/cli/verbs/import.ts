import { importStore } from '../../closed-store.ts'
import type { Verb } from '../program.ts'
import { openInput } from '../input.ts'
import { jsonLine, plain } from '../render.ts'
import { openOptions } from '../settings.ts'

const shownAtMost = 10

/** `hstore import`: takes in a CAR, says what was new. */
export const importVerb: Verb = async (io, [file = ''], options) => {
  const report = await importStore(openOptions(io, options), await openInput(io, file))
  const { added, entries, parked } = report
  if (options.json === true) await io.out(jsonLine('import', report))
  else await io.out(`${added} of ${entries} entries are new\n`)
  for (const { cid, why } of parked.slice(0, shownAtMost))
    io.err(`hstore: ${cid} was not taken in: ${plain(why)}\n`)
  if (parked.length > shownAtMost) io.err(`hstore: and ${parked.length - shownAtMost} more\n`)
  return parked.length > 0 ? 4 : 0
}
