import { decodeForm, encodeForm } from '../../store/canonical.ts'
import { encodeValue } from '../../store/canonical-value.ts'
import type { CidText } from '../../store/cid-text.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import type { Block } from '../../store/commit.ts'
import { toBlockForm } from '../../store/json-input.ts'
import type { Bundle } from '../contracts/csag/bundle.ts'
import type { HandoffEnvelope } from '../contracts/csag/document.ts'
import type { HandoffJudgement } from '../contracts/csag/handoff.ts'
import { validateHandoff, validateHandoffDocument } from '../contracts/csag/handoff.ts'
import { maxSourceBytes } from '../entry/entry.ts'
import { HandoffError } from '../errors.ts'
import { HstoreError } from '../kernel/errors.ts'

/** An envelope that keeps its contract, ready to be stored. */
export interface ReadEnvelope {
  readonly envelope: HandoffEnvelope
  readonly judgement: HandoffJudgement
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
  input: Uint8Array | object,
  bundle: Bundle,
): Promise<ReadEnvelope> {
  const canonical = input instanceof Uint8Array ? findCanonical(input) : encodeValue(input)
  if (canonical !== undefined) {
    const judgement = await validateHandoffDocument(canonical.form, bundle)
    const body = blockOf(canonical.bytes)
    return { envelope: keptEnvelope(judgement), judgement, body, source: undefined }
  }
  const bytes = (input as Uint8Array).slice()
  const judgement = await validateHandoff(bytes, bundle)
  const envelope = keptEnvelope(judgement)
  if (judgement.input === undefined) throw new TypeError('the judgement of a file has its input')
  const body = encodeForm(toBlockForm(judgement.input))
  return { envelope, judgement, body: blockOf(body), source: sourceOf(bytes, body) }
}

/** A canonical file is its own body. Its first bytes tell files that are laid out for people apart at once. */
function findCanonical(bytes: Uint8Array): { form: object; bytes: Uint8Array } | undefined {
  if (bytes[1] !== 0x22) return undefined
  try {
    const own = bytes.slice() // the caller may change its buffer while the batch waits
    return { form: decodeForm(own).form, bytes: own }
  } catch (error) {
    if (error instanceof HstoreError) return undefined
    throw error
  }
}

function keptEnvelope({ findings, document }: HandoffJudgement): HandoffEnvelope {
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

function blockOf(bytes: Uint8Array): Block {
  const cid: CidText = cidTextOf(bytes, 'dag-json')
  return { cid, bytes }
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
