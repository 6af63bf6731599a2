import type { HistoryNode } from './history-nodes.ts'
import { ownRecords } from './history-nodes.ts'
import type { Registers, RevisionJudgement } from './judgement.ts'
import type { Past, RecordChange } from './past.ts'
import { judgeRevision } from './judgement.ts'
import type { RecordFacts } from './records.ts'
import type { Register, Seen, Setting } from './register.ts'
import { historyOf, joinRegisters, noRegister } from './register.ts'
import type { AgentOf, Before } from './rights.ts'
import type { Step } from './step.ts'
import { Omission, stateRecord } from './step.ts'

/**
 * Judges the records of revisions by the latest values in what they follow. One pass over the history; a revision's
 * registers are handed on to its last child, copied for the others, and let go of then.
 *
 * @param nodes - The history, parents before children.
 * @param isJudged - Whether a revision's records are wanted.
 * @param keepsChanges - Whether every change of each record is wanted.
 * @see docs/trust.md, «Attribution»
 */
export function attribute(
  nodes: readonly HistoryNode[],
  isJudged: (node: HistoryNode) => boolean,
  agentOf: AgentOf,
  keepsChanges = false,
): readonly RevisionJudgement[] {
  const pass = new Pass(nodes, agentOf, keepsChanges)
  const judged: RevisionJudgement[] = []
  for (const node of nodes) {
    const registers = pass.take(node)
    if (isJudged(node)) judged.push(judgeRevision(node, registers, pass.past, agentOf))
    pass.leave(node, registers)
  }
  return judged
}

type HeldRecords = ReadonlyMap<string, RecordFacts | undefined>

class Pass {
  readonly #agentOf: AgentOf
  readonly #keepsChanges: boolean
  readonly #nodes: readonly HistoryNode[]
  /** Children that have not come yet, by the place of the node, as in the next two. */
  readonly #waiting: Uint32Array
  readonly #registers: (Registers | undefined)[] = []
  /** The records that a revision has, or that those have which it follows where its author does not speak. */
  readonly #held: (HeldRecords | undefined)[] = []
  #named: ReadonlyMap<string, readonly HistoryNode[]> | undefined
  /** What was said of each record so far. */
  readonly past: Map<string, Past> = new Map()

  constructor(nodes: readonly HistoryNode[], agentOf: AgentOf, keepsChanges: boolean) {
    this.#agentOf = agentOf
    this.#keepsChanges = keepsChanges
    this.#nodes = nodes
    this.#waiting = new Uint32Array(nodes.length)
    for (const { parents } of nodes) for (const { at } of parents) this.#waiting[at]! += 1
  }

  /** Returns what is known of each record once a revision has had its say. */
  take(node: HistoryNode): Registers {
    const registers = this.#join(node)
    const own = ownRecords(node)
    const before: Before = {
      agentOf: this.#agentOf,
      find: (key) => registers.get(key),
      named: (name) => this.#namesakes(name),
    }
    const steps: (readonly [string, Step])[] = []
    const speaks = node.isCovered || node.voice === 'word'
    this.#held[node.at] = speaks ? own : this.#heldBefore(node)
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
    if (node.voice === 'word') steps.push(...this.#leaveOut(before, node, own, registers))
    this.#letGo(node)
    // rights rest on what was known before: nothing changes until all is judged
    for (const [key, step] of steps) {
      registers.set(key, step.register)
      this.#remember(node, key, step)
    }
    return registers
  }

  /** Keeps the registers for the children, where there are any, and lets go of those that nobody needs any more. */
  leave(node: HistoryNode, registers: Registers): void {
    if (this.#waiting[node.at]! > 0) this.#registers[node.at] = registers
    else this.#held[node.at] = undefined
  }

  /** Returns the registers that a revision begins with: its parents', joined. */
  #join({ parents }: HistoryNode): Registers {
    const sides = parents.map((parent) => ({ parent, registers: this.#registers[parent.at]! }))
    sides.sort((a, b) => b.registers.size - a.registers.size)
    const [largest, ...others] = sides
    if (largest === undefined) return new Map()
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
    return registers
  }

  /** Lets go of what a parent's last child has taken. */
  #letGo({ parents }: HistoryNode): void {
    for (const { at } of parents) {
      this.#waiting[at]! -= 1
      if (this.#waiting[at]! > 0) continue
      this.#registers[at] = undefined
      this.#held[at] = undefined
    }
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
