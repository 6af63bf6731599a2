import { decodeForm } from '../store/canonical.ts'
import type { CidText } from '../store/cid-text.ts'
import { codecOf, isCidText } from '../store/cid-text.ts'
import type { Context } from './context.ts'
import { isJudged } from './entry/kinds.ts'
import type { Found } from './get.ts'
import { getDocument } from './get.ts'
import { findArtifacts } from './graph/body.ts'
import { cidsIn } from './graph/index-row.ts'
import { resolveRef } from './graph/ref.ts'
import { assertArgument } from './kernel/errors.ts'
import type { Standing } from './trust/standing.ts'

/** The block that lists the artifacts of an envelope. It is no REF elsewhere: nobody states it. */
export interface ShownList {
  readonly kind: 'list'
  readonly cid: CidText
  readonly artifacts: readonly CidText[]
}

/** An entry with what it is worth under the roster, and whether this version knows what its document means. */
export type ShownEntry = Extract<Found, { entry: unknown }> & {
  readonly standing: Standing
  readonly isJudged: boolean
}

/** What there is to see of a block. */
export type Shown = Extract<Found, { chunks: unknown }> | ShownEntry | ShownList

/**
 * Returns what a REF, or the CID of a list of artifacts, has to show.
 *
 * @throws {HandoffError} `HSTORE_REF_NOT_FOUND`, `HSTORE_REF_AMBIGUOUS`; what `getEntry` throws of an entry that can't
 * be read.
 * @throws {StoreError} `HSTORE_BLOCK_NOT_FOUND`, `HSTORE_BLOCK_CORRUPT`.
 */
export async function showRef(context: Context, ref: string): Promise<Shown> {
  assertArgument('ref', ref, 'string')
  const list = isCidText(ref) ? await findList(context, ref) : undefined
  if (list !== undefined) return list
  const found = await getDocument(context, await resolveRef(context, ref))
  if (!('entry' in found)) return found
  const standing = context.trust.standingOf(found.entry)
  return { ...found, standing, isJudged: isJudged(found.kind) }
}

/** The body of an entry may look like a list, and is that body all the same. */
async function findList(context: Context, cid: CidText): Promise<ShownList | undefined> {
  const isBody = cidsIn(context, { index: 'bodies', body: cid }).length > 0
  if (codecOf(cid) === 'raw' || isBody) return undefined
  const bytes = await context.db.find(cid)
  const artifacts = bytes === undefined ? undefined : findArtifacts(decodeForm(bytes).form)
  return artifacts === undefined ? undefined : { kind: 'list', cid, artifacts }
}
