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
 * Returns the rights of each key by the roster: an agent reads the streams that fit its `read` patterns, and rosters; its
 * key may push when it has an open grant. A key that is out of use has none: closed, or frozen since it may be in other
 * hands.
 */
export function rightsIn(trust: Trust): ReadonlyMap<string, Rights> {
  const rights = new Map<string, Rights>()
  for (const agent of trust.roster.agents) {
    for (const { did, grants } of agent.keys) {
      const isOpen = grants.some(({ until }) => until === undefined)
      const isClosed = grants.length > 0 && !isOpen
      if (isClosed || trust.freezesOf(did).length > 0) continue
      rights.set(did, {
        who: did,
        mayRead: (stream) => stream === 'roster' || fitsPattern(agent.read, stream),
        mayWrite: isOpen,
      })
    }
  }
  return rights
}

/** Returns the rights of somebody who says nothing of himself: to read some streams, and the rosters that they rest on. */
export function publicRights(patterns: readonly string[]): Rights {
  return {
    who: 'everybody',
    mayRead: (stream) => stream === 'roster' || fitsPattern(patterns, stream),
    mayWrite: false,
  }
}
