import type { StatsReport } from '../../stats.ts'
import type { Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { openNamed } from '../settings.ts'

/** `hstore stats`: what the store holds, in numbers. */
export const stats: Verb = async (io, _args, options) => {
  await using store = await openNamed(io, options)
  const report = await store.stats()
  const text = linesOf(report)
    .map((line) => `${plain(line)}\n`)
    .join('')
  await io.out(options.json === true ? jsonLine('stats', report) : text)
  return 0
}

function linesOf(report: StatsReport): string[] {
  const { entries, kinds, streams, signers, bodies, smallFiles, largeFiles, temporary } = report
  const amount = (what: string, { count, sizeBytes }: typeof entries): string =>
    `${what}: ${count}, ${sizeBytes} bytes`
  return [
    amount('entries', entries),
    ...Object.entries(kinds).map(([kind, count]) => `  ${kind}: ${count}`),
    `streams: ${streams}`,
    `signers: ${signers}`,
    amount('bodies', bodies),
    amount('files in the database', smallFiles),
    amount('large files', largeFiles),
    amount('left by killed puts', temporary),
    `database on disk: ${report.databaseBytes} bytes`,
  ]
}
