import type { CidText } from '../../store/cid-text.ts'
import { rangeFan } from '../../store/keyspace.ts'
import { entriesInRange, levelsFor } from '../../store/ranges.ts'
import { findBytes } from '../../store/canonical.ts'
import type { JsonForm } from '../../store/canonical.ts'
import { askPlain } from './ask.ts'
import type { Peer } from './peer.ts'
import type { Transport } from './protocol.ts'
import { Fields, maxNodes, unpackCids } from './protocol.ts'
import { rememberTrees, treeOf } from './trees.ts'

/** A stream as a remote tells of it. */
export interface ToldStream {
  readonly stream: string
  /** How many ranges of seq it has. */
  readonly ranges: number
  readonly root: string
}

/** What one side has and the other has not, by stream and in the order of seq. */
export interface Difference {
  /** The first of what is missing here, about as many as were asked for. */
  readonly missingHere: ReadonlyMap<string, readonly CidText[]>
  readonly missingThere: ReadonlyMap<string, readonly CidText[]>
  /** How many are missing here, as far as they were looked at. */
  readonly countHere: number
  /** Of the entries that were to be watched, those that are missing there. */
  readonly lost: ReadonlySet<string>
  /** Whether all was compared: more of what is missing here may stand behind. */
  readonly isWhole: boolean
}

/** What a comparison is after. */
export interface Comparison {
  readonly theirs: readonly ToldStream[]
  readonly ours: readonly string[]
  /** Entries that do not count, though one side lacks them. */
  readonly skippedHere: ReadonlySet<CidText>
  readonly skippedThere: ReadonlySet<CidText>
  readonly watched: ReadonlySet<string>
  /** How many entries that are missing here are enough; undefined when they are only counted. */
  readonly most: number | undefined
  /** Whether the last ranges of a stream are looked at first. */
  readonly isFromEnd: boolean
}

/** Opens this side for as long as `use` takes. */
export type WithOwn = <T>(use: (own: Peer) => Promise<T>) => Promise<T>

interface Node {
  readonly stream: string
  readonly level: number
  readonly index: number
}

/** More than this in one comparison is no history but an attempt to fill memory. */
const maxDifferences = 2_000_000
const maxAsked = 500_000
const maxPerRange = 20_000
/** Where ranges differ, entries do: nodes that are asked for before any is found, and then for each of them. */
const maxAskedFirst = 20_000
const maxAskedEach = 8

/**
 * Finds out what either side lacks: where fingerprints of ranges differ, those below are compared, down to the entries.
 *
 * @throws {HandoffError} `HSTORE_REMOTE_INVALID`
 */
export async function reconcile(
  withOwn: WithOwn,
  transport: Transport,
  comparison: Comparison,
): Promise<Difference> {
  const told = new Map(comparison.theirs.map((one) => [one.stream, one]))
  const sizes = new Map<string, number>()
  const differing = await withOwn(async ({ db }) => {
    const found: ToldStream[] = []
    for (const stream of new Set([...comparison.ours, ...told.keys()])) {
      const tree = await treeOf(db, stream)
      sizes.set(stream, tree.size)
      const one = told.get(stream) ?? { stream, ranges: 0, root: '' }
      if (one.ranges !== tree.size || one.root !== (await tree.root())) found.push(one)
    }
    rememberTrees(db)
    return found
  })
  const walk = new Walk(withOwn, transport, sizes, comparison)
  const starts: Node[] = []
  for (const { stream, ranges } of differing) {
    if (ranges === 0) await walk.addAllOurs(stream)
    else starts.push({ stream, level: levelsFor(Math.max(ranges, sizes.get(stream)!)), index: 0 })
  }
  // nothing can be judged before the rosters
  const isRoster = ({ stream }: Node): boolean => stream === 'roster'
  await walk.run([...starts.filter((one) => !isRoster(one)), ...starts.filter(isRoster)])
  return walk.found()
}

/** Entries of one stream, by range. */
type Ranges = Map<number, readonly CidText[]>

class Walk {
  readonly #withOwn: WithOwn
  readonly #transport: Transport
  /** How many ranges each stream has here. */
  readonly #sizes: ReadonlyMap<string, number>
  readonly #comparison: Comparison
  readonly #here = new Map<string, Ranges>()
  readonly #there = new Map<string, Ranges>()
  readonly #lost = new Set<string>()
  /** Answers for the right edges, which were asked for ahead. */
  readonly #edges = new Map<string, JsonForm>()
  #countHere = 0
  #countThere = 0
  #asked = 0
  /** Entries that one side lacks, also those that do not count. */
  #differing = 0
  #isWhole = true

  constructor(
    withOwn: WithOwn,
    transport: Transport,
    sizes: ReadonlyMap<string, number>,
    comparison: Comparison,
  ) {
    this.#withOwn = withOwn
    this.#transport = transport
    this.#sizes = sizes
    this.#comparison = comparison
  }

