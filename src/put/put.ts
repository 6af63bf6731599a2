import type { Signer } from '../../keys/signer.ts'
import type { StagedArtifact } from '../../store/stage-artifact.ts'
import { encodeForm, linkForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import type { Block } from '../../store/commit.ts'
import { readFile } from 'node:fs/promises'
import type { Bundle } from '../contracts/csag/bundle.ts'
import { validateHandoffDocument } from '../contracts/csag/handoff.ts'
import { makeVirtualBundle } from '../contracts/csag/virtual-bundle.ts'
import type { HandoffEnvelope } from '../contracts/csag/document.ts'
import type { Context } from '../context.ts'
import { isStream } from '../entry/text.ts'
import { HandoffError } from '../errors.ts'
import { findLastCertificateEntry } from '../resume/coverage.ts'
import type { Appended } from './append.ts'
import { append, rehearse } from './append.ts'
import type { Draft } from './draft.ts'
import type { ReadEnvelope } from './read-input.ts'
import { readEnvelopeInput } from './read-input.ts'
import { stageFiles } from './stage.ts'

/** How an envelope is put. */
export interface PutOptions {
  readonly agent: string
  readonly signer: Signer
  /** Where the envelope's files are. */
  readonly bundle: Bundle
  /** Parents that stay names: those given, or all that the store does not hold. */
  readonly shallow: 'absent' | readonly string[]
  /** Entries of parents named outright, children or not. */
  readonly parents: readonly CidText[]
}

/** One artifact that a put took in. */
export interface PutArtifact {
  readonly path: string
  readonly cid: CidText
  readonly size: number
}

/** What a put made, or found. */
export interface PutResult extends Appended {
  readonly artifacts: readonly PutArtifact[]
  /** Size of the body's block, in bytes: from 1 MiB on it is worth a warning. */
  readonly bodyBytes: number
}

/**
 * Puts an envelope into the store: rules first, then its files, then the signed entry, all synced when it returns.
 *
 * @param input - The bytes of the file, or the document as a value.
 * @throws {HandoffError} `HSTORE_CONTRACT_BROKEN` with all findings; `HSTORE_INPUT_UNREADABLE` when it is no envelope at
 * all; `HSTORE_AUTHOR_MISMATCH` when `created_by` is no name of the agent; `HSTORE_INPUT_TOO_LARGE`;
 * `HSTORE_INPUT_CHANGED` when a file changed meanwhile; and what `append` throws.
 * @throws {StoreError} `HSTORE_BLOCK_INVALID` when the document has no block form, naming the place.
 */
export async function putEnvelope(
  context: Context,
  input: Uint8Array | object,
  options: PutOptions,
): Promise<PutResult> {
  const read = await readEnvelopeInput(input, options.bundle)
  assertStream(read.envelope)
  assertAuthor(context, read.envelope, options.agent)
  await assertWithoutLinks(read)
  const staged = await stageFiles(context.db.directory, read.judgement.localFiles)
  try {
    const draft = await draftOf(
      context,
      read,
      options,
      staged.map(({ file }) => file),
    )
    const large = staged.filter(({ file }) => file.bytes === undefined)
    if (large.length > 0) await rehearse(context, draft, options.signer)
    for (const { file } of large) await file.publish()
    const appended = await append(context, draft, options.signer)
    const artifacts = staged.map(({ path, file }) => ({
      path,
      cid: file.cid,
      size: file.sizeBytes,
    }))
    return { ...appended, artifacts, bodyBytes: read.body.bytes.length }
  } finally {
    for (const { file } of staged) await file.discard()
  }
}

/**
 * A bundle laid out elsewhere has files where this one has links: a document whose verdict hangs on where a link leads
 * would be refused by the gate, so it is refused here.
 */
async function assertWithoutLinks({ envelope, judgement }: ReadEnvelope): Promise<void> {
  if (!judgement.advisories.some(({ code }) => code === 'HS4102')) return
  const files = new Map(
    judgement.localFiles.map(({ key, path, sha256, sizeBytes }) => [
      path,
      { sha256, sizeBytes, read: async () => readFile(key) },
    ]),
  )
  const { findings } = await validateHandoffDocument(envelope, makeVirtualBundle(files))
  const [first] = findings
  if (first === undefined) return
  throw new HandoffError(
    'HSTORE_CONTRACT_BROKEN',
    `${first.path} holds only over symbolic links: put files in their places (${first.message})`,
    { details: { findings } },
  )
}

/** The contract lets an id be any text; a stream's name is shown and typed. */
function assertStream({ id }: HandoffEnvelope): void {
  if (isStream(`csag:${id}`)) return
  throw new HandoffError(
    'HSTORE_BODY_INVALID',
    `/id ${JSON.stringify(id.slice(0, 80))} can't name a stream: 1 to 1024 bytes without control characters`,
    { details: { pointer: '/id' } },
  )
}

function assertAuthor({ trust }: Context, { created_by }: HandoffEnvelope, agent: string): void {
  if (trust.isNameOf(agent, created_by)) return
  if (!trust.roster.agents.some(({ id }) => id === agent)) {
    throw new HandoffError(
      'HSTORE_SIGNER_UNKNOWN',
      `${agent} is not in the roster: a root adds its key with hstore roster add`,
    )
  }
  throw new HandoffError(
    'HSTORE_AUTHOR_MISMATCH',
    `created_by is ${JSON.stringify(created_by)}, which is no name of ${agent}: put it --as its creator`,
  )
}

async function draftOf(
  context: Context,
  { envelope, body, source }: ReadEnvelope,
  { agent, signer, shallow, parents }: PutOptions,
  staged: readonly StagedArtifact[],
): Promise<Draft> {
  return {
    kind: 'envelope',
    stream: `csag:${envelope.id}`,
    author: agent,
    body,
    name: envelope.revision,
    parentNames: envelope.parents ?? [],
    parents,
    shallow,
    refs: [],
    certificate: await findLastCertificateEntry(context, agent, signer.did),
    artifacts: listBlock(staged),
    source,
    witness: false,
    blocks: staged.flatMap(({ cid, bytes }) => (bytes === undefined ? [] : [{ cid, bytes }])),
  }
}

function listBlock(staged: readonly StagedArtifact[]): Block | undefined {
  const cids = [...new Set(staged.map(({ cid }) => cid))].sort()
  if (cids.length === 0) return undefined
  const bytes = encodeForm({ artifacts: cids.map(linkForm) })
  return { cid: cidTextOf(bytes, 'dag-json'), bytes }
}
