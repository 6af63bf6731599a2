import { encodeFormText } from '../../store/canonical.ts'
import { compareUtf8 } from '../kernel/bytes.ts'
import { HandoffError } from '../errors.ts'
import { assertPattern, assertStreamPattern } from '../graph/stream-names.ts'
import { quoted } from '../kernel/shown.ts'
import type { Grant } from '../trust/roster.ts'
import { grantForm } from '../trust/roster.ts'

/** The grant of `init` and `roster add`: everything. */
export const everything: Grant = { kinds: ['*'], streams: ['*'], until: undefined }

/**
 * Returns the open grant that a text stands for: kinds with commas between, a colon, and one pattern of streams.
 *
 * @example parseGrant('turn,relay:m8:tides')
 * @throws {HandoffError} `HSTORE_USAGE`.
 */
export function parseGrant(text: string): Grant {
  if (text === '*') return everything
  const colon = text.indexOf(':')
  const kinds = colon < 0 ? [] : text.slice(0, colon).split(',')
  const stream = text.slice(colon + 1)
  if (colon < 0 || stream === '' || kinds.includes('')) {
    throw new HandoffError(
      'HSTORE_USAGE',
      `${quoted(text)} is no grant: write KINDS:STREAMS, as in envelope,certificate:* or turn:m8:tides`,
    )
  }
  kinds.forEach(assertPattern)
  assertStreamPattern(stream)
  return { kinds: [...new Set(kinds)].sort(compareUtf8), streams: [stream], until: undefined }
}

/** Returns a grant as `parseGrant` reads it; of several patterns of streams one text each. */
export function grantTexts({ kinds, streams }: Grant): readonly string[] {
  return streams.map((stream) => `${kinds.join(',')}:${stream}`)
}

/** Returns grants sorted as a roster has them, each once. */
export function sortedGrants(grants: readonly Grant[]): readonly Grant[] {
  const byText = new Map(grants.map((grant) => [encodeFormText(grantForm(grant)), grant]))
  return [...byText].sort(([a], [b]) => compareUtf8(a, b)).map(([, grant]) => grant)
}

/** Returns whether two grants give the same, open or closed. */
export function givesSame(a: Grant, b: Grant): boolean {
  const open = (grant: Grant): string => encodeFormText(grantForm({ ...grant, until: undefined }))
  return open(a) === open(b)
}
