import { UsageError } from '../io.ts'
import type { Verb } from '../program.ts'
import { printJson, writeLines } from '../pieces.ts'
import { findingLine } from '../render.ts'
import { openNamed } from '../settings.ts'

/** `hstore verify`: checks integrity and trust; says in words when there was nothing to check. */
export const verify: Verb = async (io, args, options) => {
  if (options['all'] === true && args.length > 0) throw new UsageError('--all goes without a REF')
  const refs: string[] = []
  for (const arg of args) refs.push(...(arg === '-' ? lines(await io.stdin()) : [arg]))
  const isAll = args.length === 0
  await using store = await openNamed(io, options, { scans: isAll })
  io.readsHistory?.()
  const report = await store.verify(isAll ? undefined : refs, options['full'] === true)
  const { exit, ...shown } = report
  if (options.json === true) await printJson(io, 'verify', shown)
  else {
    const { entries, blocks, signatures, artifacts } = report.checked
    await writeLines(io, report.findings, (finding) => `${findingLine(finding)}\n`)
    const counts = `${entries} entries, ${blocks} blocks, ${signatures} signatures, ${artifacts} artifacts`
    const word =
      entries + artifacts === 0 ? '0 checked: nothing to verify' : report.ok ? 'ok' : 'not ok'
    await io.out(`${word} (${counts})\n`)
    io.err(`not checked: ${report.notMade.join(', ')}\n`)
  }
  return exit
}

function lines(bytes: Uint8Array): string[] {
  return new TextDecoder()
    .decode(bytes)
    .split(/\r?\n/)
    .filter((line) => line !== '')
}
