import type { Signer } from '../../../keys/signer.ts'
import { HashedBlock } from '../../../store/block.ts'
import { encodeForm } from '../../../store/canonical.ts'
import type { CidText } from '../../../store/cid-text.ts'
import { planRows } from '../../../store/indexes.ts'
import { tipKey } from '../../../store/keyspace.ts'
import type { Context } from '../../../src/context.ts'
import type { Payload } from '../../../src/entry/entry.ts'
import { rowOf } from '../../../src/entry/row.ts'
import { seal } from '../../../src/entry/seal.ts'
import type { LaneBody, Observed } from '../../../src/lanes/bodies.ts'
import { laneForm, nameOf, refsOf } from '../../../src/lanes/bodies.ts'
import type { Lane } from '../../../src/lanes/load.ts'
import { loadLane, signedBefore } from '../../../src/lanes/load.ts'
import { readDigest } from '../../../src/lanes/observed.ts'
import type { ShownLane } from '../../../src/lanes/shown.ts'
import { shownLane } from '../../../src/lanes/shown.ts'
import { chainAfter } from '../../../src/put/append.ts'
import { openBelow, signerOf } from '../../support/forge.ts'
import type { TestStore } from '../../support/store.ts'

/** A body whose `observed` is made from what `through` leads to. */
export type Draft = LaneBody extends infer B
  ? B extends { readonly observed: Observed }
    ? Omit<B, 'observed'> & { readonly observed?: Observed }
    : B
  : never

/** What differs from an entry that is rightly made. */
export interface Odds {
  /** Hangs on these; on nothing when absent. */
  readonly parents?: readonly CidText[]
  /** What its author had been handed; the parents and refs when absent. */
  readonly through?: readonly CidText[]
  readonly payload?: Partial<Payload>
}

/** Writes entries into lanes past all that the verbs would refuse, each signed by its agent. */
export class LaneBench {
  readonly #context: Context
  readonly #store: TestStore
  readonly #signers = new Map<string, Signer>()

  private constructor(store: TestStore, context: Context) {
    this.#store = store
    this.#context = context
  }

  /** Opens a bench; it holds the store until it is closed. */
  static async open(store: TestStore): Promise<LaneBench> {
    return new LaneBench(store, await openBelow(store))
  }

  get context(): Context {
    return this.#context
  }

  async close(): Promise<void> {
    await this.#context[Symbol.asyncDispose]()
  }

  /** Returns a lane as the store has it. */
  lane(name: string): Promise<Lane> {
    return loadLane(this.#context, name)
  }

  /** Returns how a lane stands at a tick. */
  async shown(name: string, now = 0): Promise<ShownLane> {
    return shownLane(await this.lane(name), now)!
  }

  /** Returns why an entry does not count, by code; undefined where it does. */
  async faultOf(name: string, cid: CidText): Promise<string | undefined> {
    const { folding } = await this.lane(name)
    const counts = folding.placed.has(cid) || folding.notes.has(cid)
    return folding.faults.get(cid)?.code ?? (counts ? undefined : 'no item')
  }

  /** Signs and stores an entry of a lane. */
  async sign(agent: string, name: string, draft: Draft, odds: Odds = {}): Promise<CidText> {
    const signer = await this.#signer(agent)
    const stream = `lane:${name}`
    const lane = await this.lane(name)
    const tips = (this.#context.db.readRow('tips', tipKey(stream, signer.did)) ?? []).map((cid) =>
      lane.entries.get(cid as CidText)!,
    )
    const chain = chainAfter(tips)
    const parents = [...(odds.parents ?? [])].sort()
    const through = odds.through ?? [...parents, ...refsOf(draft as LaneBody)]
    const body = wantsObserved(draft)
      ? ({
          ...draft,
          observed: observed(lane, signer, through, odds.payload?.prev ?? chain.prev),
        } as LaneBody)
      : (draft as LaneBody)
    const block = HashedBlock.of(encodeForm(laneForm(body)), 'dag-json')
    const sealed = seal(
      {
        artifacts: undefined,
        author: agent,
        body: block.cid,
        kind: body.kind,
        name: nameOf(body),
        parents,
        refs: refsOf(body),
        roster: this.#context.trust.rosterBody,
        shallow: [],
        signer: signer.did,
        source: undefined,
        store: this.#context.trust.genesis,
        stream,
        witness: false,
        ...chain,
        ...odds.payload,
      },
      signer,
    )
    await this.#context.db.commit({
      blocks: [sealed.block, block],
      rows: planRows((index, key) => this.#context.db.readRow(index, key), rowOf(sealed.entry)),
    })
    return sealed.entry.cid
  }

  async #signer(agent: string): Promise<Signer> {
    const known = this.#signers.get(agent) ?? (await signerOf(this.#store, agent))
    this.#signers.set(agent, known)
    return known
  }
}

function wantsObserved(draft: Draft): boolean {
  const kinds = ['ack', 'lane-status', 'proposal']
  return kinds.includes(draft.kind) && !('observed' in draft && draft.observed !== undefined)
}

function observed(
  lane: Lane,
  signer: Signer,
  through: readonly CidText[],
  prev: readonly CidText[],
): Observed {
  const { graph } = lane.readable
  const ends = graph.ends(graph.reach(through))
  const before = signedBefore(lane, signer.did, prev)
  return { held: readDigest(lane.readable, signer.did, ends, before)!, through: ends }
}

/** Returns the body of an opening. */
export function opening(name: string): Draft {
  return { kind: 'lane-open', lane_id: name, ownership_epoch: 1, status: 'ACTIVE' }
}

/** Returns the body of a status on a predecessor. */
export function status(name: string, on: CidText, next: string, epoch = 1): Draft {
  return { kind: 'lane-status', ...step(name, on, epoch), next_status: next }
}

/** Returns the body of an offer on a predecessor. */
export function offer(name: string, on: CidText, to: string, epoch = 1): Draft {
  return {
    kind: 'proposal',
    ...step(name, on, epoch),
    target_owner_ref: to,
    target_ownership_epoch: epoch + 1,
    reachability_surface_ref: 'board:v2',
  }
}

/** Returns the body of a signal that holds from tick 500 to 560. */
export function signal(name: string): Draft {
  return {
    kind: 'signal',
    lane_id: name,
    surface_ref: 'board:v2',
    status: 'READY',
    observed_at_tick: 500,
    valid_until_tick: 560,
  }
}

/** Returns the body of an acknowledgement. */
export function ack(name: string, of: CidText, on: CidText, epoch = 2): Draft {
  return {
    kind: 'ack',
    lane_id: name,
    accepted_handoff_event_id: of,
    accepted_ownership_epoch: epoch,
    observed_predecessor_id: on,
  }
}

/** Returns the body of a commit at tick 530. */
export function commit(
  name: string,
  [proposal, by, accepted]: readonly [CidText, CidText, CidText],
  epoch = 1,
  tick = 530,
): Draft {
  return {
    kind: 'lane-commit',
    lane_id: name,
    ownership_epoch: epoch,
    proposal,
    signal: by,
    ack: accepted,
    tick,
  }
}

function step(name: string, on: CidText, epoch: number) {
  return {
    lane_id: name,
    writer_ownership_epoch: epoch,
    observed_through_event_id: on,
    expected_predecessor_id: on,
  }
}
