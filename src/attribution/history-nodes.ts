import type { CidText } from '../../store/cid-text.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { nodeKey } from '../entry/kinds.ts'
import type { LoadedGraph } from '../graph/loaded.ts'
import type { Node } from '../graph/nodes.ts'
import { nodesOf } from '../graph/nodes.ts'
import type { ListedRecords, RecordFacts } from './records.ts'
import { recordKey } from './records.ts'

/** Whether a node's author says what its document says: with a valid entry, as a witness only, or not at all. */
export type Voice = 'none' | 'witness' | 'word'

/** A revision as attribution sees it. */
export interface HistoryNode {
  /** The entry that names the node; of those that count, where there are any. */
  readonly entry: VerifiedEntry
  readonly author: string
  readonly voice: Voice
  readonly parents: readonly HistoryNode[]
  /** History behind it is missing. */
  readonly isCut: boolean
  /** An earlier certificate covers it with all that it follows, which was proven then. */
  readonly isCovered: boolean
  readonly records: ListedRecords
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

/** Returns the nodes that `starts` are of, with all that they follow, parents before children. */
export function historyNodes(
  graph: LoadedGraph,
  starts: readonly CidText[],
  isValid: (entry: VerifiedEntry) => boolean,
): ReadonlyMap<string, HistoryNode> {
  const envelopes = [...graph.entries.values()].filter(({ kind }) => kind === 'envelope')
  const nodes = nodesOf(envelopes)
  const keyOf = (cid: CidText): string | undefined => {
    const entry = graph.entries.get(cid)
    return entry?.kind === 'envelope' ? nodeKey(entry) : undefined
  }
  const made = new Map<string, HistoryNode>()
  const open = new Map<string, Drawn>()
  for (const start of starts) {
    const path = [keyOf(start)].filter((key) => key !== undefined)
    for (let key = path.at(-1); key !== undefined; key = path.at(-1)) {
      const known = open.get(key)
      if (known !== undefined) {
        path.pop()
        if (!made.has(key)) made.set(key, makeNode(known, graph, keyOf, made))
        continue
      }
      const drawn = drawnOf(nodes.get(key)!, graph, isValid)
      open.set(key, drawn)
      for (const link of drawn.links) {
        const parent = keyOf(link)
        if (parent !== undefined && !open.has(parent)) path.push(parent)
      }
    }
  }
  for (const { parents, height } of [...made.values()].toReversed()) {
    for (const parent of parents) parent.height = Math.max(parent.height, height + 1)
  }
  return made
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
  const links = isCovered ? [] : [...new Set(drawn.flatMap(({ parents }) => parents))]
  const first = said.slice(0, 1)
  return {
    voice,
    entries: [...first, ...drawn.filter((one) => one !== first[0])],
    links,
    isCovered,
  }
}

function makeNode(
  { voice, entries, links, isCovered }: Drawn,
  graph: LoadedGraph,
  keyOf: (cid: CidText) => string | undefined,
  made: ReadonlyMap<string, HistoryNode>,
): HistoryNode {
  const entry = entries[0]!
  const found = links.map((cid) => made.get(keyOf(cid) ?? ''))
  const parents = [...new Set(found.filter((parent) => parent !== undefined))].sort(
    (a, b) => b.depth - a.depth,
  )
  const body = graph.bodies.get(entry.body)
  const linked = new Set(links.map((cid) => graph.entries.get(cid)?.name))
  const isCut =
    !isCovered &&
    (body?.kind !== 'envelope' ||
      found.includes(undefined) || // not here, not an envelope, or on a circle
      entries.some(({ shallow }) => shallow.some((name) => !linked.has(name))) ||
      parents.some((parent) => parent.voice !== 'word' && parent.isCut))
  const [parent, ...others] = parents
  // the first child of a line's end goes on with the line
  const goesOn = parent !== undefined && others.length === 0 && parent.run.last === parent
  const node: HistoryNode = {
    entry,
    author: entry.author,
    voice,
    parents,
    isCut,
    isCovered,
    records: body?.kind === 'envelope' ? body.facts.records : [],
    depth: 1 + parents.reduce((most, { depth }) => Math.max(most, depth), 0),
    height: 1,
    run: goesOn ? parent.run : ({} as Run),
  }
  if (!goesOn) node.run.first = node
  node.run.last = node
  return node
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
  for (const record of records.flat()) {
    if (record === undefined) continue
    const key = recordKey(record)
    own.set(key, own.has(key) ? undefined : record)
  }
  return own
}
