import type { Agent, AgentKey, Grant, Roster } from './roster.ts'
import { grantForm, keysOf } from './roster.ts'

/**
 * Returns what `next` forgets or moves that it must not, or undefined when it may follow `now`: no agent, alias, key or
 * grant goes missing, no name or key changes hands, and a grant is only ever closed. See docs/format.md, «Roster».
 */
export function findForgotten(now: Roster, next: Roster): string | undefined {
  if (next.version !== now.version + 1)
    return `version ${next.version} does not follow ${now.version}`
  if (next.format < now.format) return 'the format goes back'
  const keys = keysOf(next)
  for (const agent of now.agents) {
    const later = next.agents.find(({ id }) => id === agent.id)
    if (later === undefined) return `agent ${agent.id} is missing`
    const lost = lostAlias(agent, later) ?? lostKey(agent, keys)
    if (lost !== undefined) return lost
  }
  return movedName(now, next)
}

function lostAlias(agent: Agent, later: Agent): string | undefined {
  const alias = agent.aliases.find((name) => !later.aliases.includes(name))
  return alias === undefined ? undefined : `alias ${alias} of ${agent.id} is missing`
}

function lostKey(agent: Agent, keys: ReturnType<typeof keysOf>): string | undefined {
  for (const key of agent.keys) {
    const later = keys.get(key.did)
    if (later === undefined) return `key ${key.did} is missing`
    if (later.agent.id !== agent.id) return `key ${key.did} moved to ${later.agent.id}`
    if (rank(later.key.level) > rank(key.level)) return `the level of key ${key.did} is raised`
    if (!keepsGrants(key, later.key)) return `a grant of key ${key.did} is missing or reopened`
  }
  return undefined
}

const rank = (level: AgentKey['level']): number => (level === 'agent' ? 1 : 0)

/** Every grant stands again, closed ones untouched, open ones as they are or closed; grants are a set, so two may fall together. */
function keepsGrants(now: AgentKey, next: AgentKey): boolean {
  const text = (grant: Grant): string => JSON.stringify(grantForm(grant))
  const there = new Set(next.grants.map(text))
  const closed = next.grants.filter(({ until }) => until !== undefined)
  const thereClosed = new Set(closed.map((grant) => text({ ...grant, until: undefined })))
  return now.grants.every(
    (grant) =>
      there.has(text(grant)) || (grant.until === undefined && thereClosed.has(text(grant))),
  )
}

function movedName(now: Roster, next: Roster): string | undefined {
  const owners = new Map(
    next.agents.flatMap(({ id, aliases }) => [id, ...aliases].map((name) => [name, id] as const)),
  )
  for (const { id, aliases } of now.agents) {
    const moved = [id, ...aliases].find((name) => owners.get(name) !== id)
    if (moved !== undefined) return `${moved} moved away from ${id}`
  }
  return undefined
}