  found(): Difference {
    return {
      missingHere: inOrder(this.#here),
      missingThere: inOrder(this.#there),
      countHere: this.#countHere,
      lost: this.#lost,
      isWhole: this.#isWhole,
    }
  }

  /** Of a stream that the remote does not tell of, all is missing there. */
  async addAllOurs(stream: string): Promise<void> {
    await this.#withOwn(async ({ db }) => {
      for (let range = 0; range < this.#sizeOf(stream); range++)
        this.#addThere(stream, range, await entriesInRange(db, stream, range))
    })
  }

  /** Depth first, many nodes at a time: what waits is bounded, and what is found comes in order. */
  async run(starts: readonly Node[]): Promise<void> {
    const waiting = [...starts]
    // what is new stands at the end: the right edge is asked for along with the whole
    const ahead = [...starts.toReversed(), ...starts.flatMap((start) => this.#edgeOf(start))]
    await this.#ask(ahead, this.#edges)
    while (waiting.length > 0) {
      if (this.#isFull()) {
        this.#isWhole = false
        return
      }
      const batch = waiting.splice(-maxNodes).toReversed()
      const answers = new Map(this.#edges)
      const unknown = batch.filter((node) => !answers.has(keyOf(node)))
      await this.#ask(unknown, answers)
      waiting.push(...(await this.#take(batch, answers)))
    }
  }

  /** Deals with nodes that were answered; returns what is to be asked now, the first of them last. */
  async #take(batch: readonly Node[], answers: ReadonlyMap<string, JsonForm>): Promise<Node[]> {
    const waiting: Node[] = []
    await this.#withOwn(async (own) => {
      for (const node of batch.toReversed()) {
        const answer = answers.get(keyOf(node))
        if (answer === undefined) waiting.unshift(node)
        else if (node.level === 0) await this.#compareLeaf(own, node, answer)
        else waiting.push(...(await this.#below(own, node, answer)))
      }
    })
    return waiting
  }

  #isFull(): boolean {
    return this.#countHere >= (this.#comparison.most ?? Infinity)
  }

  #edgeOf({ stream, level }: Node): Node[] {
    const last = this.#sizeOf(stream) - 1
    if (last < 0) return []
    return Array.from({ length: level }, (_, at) => ({
      stream,
      level: at,
      index: Math.floor(last / rangeFan ** at),
    }))
  }

  /** Asks once for the first of some nodes, and adds what is answered. */
  async #ask(some: readonly Node[], answers: Map<string, JsonForm>): Promise<void> {
    if (some.length === 0) return
    const nodes = some.slice(0, maxNodes)
    this.#asked += nodes.length
    const most = Math.min(maxAsked, maxAskedFirst + maxAskedEach * this.#differing)
    if (this.#asked > most) this.#fail('compare')
    const rows = await this.#withOwn(async ({ db }) => {
      const asked: JsonForm[] = []
      for (const { stream, level, index } of nodes)
        asked.push([stream, level, index, await (await treeOf(db, stream)).node(level, index)])
      return asked
    })
    const control = { is: 'compare', nodes: rows }
    const fields = await askPlain(this.#transport, control, 'compare')
    const told = fields.list('answers', nodes.length)
    if (told.length === 0) this.#fail('answers')
    for (const [i, form] of told.entries()) answers.set(keyOf(nodes[i]!), form)
  }

  /** The nodes below that differ; the one to be looked at first comes last. */
  async #below({ db }: Peer, { stream, level, index }: Node, answer: JsonForm): Promise<Node[]> {
    if (answer === null) return []
    if (!Array.isArray(answer) || answer.length > rangeFan) return this.#fail('answers')
    const tree = await treeOf(db, stream)
    const below: Node[] = []
    for (let i = rangeFan - 1; i >= 0; i--) {
      const at = index * rangeFan + i
      if ((answer[i] ?? '') !== (await tree.node(level - 1, at)))
        below.push({ stream, level: level - 1, index: at })
    }
    return this.#comparison.isFromEnd ? below.toReversed() : below
  }

  async #compareLeaf({ db }: Peer, { stream, index }: Node, answer: JsonForm): Promise<void> {
    if (answer === null) return
    const theirs = new Set(
      findBytes(answer) === undefined
        ? this.#fail('answers')
        : (unpackCids(answer, maxPerRange) ?? this.#fail('answers')),
    )
    const ours = new Set(await entriesInRange(db, stream, index))
    const { skippedHere, most } = this.#comparison
    const lacking = [...theirs].filter((cid) => !ours.has(cid))
    this.#differing += lacking.length + Math.max(0, ours.size + lacking.length - theirs.size)
    const here = lacking.filter((cid) => !skippedHere.has(cid))
    this.#countHere += here.length
    if (here.length > 0 && most !== undefined) rangesOf(this.#here, stream).set(index, here)
    this.#addThere(
      stream,
      index,
      [...ours].filter((cid) => !theirs.has(cid)),
    )
    if (this.#countHere > maxDifferences) this.#fail('entries')
  }

  #addThere(stream: string, range: number, cids: readonly CidText[]): void {
    const { skippedThere, watched } = this.#comparison
    for (const cid of cids) if (watched.has(cid)) this.#lost.add(cid)
    const there = cids.filter((cid) => !skippedThere.has(cid))
    if (there.length === 0) return
    this.#countThere += there.length
    if (this.#countThere > maxDifferences) this.#fail('entries')
    rangesOf(this.#there, stream).set(range, there)
  }

  #sizeOf(stream: string): number {
    return this.#sizes.get(stream) ?? 0
  }

  #fail(key: string): never {
    return new Fields({}, this.#transport.name).fail(key)
  }
}

function rangesOf(streams: Map<string, Ranges>, stream: string): Ranges {
  const known = streams.get(stream)
  if (known !== undefined) return known
  const ranges: Ranges = new Map()
  streams.set(stream, ranges)
  return ranges
}

function inOrder(streams: ReadonlyMap<string, Ranges>): Map<string, readonly CidText[]> {
  return new Map(
    [...streams].map(([stream, ranges]) => [
      stream,
      [...ranges].sort(([a], [b]) => a - b).flatMap(([, cids]) => cids),
    ]),
  )
}

function keyOf({ stream, level, index }: Node): string {
  return `${level} ${index} ${stream}`
}
