import { StoreError } from '../../../store/errors.ts'
import { compareUtf8 } from '../../kernel/bytes.ts'
import { parseJson } from '../../../store/json-input.ts'
import type { JsonInput } from '../../../store/json-input.ts'
import type { Bundle } from './bundle.ts'
import type { HandoffEnvelope, HandoffMetrics } from './document.ts'
import { measureHandoff } from './document.ts'
import type { CsagFinding } from './finding.ts'
import { MAX_FINDINGS, placedFinding, quote } from './finding.ts'
import { judgeDocument } from './judge.ts'
import type { LocalFile } from './local-files.ts'
import { adviseOnLocators, listLocalFiles } from './local-files.ts'
import { isObject } from './paper.ts'
import { resolveFiles } from './resolve.ts'
import type { ResolvedHandoff } from './resolve.ts'
import { checkEnvelope, isPlainInteger } from './schema.ts'

/** A file that a judgement rests on. */
export interface VerifiedInput {
  readonly key: string
  readonly sha256: string
  readonly sizeBytes: number
}

/** What the handoff profile says of one envelope. */
export interface HandoffJudgement {
  /** No finding. */
  readonly ok: boolean
  /** Upstream's rules in upstream's order. */
  readonly findings: readonly CsagFinding[]
  /** What hstore sees beyond; changes no verdict. */
  readonly advisories: readonly CsagFinding[]
  /** The envelope, when loading and schema had no finding. */
  readonly document: HandoffEnvelope | undefined
  /** The file as it was read, when it is JSON with one reading; undefined for a body of the store. */
  readonly input: JsonInput | undefined
  /** What a put takes in. */
  readonly localFiles: readonly LocalFile[]
  /** The files that were verified, each once, by key in code-point order. */
  readonly inputs: readonly VerifiedInput[]
  readonly metrics: HandoffMetrics
}

/** An envelope file of more bytes is not read. */
export const MAX_ENVELOPE_BYTES: number = 64 * 1024 * 1024

/**
 * Returns the verdict on the bytes of an envelope: loading, closed schema, semantic rules; a phase runs when the ones
 * before found nothing.
 *
 * @param bytes - As in the file; at most 64 MiB.
 */
export async function validateHandoff(
  bytes: Uint8Array,
  bundle: Bundle,
): Promise<HandoffJudgement> {
  const loaded = loadEnvelope(bytes)
  if (loaded instanceof StoreError) return refuseEnvelope(loaded.message)
  const [doubled] = loaded.remarks.filter((remark) => remark.kind === 'duplicate-key')
  if (doubled !== undefined) {
    return refuseEnvelope(`the key ${quote(doubled.pointer)} is there twice, keep one`)
  }
  const [long] = loaded.remarks.filter((remark) => remark.kind === 'long-integer')
  if (long !== undefined) {
    return refuseEnvelope(`the integer at ${quote(long.pointer)} has more than 4300 digits`)
  }
  return await judgeInput(loaded, bundle)
}

/**
 * Returns the verdict on an envelope that is a value already, such as a body of the store: schema and semantic rules.
 */
export async function validateHandoffDocument(
  document: unknown,
  bundle: Bundle,
): Promise<HandoffJudgement> {
  const judgement = await judgeInput({ value: document, remarks: [] }, bundle)
  return { ...judgement, input: undefined }
}

/** Returns the verdict on an envelope that can't be read or has no single reading: one finding, CSAG-L-001. */
export function refuseEnvelope(reason: string): HandoffJudgement {
  return { ...emptyJudgement(undefined), findings: [placedFinding('CSAG-L-001', [], reason)] }
}

/**
 * Returns the verdict from the parts that `checkEnvelope`, `resolveFiles` and `judgeDocument` are made of, without a
 * wait.
 */
export function judgeResolved(
  envelope: HandoffEnvelope,
  resolved: ResolvedHandoff,
  input: JsonInput | undefined,
): HandoffJudgement {
  const findings = judgeDocument(envelope, resolved, findLiterals(input))
  const localFiles = listLocalFiles(envelope, resolved)
  return {
    ok: findings.length === 0,
    findings,
    advisories: [...adviseOnCut(findings), ...adviseOnLocators(envelope, resolved)],
    document: envelope,
    input,
    localFiles,
    inputs: listInputs(localFiles),
    metrics: measureHandoff(envelope),
  }
}

async function judgeInput(input: JsonInput, bundle: Bundle): Promise<HandoffJudgement> {
  const { value, remarks } = input
  if (!isObject(value)) {
    const findings = [placedFinding('CSAG-L-002', [], 'wanted an object as the root')]
    return { ...emptyJudgement(input), findings }
  }
  const findings = checkEnvelope(value, remarks)
  if (findings.length > 0) {
    const advisories = adviseOnCut(findings)
    return { ...emptyJudgement(input), findings, advisories, metrics: measureHandoff(value) }
  }
  const envelope = value as unknown as HandoffEnvelope
  return judgeResolved(envelope, await resolveFiles(envelope, bundle), input)
}

function adviseOnCut(findings: readonly CsagFinding[]): CsagFinding[] {
  if (findings.length < MAX_FINDINGS) return []
  const cut = `there are ${MAX_FINDINGS} findings or more, these are some of them`
  return [placedFinding('HS4103', [], cut, 'warning')]
}

function loadEnvelope(bytes: Uint8Array): JsonInput | StoreError {
  try {
    return parseJson(bytes, { maxBytes: MAX_ENVELOPE_BYTES })
  } catch (error) {
    if (error instanceof StoreError) return error
    throw error
  }
}

function emptyJudgement(input: JsonInput | undefined): HandoffJudgement {
  return {
    ok: false,
    findings: [],
    advisories: [],
    document: undefined,
    input,
    localFiles: [],
    inputs: [],
    metrics: measureHandoff(undefined),
  }
}

function findLiterals(input: JsonInput | undefined): ReadonlyMap<string, string> | undefined {
  const large = (input?.remarks ?? []).filter(
    (remark) => remark.kind === 'unsafe-integer' && isPlainInteger(remark.text),
  )
  if (large.length === 0) return undefined
  return new Map(large.map((remark) => [remark.pointer, remark.text]))
}

/** Upstream records records and lockfiles, not the inputs of reports. */
function listInputs(localFiles: readonly LocalFile[]): VerifiedInput[] {
  const inputs = new Map<string, VerifiedInput>()
  for (const { key, sha256, sizeBytes, role } of localFiles) {
    if (role !== 'report-input') inputs.set(key, { key, sha256, sizeBytes })
  }
  return [...inputs.values()].sort((a, b) => compareUtf8(a.key, b.key))
}
