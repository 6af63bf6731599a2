import type { CidText } from '../../store/cid-text.ts'
import type { Tick } from '../contracts/hrc/documents.ts'

/** Where a node that counts leaves the lane. */
export interface Placed {
  /** What makes entries one event; see `eventKey`. */
  readonly key: string
  readonly cid: CidText
  /** Its id in HRC's documents. */
  readonly event: CidText
  /** The epoch after it, and who holds the pen then. */
  readonly epoch: number
  readonly owner: string
  readonly status: string
  /** The latest tick of a commit up to here since the lane was opened or taken over; 0 where there is none. */
  readonly tick: Tick
  /** The takeover that it rests on; empty where there is none. */
  readonly base: string
  /** The keys of the nodes that it follows. */
  readonly follows: readonly string[]
}

/** A node that no other follows. */
export interface LaneHead {
  /** See `eventKey`. */
  readonly key: string
  readonly event: CidText
  readonly status: string
  /** The entries that are this node, sorted. */
  readonly entries: readonly CidText[]
}

/** Who holds the pen, as far as an entry is judged by it. */
export interface HeldPast {
  readonly standing: 'held'
  readonly owner: string
  readonly epoch: number
  /** One; more are a fork that the owner joins. By event. */
  readonly heads: readonly LaneHead[]
  readonly tick: Tick
  readonly base: string
}

/** Nobody holds the pen until the roots take the lane over. */
export interface ContestedPast {
  readonly standing: 'contested'
  readonly why: 'commits' | 'openings' | 'takeovers'
  /** The epoch that is contested. */
  readonly epoch: number
}

/** What the past of an entry says of a lane; undefined where it holds no opening. */
export type PastView = ContestedPast | HeldPast | undefined

/** Who holds the pen, as a set of entries has it. */
export interface HeldView extends HeldPast {
  /** What was left behind when a commit moved the lane on. */
  readonly branches: readonly LaneHead[]
}

/** What contests a lane, as a set of entries has it. */
export interface ContestedView extends ContestedPast {
  /** The entries that stand against each other, sorted. */
  readonly cids: readonly CidText[]
}

/** What a set of entries says of a lane; undefined where nobody has opened it. */
export type View = ContestedView | HeldView | undefined

/** A commit that counts. */
export interface CountedCommit {
  readonly cid: CidText
  readonly author: string
  readonly epoch: number
  readonly proposal: CidText
  /** The takeover that its predecessor rests on. */
  readonly base: string
}

/** Returns what nodes and commits say of a lane, whatever order they come in. */
export function viewOf(nodes: readonly Placed[], commits: readonly CountedCommit[]): View {
  const bases = bestBases(nodes)
  if (bases.length > 1) {
    const of = nodes.filter(({ key }) => bases.includes(key))
    return contested('takeovers', of[0]!.epoch, of)
  }
  const [base = ''] = bases
  const line = nodes.filter((node) => node.base === base)
  if (line.length === 0) return undefined
  const first = line.filter(({ follows }) => follows.length === 0)
  if (base === '' && new Set(first.map(({ key }) => key)).size > 1)
    return contested('openings', 1, first)
  const twice = findEquivocation(commits, base)
  if (twice !== undefined) return contested('commits', twice[0]!.epoch, twice)
  return heldView(line, base)
}

function contested(
  why: ContestedView['why'],
  epoch: number,
  of: readonly { readonly cid: CidText }[],
): ContestedView {
  return { standing: 'contested', why, epoch, cids: of.map(({ cid }) => cid).sort() }
}

/** The takeovers of the highest epoch. */
function bestBases(nodes: readonly Placed[]): readonly string[] {
  const takeovers = nodes.filter(({ key, base }) => base !== '' && key === base)
  const best = takeovers.reduce((most, { epoch }) => Math.max(most, epoch), 0)
  return [...new Set(takeovers.filter(({ epoch }) => epoch === best).map(({ key }) => key))]
}

/** The commits of the first epoch that its owner has closed for two offers. */
function findEquivocation(
  commits: readonly CountedCommit[],
  base: string,
): readonly CountedCommit[] | undefined {
  const byEpoch = new Map<number, CountedCommit[]>()
  for (const commit of commits) {
    if (commit.base !== base) continue
    const of = byEpoch.get(commit.epoch)
    if (of === undefined) byEpoch.set(commit.epoch, [commit])
    else of.push(commit)
  }
  return [...byEpoch.values()]
    .filter((of) => new Set(of.map(({ proposal }) => proposal)).size > 1)
    .sort((a, b) => a[0]!.epoch - b[0]!.epoch)[0]
}

function heldView(line: readonly Placed[], base: string): HeldView {
  const epoch = line.reduce((most, node) => Math.max(most, node.epoch), 0)
  const followed = new Set(line.flatMap(({ follows }) => follows))
  const loose = line.filter(({ key }) => !followed.has(key))
  const top = line.filter((node) => node.epoch === epoch)
  return {
    standing: 'held',
    owner: top[0]!.owner,
    epoch,
    heads: headsOf(loose.filter((node) => node.epoch === epoch)),
    branches: headsOf(loose.filter((node) => node.epoch < epoch)),
    tick: top.reduce((most, { tick }) => Math.max(most, tick), 0),
    base,
  }
}

function headsOf(nodes: readonly Placed[]): readonly LaneHead[] {
  const groups = new Map<string, Placed[]>()
  for (const node of nodes) {
    const group = groups.get(node.key)
    if (group === undefined) groups.set(node.key, [node])
    else group.push(node)
  }
  return [...groups.values()]
    .map((group) => ({
      key: group[0]!.key,
      event: group[0]!.event,
      status: group[0]!.status,
      entries: group.map(({ cid }) => cid).sort(),
    }))
    .sort(byEvent)
}

/** Orders heads by the id that they have in HRC's documents. */
export function byEvent(a: LaneHead, b: LaneHead): number {
  return a.event < b.event ? -1 : a.event > b.event ? 1 : a.key < b.key ? -1 : 1
}
