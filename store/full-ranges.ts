import type { RowChange, WriteGroup } from './commit.ts'
import { parseEntryKey, rangeKey, rangeOf, withoutSublevel } from './keyspace.ts'
import type { RowReader } from './ranges.ts'
import { entriesInRange, fingerprintOf } from './ranges.ts'

/** More than a process fills; what is left out is computed when it is asked for. */
const mostRanges = 100_000

/**
 * The ranges that were filled since a database was opened. Their fingerprints are remembered once, when it is closed: so
 * a put reads and writes nothing for them, and the first sync after many puts need not read all entries.
 */
export class FullRanges {
  readonly #found = new Map<string, { readonly stream: string; readonly range: number }>()

  /** Notes the ranges before those in which a group begins. */
  note({ rows }: WriteGroup): void {
    for (const [key, values] of rows) {
      if (values === undefined || !key.startsWith('!entries!')) continue
      const { stream, seq } = parseEntryKey(withoutSublevel(key))
      const range = rangeOf(seq) - 1
      if (rangeOf(seq - 1) === range && this.#found.size < mostRanges)
        this.#found.set(rangeKey(stream, range), { stream, range })
    }
  }

  /** Returns the rows of those that have none; nothing where they can't be read: they are computed later, then. */
  async rows(db: RowReader): Promise<readonly RowChange[]> {
    const rows: RowChange[] = []
    try {
      for (const [key, { stream, range }] of this.#found) {
        if (db.readRow('ranges', key) !== undefined) continue
        const values = [fingerprintOf(await entriesInRange(db, stream, range))]
        rows.push({ index: 'ranges', key, values })
      }
      return rows
    } catch {
      return []
    }
  }
}
