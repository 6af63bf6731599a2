import type { HistoryNode } from './history.ts'
import { isWithin } from './history.ts'
import type { RecordFacts } from './records.ts'

/**
 * What a setting rests on: its author's word, or what is assumed since history is missing, since no key stands for the
 * record's creator, or since only a witness says so.
 */
export type Ground = 'missing' | 'nameless' | 'witness' | 'word'

/** One value that a revision has given a record's origin or state. */
export interface Setting {
  readonly node: HistoryNode
  /** The record as it stands there; undefined where it was left out. */
  readonly facts: RecordFacts | undefined
  readonly ground: Ground
}

/** What a record of a revision is worth. See docs/trust.md, «Verdicts». */
export type RecordVerdict = 'changed' | 'dropped' | 'forged' | 'proven' | 'stale' | 'unproven'

/** How a record stands in a revision. */
export interface Seen {
  /** Undefined where it was left out. */
  readonly facts: RecordFacts | undefined
  readonly verdict: RecordVerdict
  /** The revision since which it has stood so. */
  readonly since: HistoryNode
}

/** What is known of one record at one place of the history. */
export interface Register {
  /** The latest settings of the origin: those that no setting in the ancestry has replaced. */
  readonly origin: readonly Setting[]
  /** The latest settings of the state. */
  readonly state: readonly Setting[]
  /** The revision that stated it first, whoever may. */
  readonly first: HistoryNode | undefined
  /** How it stands in the revisions that end here: one, or after a fork several. */
  readonly seen: readonly Seen[]
}

/** One of two histories that meet: what is known, and whether a revision is in it. */
export interface Side {
  readonly register: Register
  readonly has: (node: HistoryNode) => boolean
}

/** Returns whether revisions are in the history that ends with `tips`; each is looked for once. */
export function historyOf(tips: readonly HistoryNode[]): (node: HistoryNode) => boolean {
  const known = new Map<HistoryNode, boolean>()
  return (node) => {
    const found = known.get(node) ?? tips.some((tip) => isWithin(node, tip))
    known.set(node, found)
    return found
  }
}

/** The register of a record that nobody has stated. */
export const noRegister: Register = { origin: [], state: [], first: undefined, seen: [] }

/** Returns what is known of a record where two histories meet. */
export function joinRegisters(a: Side, b: Side): Register {
  const origin = joinSettings(a.register.origin, a.has, b.register.origin, b.has)
  const state = joinSettings(a.register.state, a.has, b.register.state, b.has)
  const first = earlier(a.register.first, b.register.first)
  const seen = joinSeen(a.register.seen, b.register.seen)
  const { register } = a
  const isSame =
    origin === register.origin &&
    state === register.state &&
    first === register.first &&
    seen === register.seen
  return isSame ? register : { origin, state, first, seen }
}

/** One revision makes one setting of a part. A setting that the other side knows and does not count among its latest has been replaced there. */
function joinSettings(
  a: readonly Setting[],
  isInA: Side['has'],
  b: readonly Setting[],
  isInB: Side['has'],
): readonly Setting[] {
  if (a === b) return a
  const isIn = (list: readonly Setting[], one: Setting): boolean =>
    list.some(({ node }) => node === one.node)
  const ofA = a.filter((one) => isIn(b, one) || !isInB(one.node))
  const ofB = b.filter((one) => !isIn(a, one) && !isInA(one.node))
  return ofA.length === a.length && ofB.length === 0 ? a : [...ofA, ...ofB]
}

function joinSeen(a: readonly Seen[], b: readonly Seen[]): readonly Seen[] {
  const more = b.filter((one) => !a.some(({ since }) => since === one.since))
  return more.length === 0 ? a : [...a, ...more]
}

function earlier(a: HistoryNode | undefined, b: HistoryNode | undefined): HistoryNode | undefined {
  if (a === undefined || b === undefined || a === b) return a ?? b
  const isA = a.depth - b.depth || (a.entry.cid < b.entry.cid ? -1 : 1)
  return isA < 0 ? a : b
}
