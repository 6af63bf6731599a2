import type { HistoryNode } from './history.ts'
import { isWithin } from './history.ts'
import type { RecordFacts } from './records.ts'
import { recordKey } from './records.ts'
import type { Register, Setting } from './register.ts'

/** Returns the id of the agent that the roster knows by a name, or undefined when none has it. */
export type AgentOf = (name: string) => string | undefined

/** What was known before a revision: rights rest on it, never on what the revision itself says. */
export interface Before {
  readonly agentOf: AgentOf
  readonly find: (key: string) => Register | undefined
  /** Returns the revisions of a name that some author says, anywhere in the history. */
  readonly named: (name: string) => readonly HistoryNode[]
}

/** Returns whether an agent may set a record's origin to `facts`. */
export function maySetOrigin(
  { agentOf }: Before,
  author: string,
  facts: RecordFacts,
  { origin }: Register,
): boolean {
  if (agentOf(facts.createdBy) !== author) return false
  const firm = firmOf(origin)
  return firm.length === 0 || firm.some((setting) => isCreator(agentOf, setting, author))
}

/** Returns whether a setting names an agent as the record's creator. */
export function isCreator(agentOf: AgentOf, { facts }: Setting, agent: string): boolean {
  return facts !== undefined && agentOf(facts.createdBy) === agent
}

/** Returns the settings that bind others: a witness's word on a record that nobody has set binds nobody. */
export function firmOf(settings: readonly Setting[]): readonly Setting[] {
  return settings.filter(({ ground }) => ground !== 'witness')
}

/** Returns whether a revision's author may set a record's state, or leave the record out, whatever the value. */
export function maySetState(before: Before, author: string, register: Register): boolean {
  const { agentOf, find } = before
  return firmOf(register.origin).some((setting) => {
    if (isCreator(agentOf, setting, author)) return true
    const { actionRef, owner } = setting.facts!
    if (owner !== undefined) return agentOf(owner) === author
    const action =
      actionRef === undefined ? undefined : find(recordKey({ kind: 'action', id: actionRef }))
    return firmOf(action?.origin ?? []).some(({ facts }) => agentOf(facts!.owner ?? '') === author)
  })
}

/** Returns whether the value itself gives its author the right to set it. */
export function givesRight(before: Before, node: HistoryNode, facts: RecordFacts): boolean {
  const { kind, status, resolvedBy } = facts
  if (kind === 'assessment') return status === 'disputed' || status === 'superseded'
  if (kind !== 'conflict' || status !== 'resolved' || resolvedBy === undefined) return false
  if (node.entry.name === resolvedBy) return true
  return before
    .named(resolvedBy)
    .some((named) => named.author === node.author && isWithin(named, node))
}
