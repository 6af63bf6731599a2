import type { CidText } from '../../store/cid-text.ts'
import { entriesInRange, levelsFor, rangeFan, RangeTree } from '../../store/ranges.ts'
import { findBytes } from '../../store/canonical.ts'
import type { JsonForm } from '../../store/canonical.ts'
import { askPlain } from './ask.ts'
import type { Peer } from './peer.ts'
import type { Transport } from './protocol.ts'
import { Fields, maxNodes, unpackCids } from './protocol.ts'
import { treeOf } from './trees.ts'

/** A stream as a remote tells of it. */
export interface ToldStream {
  readonly stream: string
  /** How many ranges of seq it has. */
  readonly ranges: number
  readonly root: string
}

/** What one side has and the other has not, by stream and in the order of seq. */
export interface Difference {
  readonly missingHere: ReadonlyMap<string, readonly CidText[]>
  readonly missingThere: ReadonlyMap<string, readonly CidText[]>
}

/** Opens this side for as long as `use` takes. */
export type WithOwn = <T>(use: (own: Peer) => Promise<T>) => Promise<T>

interface Node {
  readonly stream: string
  readonly level: number
  readonly index: number
}

/** More than this in one sync is no history but an attempt to fill memory. */
const maxDifferences = 2_000_000
const maxAsked = 500_000
const maxPerRange = 20_000

/**
 * Finds out what either side lacks: where fingerprints of ranges differ, those below are compared, down to the entries.
 *
 * @throws {HandoffError} `HSTORE_REMOTE_INVALID`
 */
export async function reconcile(
  withOwn: WithOwn,
  transport: Transport,
  theirs: readonly ToldStream[],
  ours: readonly string[],
): Promise<Difference> {
  const told = new Map(theirs.map((one) => [one.stream, one]))
  const trees = await withOwn(async ({ db }) => {
    const found = new Map<string, RangeTree>()
    for (const stream of new Set([...ours, ...told.keys()]))
      found.set(stream, await treeOf(db, stream))
    return found
  })
  const walk = new Walk(withOwn, transport, trees)
  const starts: Node[] = []
  for (const [stream, tree] of trees) {
    const { ranges = 0, root = '' } = told.get(stream) ?? {}
    if (ranges === tree.size && root === tree.root) continue
    if (ranges === 0) await walk.addAllOurs(stream, tree)
    else starts.push({ stream, level: levelsFor(Math.max(ranges, tree.size)), index: 0 })
  }
  await walk.run(starts)
  return walk
}

class Walk implements Difference {
  readonly missingHere = new Map<string, CidText[]>()
  readonly missingThere = new Map<string, CidText[]>()
  readonly #withOwn: WithOwn
  readonly #transport: Transport
  readonly #trees: ReadonlyMap<string, RangeTree>
  readonly #answers = new Map<string, JsonForm>()
  #found = 0
  #asked = 0

  constructor(withOwn: WithOwn, transport: Transport, trees: ReadonlyMap<string, RangeTree>) {
    this.#withOwn = withOwn
    this.#transport = transport
    this.#trees = trees
  }

  /** Of a stream that the remote does not tell of, all is missing there. */
  async addAllOurs(stream: string, tree: RangeTree): Promise<void> {
    await this.#withOwn(async ({ db }) => {
      for (let range = 0; range < tree.size; range++)
        this.#add(this.missingThere, stream, await entriesInRange(db, stream, range))
    })
  }

  async run(starts: readonly Node[]): Promise<void> {
    // what is new stands at the end: the right edge is asked for along with the whole
    let wanted = [...starts, ...starts.flatMap((start) => this.#edgeOf(start))]
    let waiting = [...starts]
    while (waiting.length > 0) {
      for (let at = 0; at < wanted.length; at += maxNodes)
        await this.#ask(wanted.slice(at, at + maxNodes))
      const leaves: Node[] = []
      const next: Node[] = []
      for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
        if (!this.#answers.has(keyOf(node))) next.push(node)
        else if (node.level === 0) leaves.push(node)
        else waiting.push(...this.#below(node))
      }
      await this.#withOwn(async (own) => {
        for (const leaf of leaves.toReversed()) await this.#compareLeaf(own, leaf)
      })
      wanted = next
      waiting = [...next]
    }
  }

  #edgeOf({ stream, level }: Node): Node[] {
    const last = this.#treeOf(stream).size - 1
    if (last < 0) return []
    return Array.from({ length: level }, (_, at) => ({
      stream,
      level: at,
      index: Math.floor(last / rangeFan ** at),
    }))
  }

  async #ask(nodes: readonly Node[]): Promise<void> {
    this.#asked += nodes.length
    if (this.#asked > maxAsked) this.#fail('compare')
    const rows = nodes.map(({ stream, level, index }) => [
      stream,
      level,
      index,
      this.#treeOf(stream).node(level, index),
    ])
    const control = { is: 'compare', nodes: rows }
    const fields = await askPlain(this.#transport, control, 'compare')
    const answers = fields.list('answers', nodes.length)
    if (answers.length === 0) this.#fail('answers')
    for (const [i, form] of answers.entries()) this.#answers.set(keyOf(nodes[i]!), form)
    if (answers.length < nodes.length) await this.#ask(nodes.slice(answers.length))
  }

  #below({ stream, level, index }: Node): Node[] {
    const answer = this.#answers.get(keyOf({ stream, level, index }))
    if (answer === null || answer === undefined) return []
    if (!Array.isArray(answer) || answer.length > rangeFan) return this.#fail('answers')
    const tree = this.#treeOf(stream)
    const below: Node[] = []
    // waiting nodes are taken from the end: the first range comes last
    for (let i = rangeFan - 1; i >= 0; i--) {
      const at = index * rangeFan + i
      if ((answer[i] ?? '') !== tree.node(level - 1, at))
        below.push({ stream, level: level - 1, index: at })
    }
    return below
  }

  async #compareLeaf({ db }: Peer, node: Node): Promise<void> {
    const { stream, index } = node
    const answer = this.#answers.get(keyOf(node))
    if (answer === null) return
    const theirs = new Set(
      findBytes(answer) === undefined
        ? this.#fail('answers')
        : (unpackCids(answer, maxPerRange) ?? this.#fail('answers')),
    )
    const ours = new Set(await entriesInRange(db, stream, index))
    this.#add(
      this.missingHere,
      stream,
      [...theirs].filter((cid) => !ours.has(cid)),
    )
    this.#add(
      this.missingThere,
      stream,
      [...ours].filter((cid) => !theirs.has(cid)),
    )
  }

  #add(to: Map<string, CidText[]>, stream: string, cids: readonly CidText[]): void {
    if (cids.length === 0) return
    this.#found += cids.length
    if (this.#found > maxDifferences) this.#fail('entries')
    const known = to.get(stream)
    if (known === undefined) to.set(stream, [...cids])
    else for (const cid of cids) known.push(cid)
  }

  #treeOf(stream: string): RangeTree {
    return this.#trees.get(stream) ?? new RangeTree([])
  }

  #fail(key: string): never {
    return new Fields({}, this.#transport.name).fail(key)
  }
}

function keyOf({ stream, level, index }: Node): string {
  return `${level} ${index} ${stream}`
}
