import type { HistoryNode } from './history.ts'
import { isWithin } from './history.ts'
import { ownRecords } from './history-nodes.ts'
import type { Registers, RevisionJudgement } from './judgement.ts'
import type { Past, RecordChange } from './past.ts'
import { judgeRevision } from './judgement.ts'
import type { RecordFacts } from './records.ts'
import type { Register, Seen, Setting } from './register.ts'
import { historyOf, joinRegisters, noRegister } from './register.ts'
import type { TakenBack } from './taken-back.ts'
import { TakenBackRecords } from './taken-back.ts'
import type { AgentOf, Before } from './rights.ts'
import type { Step } from './step.ts'
import { Omission, stateRecord } from './step.ts'

/**
 * Judges the records of revisions by the latest values in what they follow. One pass over the history; a revision's
 * registers are handed on to its last child, copied for the others, and let go of then.
 *
 * @param nodes - The history, parents before children.
 * @param isJudged - Whether a revision's records are wanted.
 * @see docs/trust.md, «Attribution»
 */
export function attribute(
  nodes: readonly HistoryNode[],
  isJudged: (node: HistoryNode) => boolean,
  agentOf: AgentOf,
  options: AttributeOptions = {},
): readonly RevisionJudgement[] {
  const pass = new Pass(nodes, agentOf, options)
  const judged: RevisionJudgement[] = []
  for (const node of nodes) {
    const line = pass.take(node)
    if (isJudged(node)) judged.push(judgeRevision(node, line.registers, pass.past, agentOf))
    pass.leave(node, line)
  }
  return judged
}

/** What is wanted of the records. */
export interface AttributeOptions {
  /** Every change of each record. */
  readonly keepsChanges?: boolean
  /** Not the records that are left out in all due form: most of these take hardly any room then. */
  readonly leavesOutDue?: boolean
}

/** What is known at one place of the history. */
interface Line {
  readonly registers: Registers
  /** How many records more are known, which are put away. */
  away: number
}

/** So many registers are looked through at once, at least. */
const fewRegisters = 8

type HeldRecords = ReadonlyMap<string, RecordFacts | undefined>

class Pass {
  readonly #agentOf: AgentOf
  readonly #keepsChanges: boolean
  readonly #nodes: readonly HistoryNode[]
  /** Children that have not come yet, by the place of the node. */
  readonly #waiting: Uint32Array
  /** What is known where children are to come. */
  readonly #live = new Map<HistoryNode, Line>()
  /** Records that are put away: known in each line that comes after they were taken back, and in no line's registers. */
  readonly #takenBack: TakenBackRecords | undefined
  /** The registers that were left when records were put away last. */
  #left = 0
  /** The records that a revision has, or that those have which it follows where its author does not speak; by place. */
  readonly #held: (HeldRecords | undefined)[] = []
  #named: ReadonlyMap<string, readonly HistoryNode[]> | undefined
  /** What was said of each record so far. */
  readonly past: Map<string, Past> = new Map()

  constructor(
    nodes: readonly HistoryNode[],
    agentOf: AgentOf,
    { keepsChanges = false, leavesOutDue = false }: AttributeOptions,
  ) {
    this.#agentOf = agentOf
    this.#keepsChanges = keepsChanges
    this.#takenBack = leavesOutDue ? new TakenBackRecords(nodes) : undefined
    this.#nodes = nodes
    this.#waiting = new Uint32Array(nodes.length)
    for (const { parents } of nodes) for (const { at } of parents) this.#waiting[at]! += 1
  }

