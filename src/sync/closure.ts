import { decodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import type { Entry } from '../entry/entry.ts'
import { findArtifacts } from '../graph/body.ts'
import { cutsOf } from './roster-right.ts'

/** The blocks that an entry needs beside those that it follows, but for its artifacts. */
export interface EntryParts {
  /** Body, file as given, list, and the cuts of a roster. */
  readonly blocks: readonly CidText[]
  readonly artifacts: readonly CidText[]
}

/**
 * Returns what an entry needs.
 *
 * @throws {StoreError} `HSTORE_BLOCK_NOT_FOUND`, `HSTORE_BLOCK_CORRUPT` when the store has lost its list or roster.
 */
export async function partsOf({ db }: Pick<Context, 'db'>, entry: Entry): Promise<EntryParts> {
  const { artifacts: list, body, source } = entry
  const blocks = [body, source, list].filter((cid) => cid !== undefined)
  if (entry.kind === 'roster') blocks.push(...cutsOf(await db.get(body)))
  if (list === undefined) return { blocks, artifacts: [] }
  return { blocks, artifacts: findArtifacts(decodeForm(await db.get(list)).form) ?? [] }
}
