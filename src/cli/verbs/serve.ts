import { serveOverPipes } from '../../sync-verbs.ts'
import { UsageError } from '../io.ts'
import type { Verb } from '../program.ts'
import { openOptions } from '../settings.ts'

/** `hstore serve`: answers clients. */
export const serve: Verb = async (io, _args, options) => {
  const input = io.stdinChunks?.()
  if (options['stdio'] !== true) throw new UsageError('how? --stdio serves one client over pipes')
  if (input === undefined) throw new UsageError('standard input is no pipe: --stdio needs one')
  await serveOverPipes(openOptions(io, options), { input, write: (chunk) => io.out(chunk) })
  return 0
}
