import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { readInput } from '../input.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../io.ts'
import type { Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { openNamed } from '../settings.ts'

/** `hstore put`: puts each file, prints each entry's CID once it is on disk. */
export const put: Verb = async (io, files, options) => {
  if (files.filter((file) => file === '-').length > 1)
    throw new UsageError('- stands for stdin, once')
  await using store = await openNamed(io, options)
  for (const file of files) {
    const bytes = await readInput(io, file)
    const report = await store.put(bytes, {
      bundle: await bundleOf(io, file, options['bundle'] as string | undefined),
      shallow: options['shallow'] === true,
      parents: options['parent'] as readonly string[] | undefined,
    })
    await io.out(options.json === true ? jsonLine('put', report) : `${report.cid}\n`)
    for (const warning of report.warnings) io.err(`hstore: warning: ${plain(warning)}\n`)
    if (!report.new) io.err(`hstore: ${plain(file)} was there already\n`)
  }
  return 0
}

/** The files of an envelope are beside it, wherever a link to it stands. */
async function bundleOf(io: Io, file: string, bundle: string | undefined): Promise<string> {
  if (bundle !== undefined) return path.resolve(io.cwd, bundle)
  return file === '-' ? io.cwd : path.dirname(await realpath(path.resolve(io.cwd, file)))
}
