import type { HistoryNode } from './history-nodes.ts'
import { ownRecords } from './history-nodes.ts'
import type { Past, Registers, RevisionJudgement } from './judgement.ts'
import { judgeRevision } from './judgement.ts'
import type { RecordFacts } from './records.ts'
import type { Register, Seen, Setting } from './register.ts'
import { historyOf, joinRegisters, noRegister } from './register.ts'
import type { AgentOf, Before } from './rights.ts'
import type { Part, Step } from './step.ts'
import { leaveOut, stateRecord } from './step.ts'

/**
 * Judges the records of revisions by the latest values in what they follow. One pass over the history; a revision's
 * registers are handed on to its last child, copied for the others, and let go of then.
 *
 * @param history - Parents before children.
 * @param isJudged - Whether a revision's records are wanted.
 * @see docs/trust.md, «Attribution»
 */
export function attribute(
  history: Iterable<HistoryNode>,
  isJudged: (node: HistoryNode) => boolean,
  agentOf: AgentOf,
): readonly RevisionJudgement[] {
  const nodes = [...history]
  const pass = new Pass(nodes, agentOf)
  const judged: RevisionJudgement[] = []
  for (const node of nodes) {
    const registers = pass.take(node)
    if (isJudged(node)) judged.push(judgeRevision(node, registers, pass.past, agentOf))
    pass.leave(node, registers)
  }
  return judged
}

class Pass {
  readonly #agentOf: AgentOf
  /** Children that have not come yet. */
  readonly #waiting = new Map<HistoryNode, number>()
  readonly #named = new Map<string, HistoryNode[]>()
  readonly #registers = new Map<HistoryNode, Registers>()
  /** The records that a revision has, or that those have which it follows where its author does not speak. */
  readonly #held = new Map<HistoryNode, ReadonlyMap<string, RecordFacts | undefined>>()
  /** What was said of each record so far. */
  readonly past: Map<string, Past> = new Map()

  constructor(nodes: readonly HistoryNode[], agentOf: AgentOf) {
    this.#agentOf = agentOf
    for (const node of nodes) {
      for (const parent of node.parents)
        this.#waiting.set(parent, (this.#waiting.get(parent) ?? 0) + 1)
      const { name = '' } = node.entry
      const namesakes = this.#named.get(name)
      if (node.voice !== 'word') continue
      if (namesakes === undefined) this.#named.set(name, [node])
      else namesakes.push(node)
    }
  }

  /** Returns what is known of each record once a revision has had its say. */
  take(node: HistoryNode): Registers {
    const registers = this.#join(node)
    const own = ownRecords(node)
    const before: Before = {
      agentOf: this.#agentOf,
      find: (key) => registers.get(key),
      named: (name) => this.#named.get(name) ?? [],
    }
    const steps: (readonly [string, Step])[] = []
    if (node.isCovered || node.voice === 'word') this.#held.set(node, own)
    else this.#held.set(node, this.#heldBefore(node))
    for (const [key, facts] of own) {
      if (facts === undefined) continue
      const register = registers.get(key) ?? noRegister
      if (node.isCovered) steps.push([key, covered(node, facts)])
      else if (node.voice === 'word') {
        const pastOf = (part: Part): readonly Setting[] => this.past.get(key)?.[part] ?? []
        steps.push([key, stateRecord(before, node, facts, register, pastOf)])
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
    if (this.#waiting.has(node)) this.#registers.set(node, registers)
    else this.#held.delete(node)
  }

  /** Returns the registers that a revision begins with: its parents', joined. */
  #join({ parents }: HistoryNode): Registers {
    const sides = parents.map((parent) => ({ parent, registers: this.#registers.get(parent)! }))
    sides.sort((a, b) => b.registers.size - a.registers.size)
    const [largest, ...others] = sides
    if (largest === undefined) return new Map()
    const isLast = this.#waiting.get(largest.parent) === 1
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
    for (const parent of parents) {
      const left = this.#waiting.get(parent)! - 1
      this.#waiting.set(parent, left)
      if (left > 0) continue
      this.#registers.delete(parent)
      this.#held.delete(parent)
    }
  }

  #heldBefore({ parents }: HistoryNode): ReadonlyMap<string, RecordFacts | undefined> {
    const [only, ...others] = parents.map((parent) => this.#held.get(parent)!)
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
    for (const parent of node.parents) {
      for (const key of this.#held.get(parent)!.keys()) {
        const register = registers.get(key)
        if (own.has(key) || steps.has(key) || register === undefined) continue
        if (register.seen.some(({ facts }) => facts !== undefined))
          steps.set(key, leaveOut(before, node, register))
      }
    }
    return [...steps]
  }

  #remember(node: HistoryNode, key: string, { register, set }: Step): void {
    const parts = (['origin', 'state'] as const).filter((part) => set[part] !== undefined)
    const seen = register.seen.find(({ since }) => since === node)
    const isFault = seen !== undefined && !['proven', 'unproven'].includes(seen.verdict)
    if (parts.length === 0 && !isFault) return
    const past = this.past.get(key) ?? { origin: [], state: [], changes: [] }
    this.past.set(key, past)
    for (const part of parts) past[part].push(set[part]!)
    if (set.origin?.ground === 'witness') return
    const [{ facts, verdict }] = register.seen as [Seen]
    past.changes.push({ node, facts, verdict, parts })
  }
}

/** What an earlier certificate covers was proven then, each record of it. */
function covered(node: HistoryNode, facts: RecordFacts): Step {
  const setting: Setting = { node, facts, ground: 'word' }
  const seen: Seen = { facts, verdict: 'proven', since: node }
  const register = { origin: [setting], state: [setting], first: node, seen: [seen] }
  return { register, set: { origin: setting, state: setting } }
}

function heard(node: HistoryNode, facts: RecordFacts, { first, seen }: Register): Step {
  const setting: Setting = { node, facts, ground: 'witness' }
  const register = { origin: [setting], state: [setting], first, seen }
  return { register, set: { origin: setting, state: setting } }
}

function isHearsay({ ground }: Setting): boolean {
  return ground === 'witness'
}
