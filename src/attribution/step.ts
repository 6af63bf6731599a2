import type { HistoryNode } from './history-nodes.ts'
import { isWithin } from './history-nodes.ts'
import type { RecordFacts } from './records.ts'
import type { Ground, RecordVerdict, Register, Seen, Setting } from './register.ts'
import type { Before } from './rights.ts'
import { firmOf, givesRight, isCreator, maySetOrigin, maySetState } from './rights.ts'

/** The part of a record that a setting gives. */
export type Part = 'origin' | 'state'

/** Returns every setting of a part of the record so far, replaced or not. */
export type PastOf = (part: Part) => readonly Setting[]

/** What a revision makes of one record. */
export interface Step {
  readonly register: Register
  /** Settings that the revision itself makes, by part. */
  readonly set: Readonly<Partial<Record<Part, Setting>>>
}

/** What became of one part. */
interface Outcome {
  readonly settings: readonly Setting[]
  readonly verdict: RecordVerdict
  readonly made?: Setting
}

/** Returns what a revision whose author speaks makes of a record that it states. */
export function stateRecord(
  before: Before,
  node: HistoryNode,
  facts: RecordFacts,
  register: Register,
  pastOf: PastOf,
): Step {
  const origin = setOrigin(before, node, facts, register, pastOf)
  const state = setState(before, node, facts, register, origin, pastOf)
  const verdict = worse(origin.verdict, state.verdict)
  return {
    register: {
      origin: origin.settings,
      state: state.settings,
      first: register.first ?? node,
      seen: [seenAs(register, facts, verdict, node)],
    },
    set: {
      ...(origin.made === undefined ? {} : { origin: origin.made }),
      ...(state.made === undefined ? {} : { state: state.made }),
    },
  }
}

/** Returns what a revision whose author speaks makes of a record that it leaves out. */
export function leaveOut(before: Before, node: HistoryNode, register: Register): Step {
  const { state } = register
  const isOut = (one: Setting): boolean => one.facts === undefined
  const may = maySetState(before, node.author, register)
  const isNew = !state.every(isOut) && !isOver(state) && (may || node.isCut)
  const made: Setting | undefined = isNew
    ? { node, facts: undefined, ground: may ? 'word' : 'missing' }
    : undefined
  return {
    register: {
      ...register,
      state: made === undefined ? state : [made],
      seen: [state.some(isOut) ? seenAs(register, undefined, 'dropped', node) : droppedBy(node)],
    },
    set: made === undefined ? {} : { state: made },
  }
}

/** Returns whether a conflict is resolved by all that was said last: later revisions can't keep it. */
export function isOver(state: readonly Setting[]): boolean {
  return state.every(({ facts }) => facts?.kind === 'conflict' && facts.status === 'resolved')
}

function droppedBy(node: HistoryNode): Seen {
  return { facts: undefined, verdict: 'dropped', since: node }
}

/** Returns what a record is worth in a document whose author does not speak for it: nobody is accused. */
export function lookUp(facts: RecordFacts, { origin, state }: Register): RecordVerdict {
  const verdicts = [judgeMatch(origin, facts, 'origin'), judgeMatch(state, facts, 'state')]
  return verdicts.every((verdict) => verdict === 'proven') ? 'proven' : 'unproven'
}

/** A fault has stood since it came in, not since it was last carried along. */
function seenAs(
  { seen }: Register,
  facts: RecordFacts | undefined,
  verdict: RecordVerdict,
  node: HistoryNode,
): Seen {
  return (
    seen.find((one) => isSame(one.facts, facts) && one.verdict === verdict) ?? {
      facts,
      verdict,
      since: node,
    }
  )
}

function isSame(a: RecordFacts | undefined, b: RecordFacts | undefined): boolean {
  return a?.origin === b?.origin && a?.state === b?.state
}

