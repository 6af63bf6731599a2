import { fitsPattern } from '../trust/roster.ts'
import type { Trust } from '../trust/standing.ts'

/** What somebody who asks may do here. */
export interface Rights {
  /** Names where what they push waits to be judged. */
  readonly who: string
  mayRead(stream: string): boolean
  readonly mayWrite: boolean
}

/** The owner of the folder, who could read and write its files too. */
export const ownerRights: Rights = { who: 'owner', mayRead: () => true, mayWrite: true }

/**
 * Returns the rights of a key by the roster: an agent reads the streams that fit its `read` patterns, and rosters; its key
 * may push when it has an open grant. Undefined for a key that the roster does not know.
 */
export function rightsOf(trust: Trust, did: string): Rights | undefined {
  const holder = trust.findKey(did)
  if (holder === undefined) return undefined
  const { agent, key } = holder
  return {
    who: did,
    mayRead: (stream) => stream === 'roster' || fitsPattern(agent.read, stream),
    mayWrite: key.grants.some(({ until }) => until === undefined),
  }
}
