import type { Context } from '../context.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { HandoffError } from '../errors.ts'
import { isOfNode } from '../graph/node-entries.ts'
import { resolveEntry } from '../graph/ref.ts'
import { walk } from '../graph/walk.ts'
import { quoted } from '../kernel/shown.ts'
import type { Finding } from '../rules/rule.ts'
import type { RecordJudgement } from './judgement.ts'
import type { RecordChange } from './past.ts'
import type { HistoryNode } from './history.ts'
import { judgeAttribution } from './judge.ts'
import type { RecordKind } from './records.ts'
import type { RecordVerdict } from './register.ts'

/** A revision by the entry that names it. */
export interface BlamedEntry {
  readonly cid: string
  readonly revision: string
  readonly author: string
}

/** A revision that set a record, or that has it in a way which nobody set. */
export interface BlamedChange extends BlamedEntry {
  /** Null where the record was left out. */
  readonly status: string | null
  /** What the revision set: nothing where its author may not. */
  readonly sets: readonly ('origin' | 'state')[]
  readonly verdict: RecordVerdict
}

/** Whose word a record is. */
export interface BlamedRecord {
  readonly kind: RecordKind
  readonly id: string
  readonly verdict: RecordVerdict
  readonly status: string
  /** What the record says of its creator. */
  readonly createdBy: string
  /** The entry that stated it first, whoever may. */
  readonly first: BlamedEntry
  /** The entry since which it has stood so. */
  readonly since: BlamedEntry
  readonly changes: readonly BlamedChange[]
}

/** Whose word the records of an envelope are. Keys are stable; more may be added. */
export interface BlameReport extends BlamedEntry {
  readonly stream: string
  readonly records: readonly BlamedRecord[]
  readonly findings: readonly Finding[]
  /** The exit code of the command line: 0, 1 where a record is stale or forged, 5 where a block is damaged or missing. */
  readonly exit: 0 | 1 | 5
}

/**
 * Returns whose word each record of an envelope is, and of each that it lacks.
 *
 * @throws {HandoffError} `HSTORE_USAGE` when the REF names no envelope; also what `resolveEntry` throws.
 * @see docs/trust.md, «Attribution»
 */
export async function blameEntry(context: Context, ref: string): Promise<BlameReport> {
  const entry = await resolveEntry(context, ref)
  if (entry.kind !== 'envelope') {
    const message = `${quoted(ref)} is of kind ${entry.kind}: only envelopes have records to blame`
    throw new HandoffError('HSTORE_USAGE', message)
  }
  const graph = await walk(context.db, [entry.cid], {
    isOfNode: (cid, other) => isOfNode(context, cid, other),
    isMarked: (cid) => context.marks.has(cid, 'signature'),
    documentsOnly: true,
  })
  const { judged, findings } = judgeAttribution(graph, [entry.cid], context.trust, {
    keepsChanges: true,
  })
  return {
    ...blamedEntry(entry),
    stream: entry.stream,
    records: judged.flatMap(({ records }) => records.map(blamedRecord)),
    findings: [...graph.damage, ...findings],
    exit: hasError(graph.damage) ? 5 : hasError(findings) ? 1 : 0,
  }
}

function hasError(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => severity === 'error')
}

function blamedRecord(judged: RecordJudgement): BlamedRecord {
  const { facts, verdict, first, since, changes } = judged
  const { kind, id, status, createdBy } = facts
  return {
    kind,
    id,
    verdict,
    status,
    createdBy,
    first: blamedNode(first),
    since: blamedNode(since),
    changes: changes.map(blamedChange),
  }
}

function blamedChange({ node, facts, parts, verdict }: RecordChange): BlamedChange {
  return { ...blamedNode(node), status: facts?.status ?? null, sets: parts, verdict }
}

function blamedNode({ entry }: HistoryNode): BlamedEntry {
  return blamedEntry(entry)
}

function blamedEntry({ cid, name, author }: VerifiedEntry): BlamedEntry {
  return { cid, revision: name ?? '', author }
}
