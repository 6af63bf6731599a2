import { decodeForm } from '../store/canonical.ts'
import type { Context } from './context.ts'
import type { DocumentDiff } from './diff.ts'
import { diffDocuments } from './diff.ts'
import { HandoffError } from './errors.ts'
import type { FormMap } from './graph/body.ts'
import { resolveEntry } from './graph/ref.ts'
import type { EntryReport } from './reports.ts'
import { entryReport } from './reports.ts'

/** How the documents of two entries differ. Keys are stable; more may be added. */
export interface DiffReport extends DocumentDiff {
  readonly a: EntryReport
  readonly b: EntryReport
}

/**
 * Returns how the documents that two REFs name differ.
 *
 * @throws {HandoffError} `HSTORE_USAGE` when they are of different kinds; also what `resolveEntry` throws.
 */
export async function diffEntries(context: Context, a: string, b: string): Promise<DiffReport> {
  const before = await resolveEntry(context, a)
  const after = await resolveEntry(context, b)
  if (before.kind !== after.kind) {
    const message = `${JSON.stringify(a)} is of kind ${before.kind} and ${JSON.stringify(b)} of kind ${after.kind}: name two of one kind`
    throw new HandoffError('HSTORE_USAGE', message)
  }
  const document = async (body: typeof before.body): Promise<FormMap> =>
    decodeForm(await context.db.get(body)).form
  const diff = diffDocuments(before.kind, await document(before.body), await document(after.body))
  return { a: entryReport(before), b: entryReport(after), ...diff }
}
