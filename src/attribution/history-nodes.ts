import type { CidText } from '../../store/cid-text.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import type { LoadedGraph } from '../graph/loaded.ts'
import type { Node } from '../graph/nodes.ts'
import { nodeTable } from '../graph/nodes.ts'
import type { KeptRecords, RecordFacts } from './records.ts'

/** Whether a node's author says what its document says: with a valid entry, as a witness only, or not at all. */
export type Voice = 'none' | 'witness' | 'word'

/** A revision as attribution sees it. */
export interface HistoryNode {
  /** The entry that names the node; of those that count, where there are any. */
  readonly entry: VerifiedEntry
  readonly author: string
  /** Its place in the history, from 0 on. */
  readonly at: number
  readonly voice: Voice
  readonly parents: readonly HistoryNode[]
  /** History behind it is missing. */
  readonly isCut: boolean
  /** An earlier certificate covers it with all that it follows, which was proven then. */
  readonly isCovered: boolean
  /** Undefined where its document is no envelope. */
  readonly records: KeptRecords | undefined
  /** 1 + the largest depth of its parents; 1 for a first. */
  readonly depth: number
  /** 1 + the largest height of its children; 1 for a last. */
  height: number
  /** Nodes of one line without forks and merges share one. */
  readonly run: Run
}

/** A line of nodes, each the one parent of the next. */
export interface Run {
  first: HistoryNode
  last: HistoryNode
}

/** The nodes of a history. */
export interface NodeHistory {
  /** Parents before children. */
  readonly nodes: readonly HistoryNode[]
  /** Returns the node that an entry is of; undefined when it is none of the history's. */
  readonly find: (cid: CidText) => HistoryNode | undefined
}

/** Returns the nodes that `starts` are of, with all that they follow. */
export function historyNodes(
  graph: LoadedGraph,
  starts: readonly CidText[],
  isValid: (entry: VerifiedEntry) => boolean,
): NodeHistory {
  const slots = slotsOf(graph)
  const find = (cid: CidText): HistoryNode | undefined => slots.get(cid)?.made
  const nodes: HistoryNode[] = []
  for (const start of starts) {
    const path = [slots.get(start)].filter((slot) => slot !== undefined)
    for (let slot = path.at(-1); slot !== undefined; slot = path.at(-1)) {
      if (slot.drawn !== undefined) {
        path.pop()
        if (slot.made !== undefined) continue
        slot.made = makeNode(slot.drawn, graph, find, nodes.length)
        slot.node = undefined
        slot.drawn = used
        nodes.push(slot.made)
        continue
      }
      slot.drawn = drawnOf(slot.node!, graph, isValid)
      for (const link of slot.drawn.links) {
        const parent = slots.get(link)
        if (parent !== undefined && parent.drawn === undefined) path.push(parent)
      }
    }
  }
  for (const { parents, height } of nodes.toReversed()) {
    for (const parent of parents) parent.height = Math.max(parent.height, height + 1)
  }
  return { nodes, find }
}

/** What has become of a node so far. */
interface Slot {
  /** Let go of, as is what was drawn, once the node is made. */
  node: Node | undefined
  drawn: Drawn | undefined
  made: HistoryNode | undefined
}

/** Stands for what was drawn of a node that is made. */
const used: Drawn = { voice: 'none', entries: [], links: [], isCovered: false }

function slotsOf({ entries }: LoadedGraph): ReadonlyMap<CidText, Slot> {
  const envelopes = [...entries.values()].filter(({ kind }) => kind === 'envelope')
  const slots = new Map<CidText, Slot>()
  for (const [cid, node] of nodeTable(envelopes)) {
    // entries of one node share a slot
    const first = node.entries.length === 1 ? undefined : slots.get(node.entry.cid)
    const slot = first ?? { node, drawn: undefined, made: undefined }
    slots.set(cid, slot)
    if (node.entries.length > 1) for (const other of node.entries) slots.set(other.cid, slot)
  }
  return slots
}

/** The entries of a node that count, and what they link. */
interface Drawn {
  readonly voice: Voice
  readonly entries: readonly VerifiedEntry[]
  readonly links: readonly CidText[]
  readonly isCovered: boolean
}

