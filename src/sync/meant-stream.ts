import { HandoffError } from '../errors.ts'
import { findStream } from '../graph/stream-names.ts'
import { quoted } from '../kernel/shown.ts'
import type { Hello } from './greet.ts'
import type { RemoteMarks } from './remote-marks.ts'
import type { Tips } from './trees.ts'

/** Where a stream is looked for: here, in what the remote once had, and in what it names. */
interface Sides {
  readonly tips: Tips
  readonly marks: RemoteMarks
  readonly hello: Hello
  readonly remote: string
}

/**
 * Returns the stream that a name stands for: one of here before one that the remote alone names.
 *
 * @throws {HandoffError} `HSTORE_REF_NOT_FOUND`, `HSTORE_REF_AMBIGUOUS`.
 */
export function meantStream(
  name: string | undefined,
  { tips, marks, hello, remote }: Sides,
): string | undefined {
  if (name === undefined) return undefined
  const here = [...tips.keys(), ...Object.keys(marks.tips)]
  const there = hello.streams.map(({ stream }) => stream)
  const found = findStream(here, name) ?? findStream(there, name)
  if (found !== undefined) return found
  const message = `${quoted(name)}: no stream here, and none that ${remote} shows, has that name; hstore heads lists what is here`
  throw new HandoffError('HSTORE_REF_NOT_FOUND', message, { details: { ref: name } })
}
