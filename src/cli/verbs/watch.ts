import { watchHeads } from '../../watch.ts'
import type { Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { openOptions } from '../settings.ts'

/** `hstore watch`: new heads as they arrive, until a signal ends it. */
export const watch: Verb = async (io, _args, options) => {
  const stream = options['stream'] as string | undefined
  const onAbsent = (name: string): void => io.err(`hstore: warning: ${plain(absentStream(name))}\n`)
  for await (const head of watchHeads({ ...openOptions(io, options), stream, onAbsent })) {
    const { cid, name, author } = head.entry
    await io.out(jsonLine('watch', { stream: head.stream, cid, revision: name ?? '', author }))
  }
  return 0
}

function absentStream(name: string): string {
  return `no stream that has heads is named ${JSON.stringify(name)} yet, it is waited for: hstore heads lists what is there`
}
