import { parseJson } from '../../../store/json-input.ts'
import type { JsonInput } from '../../../store/json-input.ts'
import { StoreError } from '../../../store/errors.ts'
import type { Bundle, BundleFile } from './bundle.ts'
import type { PaperCheck, SchemaFault } from './schema.ts'
import { loadPaperCheck } from './schema.ts'

/** Papers and reports of more bytes are not read. */
export const MAX_READ_BYTES: number = 64 * 1024 * 1024

/** A JSON file of a bundle, or why it is none. */
export type JsonFile =
  | { readonly kind: 'not-json'; readonly reason: string }
  | { readonly kind: 'not-object' }
  | { readonly kind: 'object'; readonly value: Record<string, unknown>; readonly input: JsonInput }

/** What the rules need to know of a paper whose digest matches. */
export type PaperFacts =
  | Exclude<JsonFile, { kind: 'object' }>
  | { readonly kind: 'faulty'; readonly faults: readonly SchemaFault[] }
  | {
      readonly kind: 'paper'
      readonly assertions: ReadonlySet<string>
      readonly knowledgeGaps: ReadonlySet<string>
      /** Every `id` at any depth. */
      readonly ids: ReadonlySet<string>
    }

let paperCheck: PaperCheck | undefined

/** Returns what the rules need to know of the paper in `file`: at most 64 MiB of JSON, the last of equal keys counts. */
export async function readPaper(bundle: Bundle, file: BundleFile): Promise<PaperFacts> {
  const json = await readJsonFile(bundle, file)
  if (json.kind !== 'object') return json
  paperCheck ??= await loadPaperCheck()
  const faults = paperCheck(json.value, json.input.remarks)
  if (faults.length > 0) return { kind: 'faulty', faults }
  return {
    kind: 'paper',
    assertions: idsOf(json.value['assertions']),
    knowledgeGaps: idsOf(json.value['knowledge_gaps']),
    ids: allIds(json.value),
  }
}

/** Returns the JSON object in `file`, or why there is none. */
export async function readJsonFile(bundle: Bundle, file: BundleFile): Promise<JsonFile> {
  const bytes = await bundle.read(file, MAX_READ_BYTES)
  if (bytes === undefined) {
    const large = file.sizeBytes > MAX_READ_BYTES
    return { kind: 'not-json', reason: large ? 'larger than 64 MiB' : 'changed while it was read' }
  }
  let input: JsonInput
  try {
    input = parseJson(bytes, { maxBytes: MAX_READ_BYTES })
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return { kind: 'not-json', reason: error.message }
  }
  const long = input.remarks.find((remark) => remark.kind === 'long-integer')
  if (long !== undefined) {
    return { kind: 'not-json', reason: `an integer of more than 4300 digits at ${long.pointer}` }
  }
  const { value } = input
  return isObject(value) ? { kind: 'object', value, input } : { kind: 'not-object' }
}

/** Returns whether `value` is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function idsOf(list: unknown): Set<string> {
  return new Set(((list ?? []) as { readonly id: string }[]).map((entry) => entry.id))
}

function allIds(root: unknown): Set<string> {
  const ids = new Set<string>()
  const pending: unknown[] = [root]
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value !== 'object' || value === null) continue
    for (const [key, member] of Object.entries(value)) {
      if (typeof member === 'object') pending.push(member)
      else if (key === 'id' && typeof member === 'string' && !Array.isArray(value)) ids.add(member)
    }
  }
  return ids
}
