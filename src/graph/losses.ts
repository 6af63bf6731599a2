import type { CidText } from '../../store/cid-text.ts'
import type { Database } from '../../store/database.ts'
import { readEntryList } from '../../store/entry-list.ts'
import { finding } from '../rules/hstore-rules.ts'
import type { Finding } from '../rules/rule.ts'

/** Returns the entries that rebuilds went on without and that have not turned up since. */
export async function findLosses(db: Database): Promise<readonly CidText[]> {
  const lost: CidText[] = []
  for await (const cid of readEntryList(db.directory, 'lost'))
    if (!(await db.has(cid))) lost.push(cid)
  return lost
}

/** Returns what losses mean for whoever would go on: nobody can tell any more in which stream they stood. */
export async function judgeLosses(db: Database): Promise<Finding[]> {
  const [cid, ...more] = await findLosses(db)
  if (cid === undefined) return []
  const message = `${more.length + 1} entries were lost with a database that a rebuild replaced (hstore status names them): a history here may be older than it was`
  return [finding('HS1012', message, { cid })]
}
