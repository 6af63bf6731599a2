import type { Signer } from '../../keys/signer.ts'
import type { StagedArtifact } from '../../store/stage-artifact.ts'
import { encodeForm, linkForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import type { Block } from '../../store/commit.ts'
import type { JsonInput } from '../../store/json-input.ts'
import { toBlockForm } from '../../store/json-input.ts'
import type { Bundle } from '../contracts/csag/bundle.ts'
import type { HandoffEnvelope } from '../contracts/csag/document.ts'
import type { HandoffJudgement } from '../contracts/csag/handoff.ts'
import { validateHandoff } from '../contracts/csag/handoff.ts'
import type { Context } from '../context.ts'
import { maxSourceBytes } from '../entry/entry.ts'
import { isStream } from '../entry/text.ts'
import { HandoffError } from '../errors.ts'
import { findLastCertificateEntry } from '../resume/coverage.ts'
import type { Appended } from './append.ts'
import { append, rehearse } from './append.ts'
import type { Draft } from './draft.ts'
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
 * @param bytes - The file as given.
 * @throws {HandoffError} `HSTORE_CONTRACT_BROKEN` with all findings; `HSTORE_INPUT_UNREADABLE` when it is no envelope at
 * all; `HSTORE_AUTHOR_MISMATCH` when `created_by` is no name of the agent; `HSTORE_INPUT_TOO_LARGE`;
 * `HSTORE_INPUT_CHANGED` when a file changed meanwhile; and what `append` throws.
 * @throws {StoreError} `HSTORE_BLOCK_INVALID` when the document has no block form, naming the place.
 */
export async function putEnvelope(
  context: Context,
  bytes: Uint8Array,
  options: PutOptions,
): Promise<PutResult> {
  const judgement = await validateHandoff(bytes, options.bundle)
  const envelope = assertKept(judgement)
  const body = encodeForm(toBlockForm(judgement.input as JsonInput))
  assertStream(envelope)
  assertAuthor(context, envelope, options.agent)
  const source = sourceOf(bytes, body)
  const staged = await stageFiles(context.db.directory, judgement.localFiles)
  try {
    const draft = await draftOf(context, envelope, options, {
      body,
      source,
      staged: staged.map(({ file }) => file),
    })
    const large = staged.filter(({ file }) => file.bytes === undefined)
    if (large.length > 0) await rehearse(context, draft, options.signer)
    for (const { file } of large) await file.publish()
    const appended = await append(context, draft, options.signer)
    const artifacts = staged.map(({ path, file }) => ({
      path,
      cid: file.cid,
      size: file.sizeBytes,
    }))
    return { ...appended, artifacts, bodyBytes: body.length }
  } finally {
    for (const { file } of staged) await file.discard()
  }
}

function assertKept({ findings, document }: HandoffJudgement): HandoffEnvelope {
  const [first] = findings
  if (first === undefined && document !== undefined) return document
  const told = `${first?.path ?? 'handoff'}: ${first?.message ?? 'is no envelope'}`
  const more = findings.length > 1 ? ` (and ${findings.length - 1} more)` : ''
  const code =
    first?.code.startsWith('CSAG-L') === true ? 'HSTORE_INPUT_UNREADABLE' : 'HSTORE_CONTRACT_BROKEN'
  throw new HandoffError(
    code,
    `refused by ${first?.code}: ${told}${more}; hstore validate lists all`,
    {
      details: { findings },
    },
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

function sourceOf(bytes: Uint8Array, body: Uint8Array): Block | undefined {
  if (Buffer.compare(bytes, body) === 0) return undefined
  if (bytes.length > maxSourceBytes) {
    throw new HandoffError(
      'HSTORE_INPUT_TOO_LARGE',
      `the file is ${bytes.length} bytes, more than ${maxSourceBytes}: drop white space, or move text into artifacts`,
    )
  }
  return { cid: cidTextOf(bytes, 'raw'), bytes }
}

async function draftOf(
  context: Context,
  envelope: HandoffEnvelope,
  { agent, signer, shallow, parents }: PutOptions,
  parts: {
    readonly body: Uint8Array
    readonly source: Block | undefined
    readonly staged: readonly StagedArtifact[]
  },
): Promise<Draft> {
  const { body, source, staged } = parts
  return {
    kind: 'envelope',
    stream: `csag:${envelope.id}`,
    author: agent,
    body: { cid: cidTextOf(body, 'dag-json'), bytes: body },
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
