import { decodeForm, encodeForm } from '../../store/canonical.ts'
import type { CanonicalValue } from '../../store/canonical-value.ts'
import type { Block } from '../../store/block.ts'
import { HashedBlock } from '../../store/block.ts'
import { toBlockForm } from '../../store/json-input.ts'
import type { Bundle } from '../contracts/csag/bundle.ts'
import type { HandoffEnvelope } from '../contracts/csag/document.ts'
import type { HandoffJudgement } from '../contracts/csag/handoff.ts'
import { validateHandoff, validateHandoffDocument } from '../contracts/csag/handoff.ts'
import { judgeDocument } from '../contracts/csag/judge.ts'
import type { LocalFile } from '../contracts/csag/local-files.ts'
import { resolveRemote } from '../contracts/csag/resolve.ts'
import { checkEnvelope } from '../contracts/csag/schema.ts'
import { maxSourceBytes } from '../entry/entry.ts'
import { HandoffError } from '../errors.ts'
import { HstoreError } from '../kernel/errors.ts'

/** An envelope that keeps its contract, ready to be stored. */
export interface ReadEnvelope {
  readonly envelope: HandoffEnvelope
  /** Files of the bundle that the envelope rests on. */
  readonly localFiles: readonly LocalFile[]
  readonly body: Block
  /** The file as given, where its bytes are not the body's. */
  readonly source: Block | undefined
}

/**
 * Returns an envelope out of a file's bytes or a value, judged by its contract and in canonical form.
 *
 * @throws {HandoffError} `HSTORE_CONTRACT_BROKEN` with all findings, `HSTORE_INPUT_UNREADABLE` when it is no envelope at
 * all, `HSTORE_INPUT_TOO_LARGE` when the file is over 4 MiB.
 * @throws {StoreError} `HSTORE_BLOCK_INVALID` when the document has no block form, naming the place.
 */
export async function readEnvelopeInput(
  input: Uint8Array | CanonicalValue,
  bundle: Bundle,
): Promise<ReadEnvelope> {
  const canonical = input instanceof Uint8Array ? findCanonical(input) : input
  if (canonical !== undefined) {
    const judgement = await validateHandoffDocument(canonical.form, bundle)
    const envelope = keptEnvelope(judgement)
    const body = HashedBlock.of(canonical.bytes, 'dag-json')
    return { envelope, localFiles: judgement.localFiles, body, source: undefined }
  }
  const bytes = input as Uint8Array
  assertSourceSize(bytes)
  const judgement = await validateHandoff(bytes, bundle)
  const envelope = keptEnvelope(judgement)
  if (judgement.input === undefined) throw new TypeError('the judgement of a file has its input')
  const body = encodeForm(toBlockForm(judgement.input))
  return {
    envelope,
    localFiles: judgement.localFiles,
    body: HashedBlock.of(body, 'dag-json'),
    source: sourceOf(bytes, body),
  }
}

/**
 * Returns a value that names no local files, judged without a wait and without advice, which a put has no use for;
 * undefined when it names some or breaks its schema.
 *
 * @throws {HandoffError} `HSTORE_CONTRACT_BROKEN` with all findings.
 */
export function readRemoteValue({ form, bytes }: CanonicalValue): ReadEnvelope | undefined {
  if (checkEnvelope(form).length > 0) return undefined
  const envelope = form as unknown as HandoffEnvelope
  const resolved = resolveRemote(envelope)
  if (resolved === undefined) return undefined
  keptEnvelope({ findings: judgeDocument(envelope, resolved), document: envelope })
  const body = HashedBlock.of(bytes, 'dag-json')
  return { envelope, localFiles: [], body, source: undefined }
}

/** Returns a canonical file as a value: it is its own body. Its first bytes tell files that are laid out for people apart at once. */
export function findCanonical(bytes: Uint8Array): CanonicalValue | undefined {
  if (bytes[1] !== 0x22) return undefined
  try {
    return { form: decodeForm(bytes).form, bytes }
  } catch (error) {
    if (error instanceof HstoreError) return undefined
    throw error
  }
}

function keptEnvelope({
  findings,
  document,
}: Pick<HandoffJudgement, 'document' | 'findings'>): HandoffEnvelope {
  const [first] = findings
  if (first === undefined && document !== undefined) return document
  const told = `${first?.path ?? 'handoff'}: ${first?.message ?? 'is no envelope'}`
  const more = findings.length > 1 ? ` (and ${findings.length - 1} more)` : ''
  const isUnread = first?.code.startsWith('CSAG-L') === true
  throw new HandoffError(
    isUnread ? 'HSTORE_INPUT_UNREADABLE' : 'HSTORE_CONTRACT_BROKEN',
    `refused by ${first?.code}: ${told}${more}; hstore validate lists all`,
    { details: { findings } },
  )
}

/** What can't be kept as given is not worth judging. */
function assertSourceSize({ length }: Uint8Array): void {
  if (length <= maxSourceBytes) return
  throw new HandoffError(
    'HSTORE_INPUT_TOO_LARGE',
    `the file is ${length} bytes, more than ${maxSourceBytes}: drop white space, or move text into artifacts`,
  )
}

function sourceOf(bytes: Uint8Array, body: Uint8Array): Block | undefined {
  if (Buffer.compare(bytes, body) === 0) return undefined
  return HashedBlock.of(bytes, 'raw')
}
