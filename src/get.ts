import type { JsonForm } from '../store/canonical.ts'
import { decodeForm, parsePassed } from '../store/canonical.ts'
import { checkArtifact, readArtifact } from '../store/artifacts.ts'
import { StoreError } from '../store/errors.ts'
import type { CidText } from '../store/cid-text.ts'
import { codecOf } from '../store/cid-text.ts'
import type { Context } from './context.ts'
import { getEntry } from './context.ts'
import type { VerifiedEntry } from './entry/entry.ts'
import { HandoffError } from './errors.ts'

/** What a REF names, with its bytes. */
export type Found =
  | {
      readonly kind: 'artifact'
      readonly cid: CidText
      /** The bytes in pieces, hashed on the way; a mismatch throws at the end. */
      readonly chunks: AsyncIterable<Uint8Array>
    }
  | {
      readonly kind: string
      readonly cid: CidText
      readonly entry: VerifiedEntry
      /** The body's exact bytes. */
      readonly bytes: Uint8Array
      readonly document: { readonly [key: string]: JsonForm }
    }

/**
 * Returns an entry's body or an artifact.
 *
 * @throws {HandoffError} `HSTORE_REF_NOT_FOUND` when the store does not hold the artifact.
 * @throws {StoreError} `HSTORE_BLOCK_NOT_FOUND`, `HSTORE_BLOCK_CORRUPT`.
 */
export async function getDocument(context: Context, cid: CidText): Promise<Found> {
  if (codecOf(cid) === 'raw') {
    await assertHeld(context, cid)
    return { kind: 'artifact', cid, chunks: readArtifact(context.db, cid) }
  }
  const entry = await getEntry(context, cid)
  const bytes = await context.db.get(entry.body)
  // who made an entry encoded its body; a mark of the signature alone says nothing of the body
  const document = context.marks.isMade(cid) ? parsePassed(bytes) : decodeForm(bytes).form
  return { kind: entry.kind, cid, entry, bytes, document }
}

/** A stream can't take back what it gave, so the bytes are hashed before the first one goes out. */
async function assertHeld(context: Context, cid: CidText): Promise<void> {
  const state = await checkArtifact(context.db, cid)
  if (state === 'ok') return
  if (state === 'corrupt') {
    throw new StoreError(
      'HSTORE_BLOCK_CORRUPT',
      `the bytes of artifact ${cid} do not hash to it: put its document again; hstore fsck names all that is damaged`,
      { details: { cid } },
    )
  }
  throw new HandoffError('HSTORE_REF_NOT_FOUND', `the store holds no artifact ${cid}`, {
    details: { ref: cid },
  })
}

/** Returns the exact bytes of an entry's block, after its signature was checked. */
export async function entryBlock(context: Context, cid: CidText): Promise<Uint8Array> {
  await getEntry(context, cid)
  return context.db.get(cid)
}
