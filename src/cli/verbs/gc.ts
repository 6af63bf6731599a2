import type { Verb } from '../program.ts'
import { jsonLine } from '../render.ts'
import { openNamed } from '../settings.ts'

/** `hstore gc`: deletes what no entry needs, says how much that was. */
export const gc: Verb = async (io, _args, options) => {
  await using store = await openNamed(io, options, { scans: true })
  io.readsHistory?.()
  const report = await store.gc(Date.now())
  const { blocks, artifacts, temporary, sizeBytes, spared } = report
  const what = `${blocks} blocks, ${artifacts} artifacts, ${temporary} temporary files`
  const text = `collected ${what}: ${sizeBytes} bytes\n`
  await io.out(options.json === true ? jsonLine('gc', report) : text)
  if (spared > 0) io.err(`${spared} files younger than a day are spared\n`)
  return 0
}
