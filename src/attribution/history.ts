import { CidTable } from '../../store/cid-table.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import type { LoadedGraph } from '../graph/loaded.ts'
import { Numbers } from '../kernel/numbers.ts'
import { TextNumbers } from '../kernel/text-numbers.ts'
import type { KeptRecords } from './records.ts'

/** Whether a node's author says what its document says: with a valid entry, as a witness only, or not at all. */
export type Voice = 'none' | 'witness' | 'word'

/** What a node is made of. */
export interface NodeParts {
  readonly entry: VerifiedEntry
  readonly voice: Voice
  /** The deepest first. */
  readonly parents: readonly HistoryNode[]
  readonly isCut: boolean
  readonly isCovered: boolean
  /** Undefined where its document is no envelope. */
  readonly records: KeptRecords | undefined
}

/** A revision as attribution sees it: one object each, whose fields lie in the columns of its history. */
export class HistoryNode {
  /** Its place in the history, from 0 on. */
  readonly at: number
  readonly #history: History

  constructor(history: History, at: number) {
    this.#history = history
    this.at = at
  }

  /** The entry that names the node; of those that count, where there are any. */
  get entry(): VerifiedEntry {
    return this.#history.entryOf(this.at)
  }

  get author(): string {
    return this.#history.authorOf(this.at)
  }

  get voice(): Voice {
    return this.#history.voiceOf(this.at)
  }

  get parents(): readonly HistoryNode[] {
    return this.#history.parentsOf(this.at)
  }

  /** History behind it is missing. */
  get isCut(): boolean {
    return this.#history.isCut(this.at)
  }

  /** An earlier certificate covers it with all that it follows, which was proven then. */
  get isCovered(): boolean {
    return this.#history.isCovered(this.at)
  }

  /** Undefined where its document is no envelope. */
  get records(): KeptRecords | undefined {
    return this.#history.recordsOf(this.at)
  }

  /** 1 + the largest depth of its parents; 1 for a first. */
  get depth(): number {
    return this.#history.depthOf(this.at)
  }

  /** 1 + the largest height of its children; 1 for a last. Of nodes that came last it is known once `end` was called. */
  get height(): number {
    return this.#history.heightOf(this.at)
  }

  /** The first of its line: a line is nodes without forks and merges, each the one parent of the next. */
  get first(): HistoryNode {
    return this.#history.firstOf(this.at)
  }
}

const voices: readonly Voice[] = ['none', 'witness', 'word']
const voiceBits = 3
const cutBit = 4
const coveredBit = 8

/** The nodes of a history in columns of numbers, about 180 bytes each with what finds them, half of it outside of the heap. */
export class History {
  readonly #graph: LoadedGraph
  /** The entries that name nodes. */
  readonly names: CidTable = new CidTable()
  readonly #nodes: HistoryNode[] = []
  readonly #records: (KeptRecords | undefined)[] = []
  readonly #entries = new Numbers()
  readonly #authors = new Numbers()
  readonly #texts = new TextNumbers()
  readonly #traits = new Numbers()
  readonly #depths = new Numbers()
  readonly #heights = new Numbers()
  readonly #firsts = new Numbers()
  /** The last node of each line, by its first. */
  readonly #lasts = new Numbers()
  /** Where the parents of each node end in `links`. */
  readonly #ends = new Numbers()
  readonly #links = new Numbers()

  constructor(graph: LoadedGraph) {
    this.#graph = graph
  }

  /** Parents before children. */
  get nodes(): readonly HistoryNode[] {
    return this.#nodes
  }

  /** Adds a node whose parents are there. */
  add({ entry, voice, parents, isCut, isCovered, records }: NodeParts): HistoryNode {
    const node = new HistoryNode(this, this.#nodes.length)
    const { at } = node
    this.#nodes.push(node)
    this.#records.push(records)
    this.#entries.push(this.names.add(entry.cid))
    this.#authors.push(this.#texts.add(entry.author))
    this.#traits.push(voices.indexOf(voice) | (isCut ? cutBit : 0) | (isCovered ? coveredBit : 0))
    this.#depths.push(1 + parents.reduce((most, { depth }) => Math.max(most, depth), 0))
    this.#heights.push(1)
    for (const parent of parents) this.#links.push(parent.at)
    this.#ends.push(this.#links.size)
    const first = this.#goesOn(parents) ?? at
    this.#firsts.push(first)
    this.#lasts.set(first, at)
    return node
  }

  /** Says that all nodes are there: now their heights are known. */
  end(): void {
    for (let at = this.#nodes.length - 1; at >= 0; at--) {
      const height = this.#heights.at(at) + 1
      for (const parent of this.parentsOf(at))
        if (parent.height < height) this.#heights.set(parent.at, height)
    }
  }

  entryOf(at: number): VerifiedEntry {
    return this.#graph.entries.get(this.names.at(this.#entries.at(at)))!
  }

  authorOf(at: number): string {
    return this.#texts.at(this.#authors.at(at))
  }

  voiceOf(at: number): Voice {
    return voices[this.#traits.at(at) & voiceBits]!
  }

  isCut(at: number): boolean {
    return (this.#traits.at(at) & cutBit) > 0
  }

  isCovered(at: number): boolean {
    return (this.#traits.at(at) & coveredBit) > 0
  }

  parentsOf(at: number): readonly HistoryNode[] {
    const parents: HistoryNode[] = []
    const end = this.#ends.at(at)
    for (let link = at === 0 ? 0 : this.#ends.at(at - 1); link < end; link++)
      parents.push(this.#nodes[this.#links.at(link)]!)
    return parents
  }

  recordsOf(at: number): KeptRecords | undefined {
    return this.#records[at]
  }

  depthOf(at: number): number {
    return this.#depths.at(at)
  }

  heightOf(at: number): number {
    return this.#heights.at(at)
  }

  firstOf(at: number): HistoryNode {
    return this.#nodes[this.#firsts.at(at)]!
  }

  /** Returns the first of the line that an only parent ends: its first child goes on with the line. */
  #goesOn([parent, ...others]: readonly HistoryNode[]): number | undefined {
    if (parent === undefined || others.length > 0) return undefined
    const first = this.#firsts.at(parent.at)
    return this.#lasts.at(first) === parent.at ? first : undefined
  }
}

/**
 * Returns whether `above` is `node` or one that it follows. Whole lines are passed in one step, and no way is gone that
 * depth or height rule out.
 */
export function isWithin(above: HistoryNode, node: HistoryNode): boolean {
  const { depth, first, height } = above
  const mayFollow = (at: HistoryNode): boolean =>
    at === above || (at.depth > depth && at.height < height)
  const seen = new Set<HistoryNode>()
  const waiting = mayFollow(node) ? [node] : []
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const line = at.first
    if (line === first && at.depth >= depth) return true
    // a line is come to at its end or where it forks: what is before its first is the same
    if (seen.has(line)) continue
    seen.add(line)
    for (const parent of line.parents) if (mayFollow(parent)) waiting.push(parent)
  }
  return false
}
