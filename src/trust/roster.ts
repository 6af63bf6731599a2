import type { JsonForm } from '../../store/canonical.ts'
import { linkForm, bytesForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'

/** What a key may do: closed by `until`, a link to a cut, and never taken away. */
export interface Grant {
  readonly kinds: readonly string[]
  readonly streams: readonly string[]
  readonly until: CidText | undefined
}

/** One key of an agent on one machine. */
export interface AgentKey {
  readonly did: string
  readonly level: 'file' | 'agent'
  readonly machine: string
  readonly grants: readonly Grant[]
}

/** An agent, with the other names that documents may call it by and the streams that it may read. */
export interface Agent {
  readonly id: string
  readonly aliases: readonly string[]
  readonly read: readonly string[]
  readonly keys: readonly AgentKey[]
}

/** A key that decides on rosters, and who holds it. */
export interface Root {
  readonly did: string
  readonly holder: string
}

/** One version of who is trusted with what. See docs/format.md, «Roster». */
export interface Roster {
  readonly agents: readonly Agent[]
  readonly format: number
  /** 16 bytes in version 0, so that two stores never share a genesis; absent later. */
  readonly nonce: Uint8Array | undefined
  readonly prev: CidText | undefined
  readonly roots: readonly Root[]
  readonly threshold: number
  readonly version: number
}

/** The roster format that this version judges. */
export const rosterFormat = 1

/** Returns the body of a roster, in canonical form. */
export function rosterForm(roster: Roster): { [key: string]: JsonForm } {
  return {
    agents: roster.agents.map((agent) => ({
      aliases: [...agent.aliases],
      id: agent.id,
      keys: agent.keys.map(keyForm),
      read: [...agent.read],
    })),
    format: roster.format,
    ...(roster.nonce === undefined ? {} : { nonce: bytesForm(roster.nonce) }),
    prev: roster.prev === undefined ? null : linkForm(roster.prev),
    roots: roster.roots.map(({ did, holder }) => ({ did, holder })),
    threshold: roster.threshold,
    version: roster.version,
  }
}

function keyForm(key: AgentKey): JsonForm {
  return {
    did: key.did,
    grants: key.grants.map(grantForm),
    level: key.level,
    machine: key.machine,
  }
}

/** Returns a grant in canonical form; grants are sorted by its encoding. */
export function grantForm(grant: Grant): { [key: string]: JsonForm } {
  return {
    kinds: [...grant.kinds],
    streams: [...grant.streams],
    ...(grant.until === undefined ? {} : { until: linkForm(grant.until) }),
  }
}

/** A key's place in a roster. */
export interface KeyHolder {
  readonly agent: Agent
  readonly key: AgentKey
}

/** Returns every key of a roster by its did. */
export function keysOf(roster: Roster): ReadonlyMap<string, KeyHolder> {
  return new Map(
    roster.agents.flatMap((agent) => agent.keys.map((key) => [key.did, { agent, key }] as const)),
  )
}

/** Returns the cuts that close grants of a roster, each once. */
export function cutsOf({ agents }: Roster): readonly CidText[] {
  const grants = agents.flatMap(({ keys }) => keys.flatMap((key) => key.grants))
  return [...new Set(grants.flatMap(({ until }) => until ?? []))]
}

/** Returns the distinct holders among the roots of `roster` whose dids are in `signers`. */
export function holdersAmong(roster: Roster, signers: ReadonlySet<string>): ReadonlySet<string> {
  return new Set(roster.roots.filter(({ did }) => signers.has(did)).map(({ holder }) => holder))
}

/** Returns whether `text` fits one of the patterns: exact, or a prefix that ends in `*`. */
export function fitsPattern(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : pattern === text,
  )
}
