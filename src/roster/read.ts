import type { Context } from '../context.ts'
import { streamsOf } from '../graph/ref.ts'
import { streamPattern } from '../graph/stream-names.ts'
import { compareUtf8 } from '../kernel/bytes.ts'
import { fitsPattern } from '../trust/roster.ts'

/**
 * Returns the patterns of streams that texts stand for, as a roster has them. Of a stream that is here the family may be
 * left out where the rest is unique.
 *
 * @throws {HandoffError} `HSTORE_REF_AMBIGUOUS`; `HSTORE_USAGE` when no stream could ever fit.
 */
export async function readPatterns(
  context: Context,
  texts: readonly string[],
): Promise<readonly string[]> {
  const streams = await streamsOf(context)
  const patterns = texts.map((text) => streamPattern(streams, text))
  return [...new Set(patterns)].sort(compareUtf8)
}

/** Returns the patterns that no stream here fits yet. */
export async function unfitAmong(
  context: Context,
  patterns: readonly string[],
): Promise<readonly string[]> {
  const streams = await streamsOf(context)
  return patterns.filter((pattern) => !streams.some((stream) => fitsPattern([pattern], stream)))
}

/** Returns in words what an agent may read. */
export function readWords(read: readonly string[]): string {
  return `may read ${read.length === 0 ? 'the rosters alone' : read.join(', ')}`
}
