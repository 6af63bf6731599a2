import type { Log, Logged } from '../../log.ts'
import { entryReport } from '../../reports.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../io.ts'
import { graphLines, logLine, logRecord } from '../log-lines.ts'
import { paintOf } from '../paint.ts'
import { printJson, printLines, writeLines } from '../pieces.ts'
import type { Verb } from '../program.ts'
import { assertOneForm, countOf, openNamed } from '../settings.ts'

/** `hstore log`: an entry or all heads of a stream, with the ancestors, children first. */
export const log: Verb = async (io, [ref = ''], options) => {
  assertOneForm(options)
  if (options['z'] === true && options['graph'] === true) {
    throw new UsageError('-z and --graph do not go together')
  }
  const entries = await read(io, ref, options)
  const paint = paintOf(io)
  if (options.json === true) await printJson(io, 'log', { entries: reportsOf(entries) })
  else if (options['z'] === true) await writeLines(io, entries, logRecord)
  else if (options['graph'] === true)
    await printLines(
      io,
      graphLines(entries, { paint, columns: io.terminal?.columns }),
      (line) => line,
    )
  else await printLines(io, entries, (one) => logLine(one, paint))
  return 0
}

/** The store is closed by the time that a person reads. */
async function read(io: Io, ref: string, options: Parameters<Verb>[2]): Promise<Log> {
  const most = countOf(options['n'])
  await using store = await openNamed(io, options)
  io.readsHistory?.()
  const entries = await store.openLog(ref, most)
  return entries
}

function* reportsOf(entries: Iterable<Logged>): Generator<object> {
  for (const { entry, parents, standing } of entries)
    yield { ...entryReport(entry), parents, standing }
}
