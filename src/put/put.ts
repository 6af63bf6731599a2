import { quoted } from '../kernel/shown.ts'
import type { Signer } from '../../keys/signer.ts'
import type { StagedArtifact } from '../../store/stage-artifact.ts'
import { encodeForm, linkForm } from '../../store/canonical.ts'
import type { CanonicalValue } from '../../store/canonical-value.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Block } from '../../store/block.ts'
import { HashedBlock } from '../../store/block.ts'
import type { Bundle } from '../contracts/csag/bundle.ts'
import { validateHandoffDocument } from '../contracts/csag/handoff.ts'
import { makeVirtualBundle } from '../contracts/csag/virtual-bundle.ts'
import type { HandoffEnvelope } from '../contracts/csag/document.ts'
import type { Context } from '../context.ts'
import { isStream } from '../entry/text.ts'
import { HandoffError } from '../errors.ts'
import { readBounded } from '../kernel/files.ts'
import type { Appended, Begun } from './append.ts'
import { begin, beginNow, rehearse } from './append.ts'
import type { Draft } from './draft.ts'
import type { ReadEnvelope } from './read-input.ts'
import { readEnvelopeInput, readRemoteValue } from './read-input.ts'
import type { StagedFile } from './stage.ts'
import { stageFiles } from './stage.ts'

/** How an envelope is put. */
export interface PutOptions {
  readonly agent: string
  readonly signer: Signer
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

/** A put on its way to disk. */
export interface BegunPut {
  readonly written: Promise<void>
  readonly result: PutResult
}

/**
 * Puts an envelope into the store: rules first, then its files, then the signed entry. Done once `written` resolves.
 *
 * @param input - The bytes of the file, or the document as a value.
 * @param bundle - Where the envelope's files are.
 * @throws {HandoffError} `HSTORE_CONTRACT_BROKEN` with all findings; `HSTORE_INPUT_UNREADABLE` when it is no envelope at
 * all; `HSTORE_BODY_INVALID` when its id can't name a stream; `HSTORE_AUTHOR_MISMATCH` when `created_by` is no name of
 * the agent; `HSTORE_INPUT_TOO_LARGE`; `HSTORE_INPUT_CHANGED` when a file changed meanwhile; and what `append` throws.
 * @throws {StoreError} `HSTORE_BLOCK_INVALID` when the document has no block form, naming the place.
 */
export async function beginPut(
  context: Context,
  input: Uint8Array | CanonicalValue,
  bundle: Bundle,
  options: PutOptions,
): Promise<BegunPut> {
  const read = await readEnvelopeInput(input, bundle)
  assertStream(read.envelope)
  assertAuthor(context, read.envelope, options.agent)
  const staged = await stageJudged(context, read)
  try {
    const draft = draftOf(read, options, staged)
    await publish(context, draft, options.signer, staged)
    return begun(read, await begin(context, draft, options.signer), staged)
  } finally {
    for (const { file } of staged) await file.discard()
  }
}

/**
 * Does what `beginPut` does, without a wait, for a value that names no local files; undefined when something has to be
 * read first. Of many such puts at once each is done with its garbage before the next begins.
 */
export function beginPutNow(
  context: Context,
  value: CanonicalValue,
  options: PutOptions,
): BegunPut | undefined {
  const read = readRemoteValue(value)
  if (read === undefined) return undefined
  assertStream(read.envelope)
  assertAuthor(context, read.envelope, options.agent)
  const appended = beginNow(context, draftOf(read, options, []), options.signer)
  return appended === undefined ? undefined : begun(read, appended, [])
}

function begun(
  read: ReadEnvelope,
  { written, ...appended }: Begun,
  staged: readonly StagedFile[],
): BegunPut {
  const artifacts = staged.map(({ path, file }) => ({ path, cid: file.cid, size: file.sizeBytes }))
  return { written, result: { ...appended, artifacts, bodyBytes: read.body.bytes.length } }
}

async function stageJudged(context: Context, read: ReadEnvelope): Promise<readonly StagedFile[]> {
  if (read.localFiles.length > 0) await assertKeeps(read)
  return stageFiles(context.db.directory, read.localFiles)
}

/** Large files go in place before the batch that names them, once nothing speaks against that batch. */
async function publish(
  context: Context,
  draft: Draft,
  signer: Signer,
  staged: readonly StagedFile[],
): Promise<void> {
  const large = staged.filter(({ file }) => file.bytes === undefined)
  if (large.length > 0) await rehearse(context, draft, signer)
  for (const { file } of large) await file.publish()
}

/**
 * The store keeps files by their paths, neither links nor empty folders: a document whose verdict hangs on those would
 * be refused by the gate, so it is refused here.
 */
async function assertKeeps({ envelope, localFiles }: ReadEnvelope): Promise<void> {
  const files = new Map(
    localFiles.map(({ key, path, sha256, sizeBytes }) => [
      path,
      { sha256, sizeBytes, read: () => readBounded(key, sizeBytes) },
    ]),
  )
  const { findings } = await validateHandoffDocument(envelope, makeVirtualBundle(files))
  const [first] = findings
  if (first === undefined) return
  throw new HandoffError(
    'HSTORE_CONTRACT_BROKEN',
    `${first.path} holds only over links or empty folders, which a store does not keep: put files in their places (${first.message})`,
    { details: { findings } },
  )
}

/** The contract lets an id be any text; a stream's name is shown and typed. */
function assertStream({ id }: HandoffEnvelope): void {
  if (isStream(`csag:${id}`)) return
  throw new HandoffError(
    'HSTORE_BODY_INVALID',
    `/id ${quoted(id)} can't name a stream: 1 to 1024 bytes without control characters`,
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
    `created_by is ${quoted(created_by)}, which is no name of ${agent}: put it --as its creator`,
  )
}

function draftOf(
  { envelope, body, source }: ReadEnvelope,
  { agent, shallow, parents }: PutOptions,
  staged: readonly StagedFile[],
): Draft {
  const files = staged.map(({ file }) => file)
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
    artifacts: listBlock(files),
    source,
    witness: false,
    blocks: files.flatMap(({ cid, bytes }) => (bytes === undefined ? [] : [{ cid, bytes }])),
  }
}

function listBlock(staged: readonly StagedArtifact[]): Block | undefined {
  const cids = [...new Set(staged.map(({ cid }) => cid))].sort()
  if (cids.length === 0) return undefined
  const bytes = encodeForm({ artifacts: cids.map(linkForm) })
  return HashedBlock.of(bytes, 'dag-json')
}