/** What somebody without a right says of a document changes nothing about it. */
function drawnOf(
  { entries }: Node,
  graph: LoadedGraph,
  isValid: (entry: VerifiedEntry) => boolean,
): Drawn {
  const valid = entries.filter(isValid)
  const said = valid.filter(({ witness }) => !witness)
  const voice = said.length > 0 ? 'word' : valid.length > 0 ? 'witness' : 'none'
  const drawn = valid.length > 0 ? valid : entries
  const isCovered = drawn.some(({ cid }) => graph.before.has(cid))
  const [only, ...others] = drawn
  const links = others.length === 0 ? only!.parents : linksOf(drawn)
  const [first] = said
  const isFirst = first === undefined || first === only
  return {
    voice,
    entries: isFirst ? drawn : [first, ...drawn.filter((one) => one !== first)],
    links: isCovered ? [] : links,
    isCovered,
  }
}

function linksOf(entries: readonly VerifiedEntry[]): readonly CidText[] {
  return [...new Set(entries.flatMap(({ parents }) => parents))]
}

function makeNode(
  { voice, entries, links, isCovered }: Drawn,
  graph: LoadedGraph,
  find: NodeHistory['find'],
  at: number,
): HistoryNode {
  const entry = entries[0]!
  const found = links.map(find)
  const known = found.filter((parent) => parent !== undefined)
  const parents = known.length < 2 ? known : [...new Set(known)].sort((a, b) => b.depth - a.depth)
  const body = graph.bodies.get(entry.body)
  const isCut = (): boolean =>
    body?.kind !== 'envelope' ||
    found.includes(undefined) || // not here, not an envelope, or on a circle
    lacksNamed(graph, entries, links) ||
    parents.some((parent) => parent.voice !== 'word' && parent.isCut)
  const [parent, ...others] = parents
  // the first child of a line's end goes on with the line
  const goesOn = parent !== undefined && others.length === 0 && parent.run.last === parent
  const node: HistoryNode = {
    entry,
    author: entry.author,
    at,
    voice,
    parents,
    isCut: !isCovered && isCut(),
    isCovered,
    records: body?.kind === 'envelope' ? body.facts.records : undefined,
    depth: 1 + parents.reduce((most, { depth }) => Math.max(most, depth), 0),
    height: 1,
    run: goesOn ? parent.run : ({} as Run),
  }
  if (!goesOn) node.run.first = node
  node.run.last = node
  return node
}

/** Returns whether entries name parents that they do not link. */
function lacksNamed(
  graph: LoadedGraph,
  entries: readonly VerifiedEntry[],
  links: readonly CidText[],
): boolean {
  if (entries.every(({ shallow }) => shallow.length === 0)) return false
  const linked = new Set(links.map((cid) => graph.entries.get(cid)?.name))
  return entries.some(({ shallow }) => shallow.some((name) => !linked.has(name)))
}

/**
 * Returns whether `above` is `node` or one that it follows. Whole lines are passed in one step, and no way is gone that
 * depth or height rule out.
 */
export function isWithin(above: HistoryNode, node: HistoryNode): boolean {
  const mayFollow = (at: HistoryNode): boolean =>
    at === above || (at.depth > above.depth && at.height < above.height)
  const seen = new Set<Run>()
  const waiting = mayFollow(node) ? [node] : []
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (at.run === above.run && at.depth >= above.depth) return true
    // a line is come to at its end or where it forks: what is before its first is the same
    if (seen.has(at.run)) continue
    seen.add(at.run)
    for (const parent of at.run.first.parents) if (mayFollow(parent)) waiting.push(parent)
  }
  return false
}

/**
 * Returns a node's records by their keys; undefined for one that stands twice, which says nothing: neither of the two can
 * be told to be the one.
 */
export function ownRecords({ records }: HistoryNode): ReadonlyMap<string, RecordFacts | undefined> {
  const own = new Map<string, RecordFacts | undefined>()
  for (const list of records?.read() ?? []) {
    for (const record of list) {
      if (record !== undefined) own.set(record.key, own.has(record.key) ? undefined : record)
    }
  }
  return own
}
