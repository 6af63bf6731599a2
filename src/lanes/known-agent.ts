import type { Context } from '../context.ts'
import { HandoffError } from '../errors.ts'
import { quoted } from '../kernel/shown.ts'

/** Throws `HSTORE_AGENT_UNKNOWN` for who is no agent of the roster: nobody outside it could ever sign. */
export function assertKnown({ trust }: Context, agent: string): void {
  if (trust.roster.agents.some(({ id }) => id === agent)) return
  throw new HandoffError(
    'HSTORE_AGENT_UNKNOWN',
    `${quoted(agent)} is no agent of the roster: hstore roster show lists them`,
  )
}
