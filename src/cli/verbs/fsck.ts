import { fsckStore } from '../../closed-store.ts'
import type { Finding } from '../../rules/rule.ts'
import type { Verb } from '../program.ts'
import { printJson, writeLines } from '../pieces.ts'
import { findingLine, plain } from '../render.ts'
import { namedStore, waitMs } from '../settings.ts'

/** What a rebuild puts right: wrong rows, files of the database, the configuration. */
const rebuildable = new Set(['HS1002', 'HS1006', 'HS1008', 'HS1009', 'HS1010', 'HS1011'])

function adviceOn(findings: readonly Finding[], isRebuilt: boolean): string | undefined {
  const errors = findings.filter(({ severity }) => severity === 'error')
  if (errors.length === 0) return undefined
  if (!isRebuilt && errors.some(({ code }) => rebuildable.has(code)))
    return 'hstore fsck --rebuild puts right what can be put right'
  return 'what is missing comes back when its document is put again: see docs/recovery.md'
}

/** `hstore fsck`: everything that can be checked without trusting anybody; with --rebuild, puts right what can be. */
export const fsck: Verb = async (io, _args, options) => {
  io.readsHistory?.()
  const { exit, ...report } = await fsckStore({
    store: namedStore(io, options),
    cwd: io.cwd,
    waitMs: waitMs(options),
    rebuild: options['rebuild'] === true,
    forgetLost: options['forgetLost'] === true,
  })
  if (options.json === true) {
    await printJson(io, 'fsck', report)
    return exit
  }
  await writeLines(io, report.mended, (one) => `mended: ${findingLine(one)}\n`)
  await writeLines(io, report.findings, (one) => `${findingLine(one)}\n`)
  const { entries, blocks, signatures, artifacts } = report.checked
  const counts = `${entries} entries, ${blocks} blocks, ${signatures} signatures, ${artifacts} artifacts`
  await io.out(`${report.ok ? 'ok' : 'not ok'} (${counts})\n`)
  const advice = adviceOn(report.findings, options['rebuild'] === true)
  if (advice !== undefined) io.err(`${advice}\n`)
  if (report.kept !== null) io.err(`the damaged database is kept in ${plain(report.kept)}\n`)
  io.err(`not checked: ${report.notMade.join(', ')}\n`)
  return exit
}
