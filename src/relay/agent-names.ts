import type { Roster } from '../trust/roster.ts'

/** Returns what gives the id of the agent that a name is of; for a name that the roster does not know, that name. */
export function agentNames({ agents }: Roster): (name: string) => string {
  const ids = new Map(
    agents.flatMap(({ id, aliases }) => [id, ...aliases].map((name) => [name, id])),
  )
  return (name) => ids.get(name) ?? name
}
