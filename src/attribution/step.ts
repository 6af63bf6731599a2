import type { HistoryNode } from './history.ts'
import { isWithin } from './history.ts'
import type { RecordFacts } from './records.ts'
import type { Part, Past } from './past.ts'
import type { Ground, RecordVerdict, Register, Seen, Setting } from './register.ts'
import type { Before } from './rights.ts'
import { firmOf, givesRight, isCreator, maySetOrigin, maySetState } from './rights.ts'

/** What a revision makes of one record. */
export interface Step {
  readonly register: Register
  /** The setting of the origin that the revision itself makes. */
  readonly origin: Setting | undefined
  /** The setting of the state that the revision itself makes. */
  readonly state: Setting | undefined
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
  past: Past | undefined,
): Step {
  const origin = setOrigin(before, node, facts, register, past)
  const state = setState(before, node, facts, register, origin, past)
  const verdict = worse(origin.verdict, state.verdict)
  return {
    register: {
      origin: origin.settings,
      state: state.settings,
      first: register.first ?? node,
      seen: [seenAs(register, facts, verdict, node)],
    },
    origin: origin.made,
    state: state.made,
  }
}

/** What a revision says of all records that it leaves out: the same of each. */
export class Omission {
  readonly #node: HistoryNode
  readonly #seen: readonly [Seen]
  readonly #made = new Map<Ground, readonly [Setting]>()

  constructor(node: HistoryNode) {
    this.#node = node
    this.#seen = [{ facts: undefined, verdict: 'dropped', since: node }]
  }

  /** Returns what a revision whose author speaks makes of a record that it leaves out. */
  leaveOut(before: Before, register: Register): Step {
    const node = this.#node
    const { origin, state, first } = register
    const may = maySetState(before, node.author, register)
    const isNew = !state.every(isOut) && !isOver(state) && (may || node.isCut)
    const made = isNew ? this.#setting(may ? 'word' : 'missing') : undefined
    const seen = state.some(isOut) ? [seenAs(register, undefined, 'dropped', node)] : this.#seen
    return {
      register: { origin, state: made ?? state, first, seen },
      origin: undefined,
      state: made?.[0],
    }
  }

  #setting(ground: Ground): readonly [Setting] {
    const known = this.#made.get(ground) ?? [{ node: this.#node, facts: undefined, ground }]
    this.#made.set(ground, known)
    return known
  }
}

function isOut({ facts }: Setting): boolean {
  return facts === undefined
}

/** Returns whether a conflict is resolved by all that was said last: later revisions can't keep it. */
export function isOver(state: readonly Setting[]): boolean {
  return state.every(({ facts }) => facts?.kind === 'conflict' && facts.status === 'resolved')
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
  past: Past | undefined,
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
  const wasSet = wasSetBefore(past, node, facts, 'origin')
  return { settings: origin, verdict: wasSet ? 'stale' : 'forged' }
}

function setState(
  before: Before,
  node: HistoryNode,
  facts: RecordFacts,
  register: Register,
  origin: Outcome,
  past: Past | undefined,
): Outcome {
  const { state } = register
  if (firmOf(state).length === 0) {
    // the first state comes with the first origin, and is worth what that is worth
    const { made, settings, verdict } = origin
    if (made === undefined) return { settings: state, verdict }
    return { settings: settings.length === 1 ? settings : [made], made, verdict }
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
  const wasSet = wasSetBefore(past, node, facts, 'state')
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
  past: Past | undefined,
  node: HistoryNode,
  facts: RecordFacts,
  part: Part,
): boolean {
  for (let at = past; at !== undefined; at = at.before) {
    const one = at[part]
    if (one === undefined || one.ground === 'witness') continue
    if (one.facts?.[part] === facts[part] && isWithin(one.node, node)) return true
  }
  return false
}

const order: readonly RecordVerdict[] = ['proven', 'unproven', 'changed', 'stale', 'forged']

function worse(a: RecordVerdict, b: RecordVerdict): RecordVerdict {
  return order.indexOf(a) >= order.indexOf(b) ? a : b
}
