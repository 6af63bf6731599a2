import type { HistoryNode } from './history.ts'
import { ownRecords } from './history-nodes.ts'
import type { RecordFacts } from './records.ts'
import { recordLists } from './records.ts'
import type { RecordVerdict, Register, Setting } from './register.ts'
import { noRegister } from './register.ts'
import type { AgentOf } from './rights.ts'
import { firmOf, isCreator } from './rights.ts'
import type { Past, RecordChange } from './past.ts'
import { changesIn, lastStated } from './past.ts'
import { isOver, lookUp } from './step.ts'

/** What a judged revision has of one record. */
export interface RecordJudgement {
  /** The record as it stands there, or where it was left out as it was set last. */
  readonly facts: RecordFacts
  /** Where it stands in the document, as a JSON pointer; undefined where it was left out. */
  readonly pointer: string | undefined
  readonly verdict: RecordVerdict
  /** The revision since which it has stood so. */
  readonly since: HistoryNode
  /** The revision that stated it first. */
  readonly first: HistoryNode
  /** How a record that was left out is missed; undefined for one that is there. */
  readonly absence: Absence | undefined
  /** Every change so far, parents before children; none where nobody asks for them. */
  readonly changes: readonly RecordChange[]
}

/**
 * How a record that was left out is missed: an open conflict or an unfinished action without its creator or owner most;
 * one that its own creator took back not at all, nor a resolved conflict, since CSAG-H-044 and CSAG-H-048 let no later
 * revision keep it.
 */
export type Absence = 'due' | 'missed' | 'noted'

/** The records of one revision, in its own order, then those that it lacks by kind and id. */
export interface RevisionJudgement {
  readonly node: HistoryNode
  readonly records: readonly RecordJudgement[]
}

/** What is known of each record at one place of the history, by its key. */
export type Registers = Map<string, Register>

/**
 * Returns what a revision's records are worth, and which it lacks.
 *
 * @param registers - What is known once it has had its say.
 * @param past - What was said of each record so far, by its key.
 * @param agentOf - Gives the agent that a name stands for.
 */
export function judgeRevision(
  node: HistoryNode,
  registers: Registers,
  past: ReadonlyMap<string, Past>,
  agentOf: AgentOf,
): RevisionJudgement {
  const own = ownRecords(node)
  const found = (node.records?.read() ?? []).flatMap((list, i) =>
    list.flatMap((facts, j) => {
      if (facts === undefined) return []
      const { key } = facts
      const register = registers.get(key) ?? noRegister
      const isTwice = own.get(key) === undefined
      const pointer = `/${recordLists[i]!.key}/${j}`
      const changes = changesIn(past.get(key))
      return { ...judgeRecord(node, facts, register, isTwice), pointer, changes }
    }),
  )
  return { node, records: [...found, ...absentRecords(registers, own, past, agentOf)] }
}

function judgeRecord(
  node: HistoryNode,
  facts: RecordFacts,
  register: Register,
  isTwice: boolean,
): Omit<RecordJudgement, 'changes' | 'pointer'> {
  const { first = node } = register
  const seen = isTwice || node.voice !== 'word' ? undefined : register.seen[0]
  const verdict = isTwice ? 'unproven' : (seen?.verdict ?? lookUp(facts, register))
  return { facts, verdict, since: seen?.since ?? node, first, absence: undefined }
}

/** What nobody ever set is missed by nobody. */
function absentRecords(
  registers: Registers,
  own: ReadonlyMap<string, unknown>,
  past: ReadonlyMap<string, Past>,
  agentOf: AgentOf,
): RecordJudgement[] {
  const found: RecordJudgement[] = []
  for (const [key, register] of registers) {
    const { seen, state, first } = register
    const [out] = seen
    if (own.has(key) || out === undefined || seen.some((one) => one.facts !== undefined)) continue
    const facts = state.findLast(isStated)?.facts ?? lastStated(past.get(key))
    if (facts === undefined || first === undefined || state.length === 0) continue
    const { since } = out
    const changes = changesIn(past.get(key))
    const absence = absenceOf(agentOf, register)
    found.push({ facts, pointer: undefined, verdict: 'dropped', since, first, absence, changes })
  }
  return found.sort((a, b) => (a.facts.key < b.facts.key ? -1 : 1))
}

function isStated({ facts }: Setting): boolean {
  return facts !== undefined
}

/** Whether those alone have left a record out whose word it was. */
function isTakenBack(agentOf: AgentOf, { origin, state }: Register): boolean {
  const creators = firmOf(origin)
  return state.every(
    ({ facts, ground, node: { author } }) =>
      facts === undefined &&
      ground === 'word' &&
      creators.some((setting) => isCreator(agentOf, setting, author)),
  )
}

function absenceOf(agentOf: AgentOf, register: Register): Absence {
  const { state } = register
  if (isOver(state) || isTakenBack(agentOf, register)) return 'due'
  return state.every((one) => one.facts !== undefined) && state.some(isOpen) ? 'missed' : 'noted'
}

const finished: readonly string[] = ['cancelled', 'completed']

function isOpen({ facts }: Setting): boolean {
  if (facts?.kind === 'conflict') return facts.status === 'open'
  return facts?.kind === 'action' && !finished.includes(facts.status)
}
