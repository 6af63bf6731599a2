import { decodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { entryOf } from '../context.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { isStream } from '../entry/text.ts'
import { HandoffError } from '../errors.ts'
import { streamsOf } from '../graph/ref.ts'
import { HstoreError } from '../kernel/errors.ts'
import { quoted } from '../kernel/shown.ts'
import { entriesOf } from '../trust/load.ts'
import type { LaneBody, Observed } from './bodies.ts'
import { isLaneKind, observedIn, readLaneBody } from './bodies.ts'
import { Folding } from './fold.ts'
import { LinkGraph } from './graph.ts'
import type { LaneItem, LaneRoots } from './item.ts'
import type { LaneFault } from './judge-node.ts'
import type { Readable } from './observed.ts'
import { isHeld } from './observed.ts'

/** A lane as the store holds it. */
export interface Lane {
  readonly lane: string
  readonly stream: string
  /** Every entry of the stream that can be read, valid or not. */
  readonly entries: ReadonlyMap<CidText, VerifiedEntry>
  /** The bodies of entries that have the schema of their kind. */
  readonly bodies: ReadonlyMap<CidText, LaneBody>
  /** The valid ones among them. */
  readonly valid: ReadonlySet<CidText>
  readonly readable: Readable
  readonly folding: Folding
  /** What stands in the stream and is no item of the fold. */
  readonly others: readonly VerifiedEntry[]
}

/** An entry with its blocks. */
interface Read {
  readonly entry: VerifiedEntry
  readonly blocks: readonly [entry: Uint8Array, body: Uint8Array] | undefined
  readonly body: LaneBody | undefined
}

/** Returns the stream of a lane; throws `HSTORE_USAGE` for a name that can't name one. */
export function laneStream(lane: string): string {
  const stream = `lane:${lane}`
  if (isStream(stream)) return stream
  const why = 'a lane has a name of 1 to 1024 bytes without control characters'
  throw new HandoffError('HSTORE_USAGE', `${quoted(lane)}: ${why}`)
}

/** Returns the names of all lanes that have entries, in order. */
export async function laneNames(context: Context): Promise<readonly string[]> {
  const streams = await streamsOf(context, 'lane:')
  return streams.map((stream) => stream.slice('lane:'.length))
}

/** Returns a lane with all that counts in it. What can't be read is no entry of it; `verify` names it. */
export async function loadLane(context: Context, lane: string): Promise<Lane> {
  const stream = laneStream(lane)
  const reads = await readStream(context, stream)
  const entries = new Map([...reads].map(([cid, { entry }]) => [cid, entry]))
  const readable: Readable = {
    graph: new LinkGraph(entries.values(), ({ parents, prev }) => [...parents, ...prev]),
    blocksOf: (cid) => reads.get(cid)?.blocks,
  }
  const bodies = new Map<CidText, LaneBody>()
  for (const [cid, { body }] of reads) if (body !== undefined) bodies.set(cid, body)
  const valid = new Set<CidText>()
  for (const [cid, entry] of entries)
    if (context.trust.standingOf(entry).standing === 'valid') valid.add(cid)
  const items = [...valid].flatMap((cid) => itemsOf({ entries, bodies, readable }, cid))
  const isItem = (cid: CidText): boolean => valid.has(cid) && bodies.has(cid)
  const others = [...entries.values()].filter(({ cid }) => !isItem(cid))
  const folding = new Folding(lane, items, rootsOf(context), others)
  return { lane, stream, entries, bodies, valid, readable, folding, others }
}

/** Returns why an entry would not count if it stood in a lane; undefined where it would. */
export function findFault(lane: Lane, entry: VerifiedEntry, body: LaneBody): LaneFault | undefined {
  const { folding, others } = lane
  const items = [...folding.items.values(), itemOf(lane, entry, body)]
  return new Folding(lane.lane, items, folding.roots, others).faults.get(entry.cid)
}

function rootsOf({ trust }: Context): LaneRoots {
  const { roots, threshold } = trust.roster
  return { holders: new Map(roots.map(({ did, holder }) => [did, holder])), threshold }
}

/** What was read last, for the next act on the same lane: blocks don't change, and were hashed when they were read. */
const lastReads = new WeakMap<Context, { readonly stream: string; readonly reads: Reads }>()

type Reads = ReadonlyMap<CidText, Read>

async function readStream(context: Context, stream: string): Promise<Reads> {
  const last = lastReads.get(context)
  const known: Reads = last?.stream === stream ? last.reads : new Map()
  const cids: CidText[] = []
  for await (const cid of entriesOf(context.db, stream)) cids.push(cid)
  const absent = cids.filter((cid) => known.get(cid)?.blocks === undefined)
  const found = new Map<CidText, Read>()
  for (let at = 0; at < absent.length; at += atOnce) {
    for (const read of await readEntries(context, absent.slice(at, at + atOnce)))
      if (read.entry.stream === stream) found.set(read.entry.cid, read)
  }
  const reads = new Map<CidText, Read>()
  for (const cid of cids) {
    const read = found.get(cid) ?? known.get(cid)
    if (read !== undefined) reads.set(cid, read)
  }
  lastReads.set(context, { stream, reads })
  return reads
}

/** Blocks read together, at most. */
const atOnce = 256

async function readEntries(context: Context, cids: readonly CidText[]): Promise<readonly Read[]> {
  const blocks = await context.db.getMany(cids)
  const read = blocks.map((block, i) => {
    const cid = cids[i]!
    const isThere = block.state === 'ok'
    const entry = unlessBroken(() =>
      isThere ? entryOf(context, cid, block.bytes) : context.recent.get(cid),
    )
    return { entry, own: isThere ? block.bytes : undefined }
  })
  const found = read.filter(
    (one): one is typeof one & { entry: VerifiedEntry } => one.entry !== undefined,
  )
  const bodies = await context.db.getMany(found.map(({ entry }) => entry.body))
  return found.map(({ entry, own }, i): Read => {
    const body = bodies[i]
    if (own === undefined || body?.state !== 'ok')
      return { entry, blocks: undefined, body: undefined }
    return { entry, blocks: [own, body.bytes], body: findBody(entry, body.bytes) }
  })
}

function findBody({ kind }: VerifiedEntry, bytes: Uint8Array): LaneBody | undefined {
  if (!isLaneKind(kind)) return undefined
  return unlessBroken(() => {
    const body = readLaneBody(kind, decodeForm(bytes).form)
    return 'fault' in body ? undefined : body
  })
}

function unlessBroken<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof HstoreError) return undefined
    throw error
  }
}

