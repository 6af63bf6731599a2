import { HandoffError } from '../errors.ts'
import type { Io } from './io.ts'
import { plain } from './render.ts'

const changeCodes: ReadonlySet<string> = new Set(['HSTORE_RELAY_BEHIND', 'HSTORE_RELAY_CHANGED'])

/** Shows what an error says of closed turns; with `--json` it stands in the error. */
export function tellDiff(io: Io, options: { readonly json?: unknown }, error: unknown): void {
  if (!(error instanceof HandoffError) || !changeCodes.has(error.code)) return
  if (options.json === true) return
  for (const line of error.details['diff'] as readonly string[]) io.err(`${plain(line)}\n`)
}
