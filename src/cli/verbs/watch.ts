import { watchHeads } from '../../watch.ts'
import type { Verb } from '../program.ts'
import { jsonLine } from '../render.ts'
import { openOptions } from '../settings.ts'

/** `hstore watch`: new heads as they arrive, until a signal ends it. */
export const watch: Verb = async (io, _args, options) => {
  const stream = options['stream'] as string | undefined
  for await (const head of watchHeads({ ...openOptions(io, options), stream })) {
    const { cid, name, author } = head.entry
    await io.out(jsonLine('watch', { stream: head.stream, cid, revision: name ?? '', author }))
  }
  return 0
}
