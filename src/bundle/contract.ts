import { decodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { HandoffEnvelope } from '../contracts/csag/document.ts'
import { judgeDocument } from '../contracts/csag/judge.ts'
import { resolveFiles } from '../contracts/csag/resolve.ts'
import { checkEnvelope } from '../contracts/csag/schema.ts'
import { makeVirtualBundle } from '../contracts/csag/virtual-bundle.ts'
import type { Context } from '../context.ts'
import type { Entry } from '../entry/entry.ts'
import type { LoadedGraph } from '../graph/loaded.ts'
import { HstoreError } from '../kernel/errors.ts'
import type { Finding } from '../rules/rule.ts'
import { storedFiles } from './stored-files.ts'

/** What the contract's rules say of an entry's document, judged over the files that the store holds. */
export interface ContractJudgement {
  readonly findings: readonly Finding[]
  readonly remote: readonly string[]
  /** The envelope; undefined when the entry carries none that can be read. */
  readonly envelope: HandoffEnvelope | undefined
}

/** Returns the contract's judgement of an entry in a loaded graph. */
export async function judgeContract(
  context: Context,
  graph: LoadedGraph,
  entry: Entry | undefined,
): Promise<ContractJudgement> {
  const none = { findings: [], remote: [], envelope: undefined }
  if (entry?.kind !== 'envelope') return none
  const document = await readEnvelope(context, entry)
  if (document === undefined) return none // named as damage where it was read
  const faults = checkEnvelope(document)
  if (faults.length > 0) return { ...none, findings: faults }
  const envelope = document as unknown as HandoffEnvelope
  const { files, remote } = await storedFiles(context.db, envelope, takenIn(graph, entry))
  const resolved = await resolveFiles(envelope, makeVirtualBundle(files))
  return { findings: judgeDocument(envelope, resolved), remote, envelope }
}

/** Returns the artifacts that the entries of a node took in. */
export function takenIn(graph: LoadedGraph, { body, author }: Entry): ReadonlySet<CidText> {
  const lists = [...graph.entries.values()]
    .filter((entry) => entry.body === body && entry.author === author)
    .map(({ artifacts }) => (artifacts === undefined ? [] : (graph.lists.get(artifacts) ?? [])))
  return new Set(lists.flat())
}

/** Returns an entry's document, or undefined when its bytes are missing or not its own. */
export async function readEnvelope(context: Context, { body }: Entry): Promise<object | undefined> {
  try {
    return decodeForm(await context.db.get(body)).form
  } catch (error) {
    if (error instanceof HstoreError) return undefined
    throw error
  }
}
