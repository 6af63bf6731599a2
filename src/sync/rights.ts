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
  const isOpen = key.grants.some(({ until }) => until === undefined)
  // a key whose grants were all closed is one that was taken out of use
  if (key.grants.length > 0 && !isOpen) return undefined
  return {
    who: did,
    mayRead: (stream) => stream === 'roster' || fitsPattern(agent.read, stream),
    mayWrite: isOpen,
  }
}

/** Returns the rights of somebody who says nothing of himself: to read some streams, and the rosters that they rest on. */
export function publicRights(patterns: readonly string[]): Rights {
  return {
    who: 'everybody',
    mayRead: (stream) => stream === 'roster' || fitsPattern(patterns, stream),
    mayWrite: false,
  }
}
