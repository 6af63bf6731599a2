import { familyOf } from '../entry/kinds.ts'
import { isStream } from '../entry/text.ts'
import { HandoffError } from '../errors.ts'
import { quoted } from '../kernel/shown.ts'

/**
 * Returns the streams that a name stands for: the whole of it, or all behind the family. All readings count, so that
 * nobody can name a stream of his own in the way of another's.
 */
export function streamsNamed(streams: Iterable<string>, name: string): readonly string[] {
  return [...new Set(streams)].filter(
    (stream) => stream === name || stream === `${familyOf(stream)}:${name}`,
  )
}

/**
 * Returns the one stream that a name stands for; undefined when there is none.
 *
 * @throws {HandoffError} `HSTORE_REF_AMBIGUOUS` naming the streams.
 */
export function findStream(streams: Iterable<string>, name: string): string | undefined {
  const candidates = streamsNamed(streams, name)
  if (candidates.length < 2) return candidates[0]
  const message = `${quoted(name)} names ${candidates.join(', ')}: choose one`
  throw new HandoffError('HSTORE_REF_AMBIGUOUS', message, { details: { ref: name, candidates } })
}

/**
 * Returns the pattern of streams that a text stands for: one that ends in `*` as it is, else the stream of `streams`
 * that it names, or the text itself while none does.
 *
 * @throws {HandoffError} `HSTORE_REF_AMBIGUOUS`; `HSTORE_USAGE` when no stream could ever fit.
 */
export function streamPattern(streams: Iterable<string>, text: string): string {
  const found = text.endsWith('*') ? undefined : findStream(streams, text)
  if (found === undefined) assertStreamPattern(text)
  return found ?? text
}

/** Throws `HSTORE_USAGE` when a pattern is one that no stream could ever fit. */
export function assertStreamPattern(pattern: string): void {
  assertPattern(pattern)
  if (!pattern.endsWith('*') && !isStream(pattern))
    throw new HandoffError(
      'HSTORE_USAGE',
      `${quoted(pattern)} can be no stream: write it as hstore heads does, or its beginning with a * behind it`,
    )
}

/** Throws `HSTORE_USAGE` when a `*` stands elsewhere than at the end. */
export function assertPattern(pattern: string): void {
  if (!pattern.slice(0, -1).includes('*')) return
  throw new HandoffError(
    'HSTORE_USAGE',
    `${quoted(pattern)} fits nothing but itself: a * stands at the end of a pattern, for all that follows`,
  )
}