function setOrigin(
  before: Before,
  node: HistoryNode,
  facts: RecordFacts,
  register: Register,
  pastOf: PastOf,
): Outcome {
  const { origin } = register
  if (maySetOrigin(before, node.author, facts, register)) {
    if (isSettled(origin, facts, 'origin')) return { settings: origin, verdict: 'proven' }
    const left = firmOf(origin).filter((one) => !isCreator(before.agentOf, one, node.author))
    return setting(node, facts, 'word', left)
  }
  if (node.isCut) return setting(node, facts, 'missing')
  const match = judgeMatch(origin, facts, 'origin')
  if (match !== undefined) return { settings: origin, verdict: match }
  if (isNameless(before, origin, facts)) return setting(node, facts, 'nameless')
  const wasSet = wasSetBefore(pastOf('origin'), node, facts, 'origin')
  return { settings: origin, verdict: wasSet ? 'stale' : 'forged' }
}

function setState(
  before: Before,
  node: HistoryNode,
  facts: RecordFacts,
  register: Register,
  origin: Outcome,
  pastOf: PastOf,
): Outcome {
  const { state } = register
  if (firmOf(state).length === 0) {
    // the first state comes with the first origin, and is worth what that is worth
    const { made, verdict } = origin
    if (made === undefined) return { settings: state, verdict }
    return setting(node, facts, made.ground)
  }
  const may = maySetState(before, node.author, register) || givesRight(before, node, facts)
  if (may) {
    if (isSettled(state, facts, 'state')) return { settings: state, verdict: 'proven' }
    return setting(node, facts, 'word')
  }
  if (node.isCut) return setting(node, facts, 'missing')
  const match = judgeMatch(state, facts, 'state')
  if (match !== undefined) return { settings: state, verdict: match }
  const firm = firmOf(register.origin)
  if (firm.every(({ ground }) => ground === 'nameless')) return setting(node, facts, 'nameless')
  const wasSet = wasSetBefore(pastOf('state'), node, facts, 'state')
  return { settings: state, verdict: wasSet ? 'stale' : 'changed' }
}

function setting(
  node: HistoryNode,
  facts: RecordFacts,
  ground: Ground,
  left: readonly Setting[] = [],
): Outcome {
  const made = { node, facts, ground }
  return { settings: [...left, made], made, verdict: ground === 'word' ? 'proven' : 'unproven' }
}

function isSettled(settings: readonly Setting[], facts: RecordFacts, part: Part): boolean {
  return (
    settings.length > 0 &&
    settings.every((one) => one.ground === 'word' && one.facts?.[part] === facts[part])
  )
}

/** Returns what a value is worth that is among the latest; undefined when it is not. */
function judgeMatch(
  settings: readonly Setting[],
  facts: RecordFacts,
  part: Part,
): 'proven' | 'unproven' | undefined {
  const isEqual = (one: Setting): boolean => one.facts?.[part] === facts[part]
  const equals = settings.filter(isEqual)
  if (equals.length === 0) return undefined
  const isDoubtful = settings.some((one) => one.ground === 'missing' && !isEqual(one))
  return !isDoubtful && equals.some(({ ground }) => ground === 'word') ? 'proven' : 'unproven'
}

/** Nobody could have signed for such a creator, and nobody's word is altered as long as the name stays. */
function isNameless(
  { agentOf }: Before,
  origin: readonly Setting[],
  { createdBy }: RecordFacts,
): boolean {
  if (agentOf(createdBy) !== undefined) return false
  return firmOf(origin).every(
    ({ ground, facts }) => ground === 'nameless' && facts?.createdBy === createdBy,
  )
}

function wasSetBefore(
  past: readonly Setting[],
  node: HistoryNode,
  facts: RecordFacts,
  part: Part,
): boolean {
  return firmOf(past).some((one) => one.facts?.[part] === facts[part] && isWithin(one.node, node))
}

const order: readonly RecordVerdict[] = ['proven', 'unproven', 'changed', 'stale', 'forged']

function worse(a: RecordVerdict, b: RecordVerdict): RecordVerdict {
  return order.indexOf(a) >= order.indexOf(b) ? a : b
}