function itemsOf(
  lane: Pick<Lane, 'bodies' | 'entries' | 'readable'>,
  cid: CidText,
): readonly LaneItem[] {
  const body = lane.bodies.get(cid)
  return body === undefined ? [] : [itemOf(lane, lane.entries.get(cid)!, body)]
}

function itemOf(
  lane: Pick<Lane, 'bodies' | 'entries' | 'readable'>,
  entry: VerifiedEntry,
  body: LaneBody,
): LaneItem {
  const observed = observedIn(body)
  if (observed === undefined) return { entry, body, isHeld: true, reads: nothing }
  return new ReadingItem(lane, entry, body, observed)
}

const nothing: ReadonlySet<CidText> = new Set()

/** What was read is looked up, and its bytes hashed, only where a verdict rests on it. */
class ReadingItem implements LaneItem {
  readonly entry: VerifiedEntry
  readonly body: LaneBody
  readonly #lane: Pick<Lane, 'bodies' | 'entries' | 'readable'>
  readonly #observed: Observed
  #isHeld: boolean | undefined
  #reads: ReadonlySet<CidText> | undefined

  constructor(
    lane: Pick<Lane, 'bodies' | 'entries' | 'readable'>,
    entry: VerifiedEntry,
    body: LaneBody,
    observed: Observed,
  ) {
    this.#lane = lane
    this.entry = entry
    this.body = body
    this.#observed = observed
  }

  get isHeld(): boolean {
    const { signer, prev } = this.entry
    this.#isHeld ??= isHeld(
      this.#lane.readable,
      signer,
      this.#observed,
      signedBefore(this.#lane, signer, prev),
    )
    return this.#isHeld
  }

  get reads(): ReadonlySet<CidText> {
    const { parents, refs } = this.entry
    const { graph } = this.#lane.readable
    this.#reads ??= graph.reached(this.#observed.through, [...parents, ...refs])
    return this.#reads
  }
}

/**
 * Returns what a signer has signed as read, as the last entries say it that lie on its own chain up to `prev`.
 */
export function signedBefore(
  { entries, bodies, readable }: Pick<Lane, 'bodies' | 'entries' | 'readable'>,
  signer: string,
  prev: readonly CidText[],
): readonly CidText[] {
  const through: CidText[] = []
  const seen = new Set(prev)
  for (const cid of seen) {
    const entry = entries.get(cid)
    if (entry?.signer !== signer || !readable.graph.has(cid)) continue
    const body = bodies.get(cid)
    const observed = body && observedIn(body)
    if (observed === undefined) for (const link of entry.prev) seen.add(link)
    else through.push(...observed.through)
  }
  return through
}
