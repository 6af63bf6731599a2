import type { Context } from '../context.ts'
import type { Tick } from '../contracts/hrc/documents.ts'
import { readMarks } from '../sync/remote-marks.ts'
import { Remotes } from '../sync/remotes.ts'

/** When this store last heard another copy. */
export interface LastContact {
  /** The name of the remote. */
  readonly remote: string
  readonly at: Tick
  /** How long ago, in seconds; 0 where the clock says that it is still to come. */
  readonly ageSeconds: number
}

/** Returns which of the named remotes was heard last, and when; undefined where none was ever heard. */
export async function lastContact(
  { folder, keysFolder, trust: { genesis } }: Context,
  now: Tick,
): Promise<LastContact | undefined> {
  const remotes = await Remotes.open(folder, keysFolder, genesis)
  let last: LastContact | undefined
  for (const { name, url } of await remotes.list()) {
    const { contactMs } = await readMarks(keysFolder, genesis, url)
    const at = Math.floor(contactMs / 1000)
    if (contactMs === 0 || (last !== undefined && last.at >= at)) continue
    last = { remote: name, at, ageSeconds: Math.max(0, now - at) }
  }
  return last
}