  /** Returns what is known of each record once a revision has had its say. */
  take(node: HistoryNode): Line {
    const line = this.#join(node)
    const { registers } = line
    const own = ownRecords(node)
    for (const key of own.keys()) this.#bringBack(key, node, line)
    const before: Before = {
      agentOf: this.#agentOf,
      find: (key) => registers.get(key) ?? this.#findTakenBack(key, node)?.register,
      named: (name) => this.#namesakes(name),
    }
    const speaks = node.isCovered || node.voice === 'word'
    this.#held[node.at] = speaks ? own : this.#heldBefore(node)
    const steps = this.#state(before, node, own, registers)
    if (node.voice === 'word') steps.push(...this.#leaveOut(before, node, own, registers))
    this.#letGo(node)
    // rights rest on what was known before: nothing changes until all is judged
    for (const [key, step] of steps) {
      registers.set(key, step.register)
      this.#remember(node, key, step)
    }
    return line
  }

  /** Keeps the registers for the children, where there are any, and lets go of those that nobody needs any more. */
  leave(node: HistoryNode, line: Line): void {
    if (this.#waiting[node.at]! > 0) {
      this.#putAway(line)
      this.#live.set(node, line)
    } else this.#held[node.at] = undefined
  }

  /** Returns the registers that a revision begins with: its parents', joined. */
  #join({ parents }: HistoryNode): Line {
    const sides = parents.map((parent) => ({ parent, ...this.#live.get(parent)! }))
    sides.sort((a, b) => b.registers.size + b.away - a.registers.size - a.away)
    const [largest, ...others] = sides
    if (largest === undefined) return { registers: new Map(), away: 0 }
    const isLast = this.#waiting[largest.parent.at] === 1
    const registers = isLast ? largest.registers : new Map(largest.registers)
    const tips = [largest.parent]
    for (const other of others) {
      const [has, otherHas] = [historyOf([...tips]), historyOf([other.parent])]
      for (const [key, register] of other.registers) {
        const known = registers.get(key)
        if (known === register) continue
        const joined =
          known === undefined
            ? register
            : joinRegisters({ register: known, has }, { register, has: otherHas })
        registers.set(key, joined)
      }
      tips.push(other.parent)
    }
    // records are put away where one line goes on alone: those of two lines are the same, or one has none
    return { registers, away: Math.max(...sides.map(({ away }) => away)) }
  }

  /** Lets go of what a parent's last child has taken. */
  #letGo({ parents }: HistoryNode): void {
    for (const parent of parents) {
      const { at } = parent
      this.#waiting[at]! -= 1
      if (this.#waiting[at]! > 0) continue
      this.#live.delete(parent)
      this.#held[at] = undefined
    }
  }

  #findTakenBack(key: string, node: HistoryNode): TakenBack | undefined {
    const found = this.#takenBack?.find(key)
    return found !== undefined && isWithin(found.last, node) ? found : undefined
  }

  /** Puts records away that were stated once and taken back, where one line alone goes on and has grown. */
  #putAway(line: Line): void {
    const { registers } = line
    if (this.#takenBack === undefined || this.#live.size > 0) return
    if (registers.size < 2 * this.#left + fewRegisters) return
    for (const [key, register] of registers) {
      if (!this.#takenBack.add(key, register, this.past.get(key), this.#agentOf)) continue
      registers.delete(key)
      this.past.delete(key)
      line.away += 1
    }
    this.#left = registers.size
  }

  /** Gives a record that was put away back to all lines that know of it: one of them has something to say. */
  #bringBack(key: string, node: HistoryNode, line: Line): void {
    const found = line.registers.has(key) ? undefined : this.#takenBack?.find(key)
    if (found === undefined) return
    const lines = [...this.#live].filter(([, { registers }]) => registers !== line.registers)
    for (const [tip, known] of [...lines, [node, line] as const]) {
      if (!isWithin(found.last, tip)) continue
      known.registers.set(key, found.register)
      known.away -= 1
    }
    this.past.set(key, found.past)
    this.#takenBack?.delete(key)
  }

  /** Returns the revisions of a name that some author says; few records ask for any. */
  #namesakes(name: string): readonly HistoryNode[] {
    this.#named ??= byName(this.#nodes.filter(({ voice }) => voice === 'word'))
    return this.#named.get(name) ?? []
  }

  #heldBefore({ parents }: HistoryNode): HeldRecords {
    const [only, ...others] = parents.map(({ at }) => this.#held[at]!)
    if (only === undefined) return new Map()
    return others.length === 0 ? only : new Map([only, ...others].flatMap((held) => [...held]))
  }

  #state(
    before: Before,
    node: HistoryNode,
    own: HeldRecords,
    registers: Registers,
  ): (readonly [string, Step])[] {
    const steps: (readonly [string, Step])[] = []
    for (const [key, facts] of own) {
      if (facts === undefined) continue
      const register = registers.get(key) ?? noRegister
      if (node.isCovered) steps.push([key, covered(node, facts)])
      else if (node.voice === 'word') {
        steps.push([key, stateRecord(before, node, facts, register, this.past.get(key))])
      } else if (node.voice === 'witness' && register.origin.every(isHearsay)) {
        steps.push([key, heard(node, facts, register)])
      }
    }
    return steps
  }

  #leaveOut(
    before: Before,
    node: HistoryNode,
    own: ReadonlyMap<string, unknown>,
    registers: Registers,
  ): (readonly [string, Step])[] {
    const steps = new Map<string, Step>()
    const omission = new Omission(node)
    for (const parent of node.parents) {
      for (const key of this.#held[parent.at]!.keys()) {
        const register = registers.get(key)
        if (own.has(key) || steps.has(key) || register === undefined) continue
        if (register.seen.some(({ facts }) => facts !== undefined))
          steps.set(key, omission.leaveOut(before, register))
      }
    }
    return [...steps]
  }

  #remember(node: HistoryNode, key: string, step: Step): void {
    const { origin, state } = step
    const change = this.#keepsChanges ? changeOf(node, step) : undefined
    if (origin === undefined && state === undefined && change === undefined) return
    this.past.set(key, { origin, state, change, before: this.past.get(key) })
  }
}

/** Returns what a revision changes of a record; what a witness says changes nothing. */
function changeOf(node: HistoryNode, step: Step): RecordChange | undefined {
  const parts = (['origin', 'state'] as const).filter((part) => step[part] !== undefined)
  const all = step.register.seen
  const seen = all.find(({ since }) => since === node)
  const isFault = seen !== undefined && !['proven', 'unproven'].includes(seen.verdict)
  if ((parts.length === 0 && !isFault) || step.origin?.ground === 'witness') return undefined
  const [{ facts, verdict }] = all as [Seen]
  return { node, facts, verdict, parts }
}

function byName(nodes: readonly HistoryNode[]): ReadonlyMap<string, readonly HistoryNode[]> {
  const named = new Map<string, HistoryNode[]>()
  for (const node of nodes) {
    const { name = '' } = node.entry
    const namesakes = named.get(name)
    if (namesakes === undefined) named.set(name, [node])
    else namesakes.push(node)
  }
  return named
}

/** What an earlier certificate covers was proven then, each record of it. */
function covered(node: HistoryNode, facts: RecordFacts): Step {
  const setting: Setting = { node, facts, ground: 'word' }
  const seen: Seen = { facts, verdict: 'proven', since: node }
  const settings = [setting]
  const register = { origin: settings, state: settings, first: node, seen: [seen] }
  return { register, origin: setting, state: setting }
}

function heard(node: HistoryNode, facts: RecordFacts, { first, seen }: Register): Step {
  const setting: Setting = { node, facts, ground: 'witness' }
  const settings = [setting]
  const register = { origin: settings, state: settings, first, seen }
  return { register, origin: setting, state: setting }
}

function isHearsay({ ground }: Setting): boolean {
  return ground === 'witness'
}
