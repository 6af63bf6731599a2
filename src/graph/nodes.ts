import type { Entry, VerifiedEntry } from '../entry/entry.ts'
import type { Entries } from '../entry/entry-table.ts'
import { kindOf, nodeKey } from '../entry/kinds.ts'
import type { CidText } from '../../store/cid-text.ts'
import { mayRepeat } from '../kernel/repeats.ts'

/** Entries that are one node, and what they follow together. */
export interface Node {
  /** The entry that names the node: fewest shallow names, no witness's where there is another, then least CID. */
  readonly entry: VerifiedEntry
  readonly entries: readonly VerifiedEntry[]
  /** Every parent that one of the entries links, each once. */
  readonly parents: readonly CidText[]
}

/** Returns the nodes that entries form, each once, in the order in which their first entries come. */
export function nodesOf(entries: Iterable<VerifiedEntry>): readonly Node[] {
  const all = [...entries].filter(({ kind }) => kindOf(kind).isNode)
  const shared = sharedIn(all, () => true)
  return [...new Set(all.map((entry) => shared.get(entry.cid) ?? nodeOf([entry])))]
}

/** The nodes of a graph. Those of one entry, nearly all, are made when they are asked for. */
export class NodeTable {
  readonly #entries: Entries
  readonly #isWanted: (kind: string) => boolean
  readonly #shared: ReadonlyMap<CidText, Node>

  /** @param isWanted - Of which kinds of node the entries are to be. */
  constructor(entries: Entries, isWanted: (kind: string) => boolean = () => true) {
    this.#entries = entries
    this.#isWanted = (kind) => kindOf(kind).isNode && isWanted(kind)
    const isShared = mayRepeat(this.#bodies(), entries.size)
    this.#shared = sharedIn(this.#all(), isShared)
  }

  /** Returns the node that an entry is of. */
  get(cid: CidText): Node | undefined {
    const shared = this.#shared.get(cid)
    if (shared !== undefined) return shared
    const entry = this.#entries.get(cid)
    return entry !== undefined && this.#isWanted(entry.kind) ? nodeOf([entry]) : undefined
  }

  /** Returns the entry that names the node of one of its entries; undefined when that is no entry of a node. */
  nameOf(cid: CidText): CidText | undefined {
    const shared = this.#shared.get(cid)
    if (shared !== undefined) return shared.entry.cid
    const kind = this.#entries.get(cid)?.kind
    return kind !== undefined && this.#isWanted(kind) ? cid : undefined
  }

  /** Returns the nodes of several entries, in the order in which their first entries come. */
  restated(): readonly Node[] {
    if (this.#shared.size === 0) return []
    const found = new Set<Node>()
    for (const cid of this.#entries.keys()) {
      const node = this.#shared.get(cid)
      if (node !== undefined) found.add(node)
    }
    return [...found]
  }

  *#all(): Generator<VerifiedEntry> {
    for (const entry of this.#entries.values()) if (this.#isWanted(entry.kind)) yield entry
  }

  *#bodies(): Generator<CidText> {
    for (const { body } of this.#all()) yield body
  }
}

/** Returns the nodes of several entries, by each of them: entries of one node have one body. */
function sharedIn(
  entries: Iterable<VerifiedEntry>,
  isShared: (body: CidText) => boolean,
): ReadonlyMap<CidText, Node> {
  const byBody = new Map<CidText, VerifiedEntry[]>()
  for (const entry of entries) {
    const { body } = entry
    if (!isShared(body)) continue
    const group = byBody.get(body)
    if (group === undefined) byBody.set(body, [entry])
    else group.push(entry)
  }
  const nodes = new Map<CidText, Node>()
  for (const group of byBody.values()) if (group.length > 1) join(group, nodes)
  return nodes
}

function join(sameBody: readonly VerifiedEntry[], nodes: Map<CidText, Node>): void {
  const groups = new Map<string, VerifiedEntry[]>()
  for (const entry of sameBody) {
    const key = nodeKey(entry)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [entry])
    else group.push(entry)
  }
  for (const group of groups.values()) {
    if (group.length === 1) continue
    const node = nodeOf(group)
    for (const { cid } of group) nodes.set(cid, node)
  }
}

function nodeOf(group: readonly VerifiedEntry[]): Node {
  const [only] = group
  if (group.length === 1) return { entry: only!, entries: group, parents: only!.parents }
  // a view spells its CID each time that it is asked
  const places = group.map((entry) => ({ entry, ...placeOf(entry) }))
  const entries = places.sort(byShallowThenCid).map(({ entry }) => entry)
  const parents = [...new Set(entries.flatMap(({ parents }) => parents))]
  return { entry: entries[0]!, entries, parents }
}

type Place = Pick<Entry, 'cid' | 'shallow' | 'witness'>

function placeOf({ cid, shallow, witness }: Place): Place {
  return { cid, shallow, witness }
}

/** Orders the entries of one node: the one that names it comes first. */
export function byShallowThenCid(a: Place, b: Place): number {
  return (
    a.shallow.length - b.shallow.length ||
    Number(a.witness) - Number(b.witness) ||
    (a.cid < b.cid ? -1 : a.cid > b.cid ? 1 : 0)
  )
}
