import type { JsonForm } from '../../store/canonical.ts'
import { decodeForm, encodeForm, findLink } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import { decodeEntry } from '../entry/decode.ts'
import type { SignedEntry } from '../entry/entry.ts'
import { findVerified } from '../entry/verify.ts'
import { HandoffError } from '../errors.ts'
import { HstoreError } from '../kernel/errors.ts'

type Form = { [key: string]: JsonForm }

/** Two entries that give one name two meanings, and what shows it. See docs/format.md, «Proof». */
export interface Proof {
  /** By CID. */
  readonly entries: readonly [SignedEntry, SignedEntry]
  /** Their bodies, for entries of kind lane-commit alone. */
  readonly bodies: readonly [Form, Form] | undefined
}

/** One author with two documents, or two authors under one name. */
export type ProofKind = 'collision' | 'equivocation'

// two entries and two bodies of a commit are far below
const maxProofBytes = 512 * 1024

/** Returns the file of a proof: canonical DAG-JSON, with the blocks in it as they are. */
export function encodeProof(
  blocks: readonly [Uint8Array, Uint8Array],
  bodies: readonly [Uint8Array, Uint8Array] | undefined,
): Uint8Array {
  const sorted = [0, 1].sort((a, b) => (cidOf(blocks[a]!) < cidOf(blocks[b]!) ? -1 : 1))
  const formsOf = (list: readonly Uint8Array[]): Form[] =>
    sorted.map((i) => decodeForm(list[i]!).form)
  return encodeForm({
    ...(bodies === undefined ? {} : { bodies: formsOf(bodies) }),
    entries: formsOf(blocks),
    format: 1,
  })
}

/**
 * Returns the proof that a file holds; whether it proves anything, `judgeProof` says.
 *
 * @throws {HandoffError} `HSTORE_PROOF_INVALID` when it holds none.
 */
export function readProof(bytes: Uint8Array): Proof {
  try {
    return proofOf(decodeForm(bytes, maxProofBytes).form)
  } catch (error) {
    if (!(error instanceof HstoreError) || error.code === 'HSTORE_PROOF_INVALID') throw error
    throw invalid(error.message, error)
  }
}

function proofOf(form: Form): Proof {
  const { bodies, entries, format } = form
  if (format !== 1) throw invalid('its format is not 1')
  const other = Object.keys(form).find((key) => !['bodies', 'entries', 'format'].includes(key))
  if (other !== undefined) throw invalid('it has a key that no proof has')
  const [first, second] = pairOf(entries).map((entry) => {
    const block = encodeForm(entry)
    return decodeEntry(cidOf(block), block)
  })
  if (first!.cid >= second!.cid) throw invalid('its entries are not two in the order of their CIDs')
  const [one, two] = bodies === undefined ? [] : pairOf(bodies)
  return {
    entries: [first!, second!],
    bodies: one === undefined || two === undefined ? undefined : [one, two],
  }
}

function pairOf(value: JsonForm | undefined): readonly [Form, Form] {
  const [first, second, ...more] = Array.isArray(value) ? value : []
  if (!isMap(first) || !isMap(second) || more.length > 0) throw invalid('it does not hold two')
  return [first, second]
}

function isMap(value: JsonForm | undefined): value is Form {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns what a proof proves by itself, whoever holds the keys; a text says why it proves nothing. */
export function judgeProof({ entries, bodies }: Proof): ProofKind | { readonly why: string } {
  const [a, b] = entries
  const broken = entries.find((entry) => findVerified(entry) === undefined)
  if (broken !== undefined) return { why: `the signature of ${broken.cid} does not stand` }
  const other = (['store', 'stream', 'kind', 'name'] as const).find((key) => a[key] !== b[key])
  if (other !== undefined) return { why: `the two entries differ in ${other}` }
  if (a.witness || b.witness) return { why: 'one of them is a witness entry' }
  if (a.kind === 'lane-commit') return judgeCommits(a, b, bodies)
  if (a.kind !== 'envelope') return { why: `a name of ${a.kind} may be given twice` }
  if (bodies !== undefined) return { why: 'it has bodies that prove nothing' }
  if (a.body === b.body) return { why: 'both state the same document' }
  return a.author === b.author ? 'equivocation' : 'collision'
}

function judgeCommits(
  a: SignedEntry,
  b: SignedEntry,
  bodies: Proof['bodies'],
): ProofKind | { readonly why: string } {
  if (bodies === undefined) return { why: 'the bodies of the two commits are not in it' }
  const [first, second] = bodies.map((body) => cidOf(encodeForm(body)))
  if (first !== a.body || second !== b.body)
    return { why: 'its bodies are not those of its entries' }
  const [one, two] = bodies.map((body) => findLink(body['proposal']))
  if (one === undefined || two === undefined) return { why: 'a body names no proposal' }
  if (one === two) return { why: 'both commits are of one proposal' }
  return a.author === b.author ? 'equivocation' : 'collision'
}

function cidOf(block: Uint8Array): CidText {
  return cidTextOf(block, 'dag-json')
}

function invalid(why: string, cause?: unknown): HandoffError {
  return new HandoffError('HSTORE_PROOF_INVALID', `this is no proof: ${why}`, { cause })
}
