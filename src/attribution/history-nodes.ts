import type { CidText } from '../../store/cid-text.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import type { LoadedGraph } from '../graph/loaded.ts'
import type { Node } from '../graph/nodes.ts'
import { NodeTable } from '../graph/nodes.ts'
import { Numbers } from '../kernel/numbers.ts'
import type { HistoryNode, Voice } from './history.ts'
import { History } from './history.ts'
import type { RecordFacts } from './records.ts'

/** The nodes of a history. */
export interface NodeHistory {
  /** Parents before children. */
  readonly nodes: readonly HistoryNode[]
  /** Returns the node that an entry is of; undefined when it is none of the history's. */
  readonly find: (cid: CidText) => HistoryNode | undefined
}

/** What has become of a node so far; once it is made, this and its place. */
const isDrawn = 1
const isMade = 2

/** Returns the nodes that `starts` are of, with all that they follow. */
export function historyNodes(
  graph: LoadedGraph,
  starts: readonly CidText[],
  isValid: (entry: VerifiedEntry) => boolean,
): NodeHistory {
  const table = new NodeTable(graph.entries, (kind) => kind === 'envelope')
  const history = new History(graph)
  /** By the number of the entry that names a node. */
  const states = new Numbers()
  const numberOf = (cid: CidText): number | undefined => {
    const name = table.nameOf(cid)
    return name === undefined ? undefined : history.names.add(name)
  }
  const find = (cid: CidText): HistoryNode | undefined => {
    const number = numberOf(cid)
    return number === undefined ? undefined : history.nodes[states.at(number) - isMade]
  }
  for (const start of starts) {
    const path = [numberOf(start)].filter((number) => number !== undefined)
    for (let number = path.at(-1); number !== undefined; number = path.at(-1)) {
      const state = states.at(number)
      if (state >= isMade) {
        path.pop()
        continue
      }
      const node = table.get(history.names.at(number))!
      // a way may be as long as the history: what was drawn is drawn again, rather than kept for all of it
      const drawn = drawnOf(node, graph, isValid)
      if (state === isDrawn) {
        path.pop()
        states.set(number, isMade + addNode(history, drawn, graph, find).at)
        continue
      }
      states.set(number, isDrawn)
      for (const link of drawn.links) {
        const parent = numberOf(link)
        if (parent !== undefined && states.at(parent) < isDrawn) path.push(parent)
      }
    }
  }
  history.end()
  return { nodes: history.nodes, find }
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

function addNode(
  history: History,
  { voice, entries, links, isCovered }: Drawn,
  graph: LoadedGraph,
  find: NodeHistory['find'],
): HistoryNode {
  const entry = entries[0]!
  const found = links.map(find)
  const known = found.filter((parent) => parent !== undefined)
  const parents = known.length < 2 ? known : [...new Set(known)].sort((a, b) => b.depth - a.depth)
  const body = graph.bodies.get(entry.body)
  const records = body?.kind === 'envelope' ? body.facts.records : undefined
  const isCut = (): boolean =>
    records === undefined ||
    found.includes(undefined) || // not here, not an envelope, or on a circle
    lacksNamed(graph, entries, links) ||
    parents.some((parent) => parent.voice !== 'word' && parent.isCut)
  return history.add({
    entry,
    voice,
    parents,
    isCut: !isCovered && isCut(),
    isCovered,
    records,
  })
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
