import { entryReport } from '../../reports.ts'
import type { Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { openNamed, warnOfStanding } from '../settings.ts'

/** `hstore show`: an entry's fields and its document, escaped for a terminal. */
export const show: Verb = async (io, [ref = ''], options) => {
  await using store = await openNamed(io, options)
  await warnOfStanding(io, store, ref)
  const found = await store.get(ref)
  if (!('bytes' in found)) {
    let size = 0
    for await (const chunk of found.chunks) size += chunk.length
    await io.out(
      options.json === true
        ? jsonLine('show', { cid: found.cid, kind: 'artifact', size })
        : `artifact ${found.cid}, ${size} bytes\n`,
    )
    return 0
  }
  const { entry, document } = found
  const report = entryReport(entry)
  if (options.json === true) {
    await io.out(jsonLine('show', { ...report, document }))
    return 0
  }
  const fields = Object.entries(report).flatMap(([key, value]) => {
    const shown = Array.isArray(value) ? value : [String(value)]
    return shown.filter((one) => one !== '').map((one) => `${key}: ${one}`)
  })
  const body = JSON.stringify(document, null, 2).split('\n')
  await io.out(`${[...fields, '', ...body].map(plain).join('\n')}\n`)
  return 0
}
