import type { CidText } from '../../store/cid-text.ts'
import { HandoffError } from '../errors.ts'
import { compareUtf8 } from '../kernel/bytes.ts'
import type { Agent, AgentKey, Grant, Root, Roster } from '../trust/roster.ts'
import { givesSame, sortedGrants } from './grants.ts'

/** What a roster version changes; a roster with its next version's number is made of it. */
type Parts = Pick<Roster, 'agents' | 'roots' | 'threshold'>

/** Returns the parts with a new key of an agent, who may be new too: it may read everything then, or `read`. */
export function withKey<T extends Parts>(
  roster: T,
  id: string,
  key: AgentKey,
  read: readonly string[] = ['*'],
): T {
  const found = roster.agents.find((agent) => agent.id === id) ?? {
    id,
    aliases: [],
    read,
    keys: [],
  }
  const keys = [...found.keys, key].sort((a, b) => compareUtf8(a.did, b.did))
  return withAgent(roster, { ...found, keys })
}

/** Returns the parts with another name for an agent. */
export function withAlias<T extends Parts>(roster: T, id: string, alias: string): T {
  const agent = agentOf(roster, id)
  const aliases = [...new Set([...agent.aliases, alias])].sort(compareUtf8)
  return withAgent(roster, { ...agent, aliases })
}

/** Returns the parts with other patterns of streams that an agent may read. */
export function withRead<T extends Parts>(roster: T, id: string, read: readonly string[]): T {
  return withAgent(roster, { ...agentOf(roster, id), read })
}

/** Returns the parts with another level of a key. */
export function withLevel<T extends Parts>(roster: T, did: string, level: AgentKey['level']): T {
  return changeKey(roster, did, (key) => ({ ...key, level }))
}

/** Returns the parts with more grants of a key, open or closed. */
export function withGrants<T extends Parts>(roster: T, did: string, grants: readonly Grant[]): T {
  return changeKey(roster, did, (key) => ({
    ...key,
    grants: sortedGrants([...key.grants, ...grants]),
  }))
}

/** Returns the parts with open grants of a key closed by a cut: all, or those that give the same as one of `which`. */
export function withClosed<T extends Parts>(
  roster: T,
  did: string,
  until: CidText,
  which: readonly Grant[] | undefined,
): T {
  const close = (grant: Grant): Grant => (isMeant(grant, which) ? { ...grant, until } : grant)
  return changeKey(roster, did, (key) => ({ ...key, grants: sortedGrants(key.grants.map(close)) }))
}

/** Returns whether a grant is open and one of `which`; without it all are meant. */
export function isMeant(grant: Grant, which: readonly Grant[] | undefined): boolean {
  const isOne = which === undefined || which.some((one) => givesSame(one, grant))
  return grant.until === undefined && isOne
}

/** Returns the parts with other roots or another threshold. */
export function withRoots<T extends Parts>(roster: T, { add, drop, threshold }: RootsChange): T {
  const kept = roster.roots.filter(
    ({ did }) => !drop.includes(did) && add.every((root) => root.did !== did),
  )
  return {
    ...roster,
    roots: [...kept, ...add].sort((a, b) => compareUtf8(a.did, b.did)),
    threshold: threshold ?? roster.threshold,
  }
}

/** Who is to decide on rosters from the next version on. */
export interface RootsChange {
  readonly add: readonly Root[]
  /** The dids of roots that are none any more. */
  readonly drop: readonly string[]
  readonly threshold: number | undefined
}

/**
 * Returns an agent of a roster by its id.
 *
 * @throws {HandoffError} `HSTORE_AGENT_UNKNOWN`.
 */
export function agentOf({ agents }: Parts, id: string): Agent {
  const agent = agents.find((one) => one.id === id)
  if (agent !== undefined) return agent
  const named = agents.find(({ aliases }) => aliases.includes(id))
  const hint = named === undefined ? '' : `: it is an alias of ${named.id}`
  throw new HandoffError('HSTORE_AGENT_UNKNOWN', `the roster has no agent ${id}${hint}`)
}

/**
 * Returns a key of an agent.
 *
 * @throws {HandoffError} `HSTORE_AGENT_UNKNOWN`.
 */
export function keyOf(roster: Parts, id: string, did: string): AgentKey {
  const key = agentOf(roster, id).keys.find((one) => one.did === did)
  if (key !== undefined) return key
  throw new HandoffError(
    'HSTORE_AGENT_UNKNOWN',
    `${did} is no key of ${id}: hstore roster show lists them`,
  )
}

function changeKey<T extends Parts>(
  roster: T,
  did: string,
  change: (key: AgentKey) => AgentKey,
): T {
  return {
    ...roster,
    agents: roster.agents.map((agent) => ({
      ...agent,
      keys: agent.keys.map((key) => (key.did === did ? change(key) : key)),
    })),
  }
}

function withAgent<T extends Parts>(roster: T, agent: Agent): T {
  const others = roster.agents.filter(({ id }) => id !== agent.id)
  return { ...roster, agents: [...others, agent].sort((a, b) => compareUtf8(a.id, b.id)) }
}
