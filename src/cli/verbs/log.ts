import { entryReport } from '../../reports.ts'
import { UsageError } from '../io.ts'
import type { Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { openNamed } from '../settings.ts'

/** `hstore log`: an entry and its ancestors, children first. */
export const log: Verb = async (io, [ref = ''], options) => {
  await using store = await openNamed(io, options)
  const entries = await store.log(ref, limit(options['n']))
  if (options.json === true) {
    await io.out(
      jsonLine('log', {
        entries: entries.map(({ entry, parents, standing }) => ({
          ...entryReport(entry),
          parents,
          standing,
        })),
      }),
    )
    return 0
  }
  for (const { entry, parents, standing } of entries) {
    const { cid, kind, name, author } = entry
    const mark = standing === 'valid' ? '' : ` (${standing})`
    const shape = parents.length > 1 ? ` merges ${parents.length}` : ''
    await io.out(`${plain(`${cid} ${name ?? kind} by ${author}${shape}${mark}`)}\n`)
  }
  return 0
}

function limit(count: unknown): number | undefined {
  if (count === undefined) return undefined
  const number = Number(count)
  if (Number.isInteger(number) && number > 0) return number
  throw new UsageError(`-n takes a whole number from 1 on, not ${JSON.stringify(count)}`)
}
