import path from 'node:path'
import type { Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { openNamed } from '../settings.ts'
import { UsageError } from '../io.ts'

/** `hstore export`: writes a CAR and says what is in it. */
export const exportVerb: Verb = async (io, [file = '', ...refs], options) => {
  const isStdout = file === '-'
  if (isStdout && options.json === true)
    throw new UsageError('the CAR goes to standard output: --json has no place there')
  await using store = await openNamed(io, options)
  const out = isStdout ? (chunk: Uint8Array) => io.out(chunk) : path.resolve(io.cwd, file)
  const report = await store.export(out, refs)
  const { entries, left, root } = report
  if (options.json === true) await io.out(jsonLine('export', { ...report, out }))
  else if (isStdout) io.err(`${entries} entries\n`)
  else await io.out(`${plain(root)}\n`)
  for (const cid of left)
    io.err(
      `hstore: ${cid} is left out: it, or what it follows, counts for nothing; hstore verify ${cid} says why\n`,
    )
  return left.length === 0 ? 0 : 1
}
