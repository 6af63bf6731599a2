import type { AgentKey, Grant, Roster } from '../trust/roster.ts'
import { keysOf } from '../trust/roster.ts'
import { givesSame, grantTexts } from './grants.ts'
import { readWords } from './read.ts'

/** Returns in words what a roster changes of the one before, one line each. */
export function changesBetween(now: Roster, next: Roster): readonly string[] {
  return [...rootLines(now, next), ...agentLines(now, next), ...keyLines(now, next)]
}

function rootLines(now: Roster, next: Roster): string[] {
  const told = ({ did, holder }: Roster['roots'][number]): string => `${holder} ${did}`
  const before = now.roots.map(told)
  const after = next.roots.map(told)
  return [
    ...after.filter((root) => !before.includes(root)).map((root) => `new root ${root}`),
    ...before.filter((root) => !after.includes(root)).map((root) => `no root any more ${root}`),
    ...(now.threshold === next.threshold
      ? []
      : [`threshold ${next.threshold}, was ${now.threshold}`]),
  ]
}

function agentLines(now: Roster, next: Roster): string[] {
  return next.agents.flatMap((agent) => {
    const before = now.agents.find(({ id }) => id === agent.id)
    const aliases = agent.aliases.filter((alias) => before?.aliases.includes(alias) !== true)
    const isNew = before === undefined ? [`new agent ${agent.id}`] : []
    // what most agents may read, everything, needs no line
    const known = JSON.stringify(before?.read ?? ['*'])
    const read =
      JSON.stringify(agent.read) === known ? [] : [`${agent.id} ${readWords(agent.read)}`]
    return [...isNew, ...aliases.map((alias) => `${agent.id} is also ${alias}`), ...read]
  })
}

function keyLines(now: Roster, next: Roster): string[] {
  const before = keysOf(now)
  return [...keysOf(next)].flatMap(([did, { agent, key }]) => {
    const old = before.get(did)?.key
    if (old === undefined)
      return [
        `new key ${did} of ${agent.id}, ${key.level} on ${key.machine}`,
        ...key.grants.map((grant) => `  ${grantLine(grant)}`),
      ]
    const lines = [...moveLines(old, key), ...grantLines(old, key)]
    return lines.length === 0
      ? []
      : [`key ${did} of ${agent.id}`, ...lines.map((line) => `  ${line}`)]
  })
}

function moveLines(old: AgentKey, key: AgentKey): string[] {
  return [
    ...(old.level === key.level ? [] : [`level ${key.level}, was ${old.level}`]),
    ...(old.machine === key.machine ? [] : [`on ${key.machine}, was on ${old.machine}`]),
  ]
}

function grantLines(old: AgentKey, key: AgentKey): string[] {
  const isIn = (grants: readonly Grant[], grant: Grant): boolean =>
    grants.some((one) => one.until === grant.until && givesSame(one, grant))
  // closed by the cut that closed its like before: that one tells
  const gone = old.grants.filter((grant) => !isIn(key.grants, grant))
  return key.grants
    .filter((grant) => !isIn(old.grants, grant) || gone.some((one) => givesSame(one, grant)))
    .map((grant) => grantLine(grant))
}

/** Returns a grant as one line. */
export function grantLine(grant: Grant): string {
  const what = grantTexts(grant).join(' ')
  return grant.until === undefined ? `may ${what}` : `may ${what} up to the cut ${grant.until}`
}
