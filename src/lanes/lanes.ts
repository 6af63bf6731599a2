import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import type { Tick } from '../contracts/hrc/documents.ts'
import type { HrcFile } from '../contracts/hrc/read-file.ts'
import { HandoffError } from '../errors.ts'
import { assertArgument, ArgumentError } from '../kernel/errors.ts'
import { SerialQueue } from '../kernel/serial-queue.ts'
import type { MayActInput, MayActReport, QuiescenceReport } from '../may-act/may-act.ts'
import { mayAct, quiescence } from '../may-act/may-act.ts'
import type { Putter } from '../put/put-queue.ts'
import { planJoin, planOffer, planOpen, planStatus } from './acts.ts'
import { planSignal } from './act-signal.ts'
import { planTakeover } from './act-takeover.ts'
import { planAck, planCommit, planDecline, planWithdraw } from './acts-offer.ts'
import { findHandoff, findNamed } from './handoff.ts'
import { assertKnown } from './known-agent.ts'
import type { LaneEntryRead, LaneReading } from './reading.ts'
import { logLane, readLane } from './reading.ts'
import type { LaneReport, LanePlan, Situation } from './write.ts'
import { act } from './write.ts'
import type { ShownLane } from './shown.ts'
import { showLane, showLanes } from './shown.ts'

/** How a handoff is completed. */
export interface CommitLaneInput {
  /** When, in whole seconds since 1970: what the commit carries, and what a replay judges by. */
  readonly now: Tick
  /** Whether a commit that is there already has to carry the same tick to be the answer. */
  readonly isNowGiven?: boolean
  /** The REF of the signal that it rests on; the addressee's latest when absent. */
  readonly signal?: string | undefined
  /** The REF of the acknowledgement; the addressee's when absent. */
  readonly ack?: string | undefined
}

/** What is offered, and to whom. */
export interface OfferLaneInput {
  readonly to: string
  /** Where the owner can see whether the addressee is reachable. */
  readonly surface: string
  /** The REF of the envelope or turn that is handed over. */
  readonly handoff?: string | undefined
}

/** What a participant says of itself. */
export interface SignalLaneInput {
  readonly surface: string
  readonly status: 'READY' | 'UNAVAILABLE'
  /** In whole seconds since 1970. */
  readonly now: Tick
  /** For how many seconds it holds. */
  readonly forSeconds: number
}

/**
 * The lanes of a store: who holds the pen, since which epoch, and how it is handed over. Each act gives HRC-001's
 * answer; `RECORDED` where it has none. All throw what `act` throws; what a lane that is contested, forked or unknown
 * does to an act stands in docs/lanes.md.
 */
export class Lanes {
  readonly #find: () => Promise<Putter>
  readonly #open: () => Promise<Context>
  readonly #queue = new SerialQueue()

  /**
   * @param find - Unlocks the key and opens the store, in this order.
   * @param open - Opens the store.
   */
  constructor(find: () => Promise<Putter>, open: () => Promise<Context>) {
    this.#find = find
    this.#open = open
  }

  /** Opens a lane whose owner is the agent; throws `HSTORE_LANE_EXISTS` where it is open otherwise. */
  async open(lane: string, status = 'ACTIVE'): Promise<LaneReport> {
    assertTexts({ status })
    return this.#act(lane, (situation) => planOpen(situation, status))
  }

  /** Gives a lane its next status. */
  async status(lane: string, status: string): Promise<LaneReport> {
    assertTexts({ status })
    return this.#act(lane, (situation) => planStatus(situation, status))
  }

  /** Offers a lane to an agent of the roster. */
  async propose(lane: string, input: OfferLaneInput): Promise<LaneReport> {
    assertArgument('input', input, 'object')
    const { to, surface, handoff } = input
    assertTexts({ surface })
    assertArgument('to', to, 'string')
    return this.#inTurn(async () => {
      const putter = await this.#find()
      assertKnown(putter.context, to)
      const cid = handoff === undefined ? undefined : await findHandoff(putter.context, handoff)
      return act(putter.context, lane, putter, (situation) =>
        planOffer(situation, { to, surface, handoff: cid }),
      )
    }, lane)
  }

  /** Takes an offer back: the one that is open, or the named one. */
  async withdraw(lane: string, offer?: string): Promise<LaneReport> {
    return this.#onOffer(lane, offer, planWithdraw)
  }

  /** Refuses an offer as its addressee. */
  async decline(lane: string, offer?: string): Promise<LaneReport> {
    return this.#onOffer(lane, offer, planDecline)
  }

  /** Accepts exactly one offer as its addressee. */
  async ack(lane: string, offer?: string): Promise<LaneReport> {
    return this.#onOffer(lane, offer, planAck)
  }

  /** Says whether the agent can be reached over a surface, and for how long. */
  async signal(lane: string, input: SignalLaneInput): Promise<LaneReport> {
    assertArgument('input', input, 'object')
    const { surface, status, now, forSeconds } = input
    assertTexts({ surface })
    assertTick('now', now)
    assertTick('forSeconds', forSeconds)
    assertTick('now + forSeconds', now + forSeconds)
    return this.#act(lane, (situation) =>
      planSignal(situation, { surface, status, now, until: now + forSeconds }),
    )
  }

  /** Completes the handoff that is offered. */
  async commit(lane: string, input: CommitLaneInput): Promise<LaneReport> {
    assertArgument('input', input, 'object')
    const { now, isNowGiven = true, signal, ack } = input
    assertTick('now', now)
    return this.#inTurn(async () => {
      const putter = await this.#find()
      const named = {
        signal: await findOr(putter.context, signal, 'signal'),
        ack: await findOr(putter.context, ack, 'ack'),
      }
      return act(putter.context, lane, putter, (situation) =>
        planCommit(situation, { now, isNowGiven, ...named }),
      )
    }, lane)
  }

  /** Joins the heads of a lane and what a commit left behind. */
  async join(lane: string, status?: string): Promise<LaneReport> {
    if (status !== undefined) assertTexts({ status })
    return this.#act(lane, (situation) => planJoin(situation, status))
  }

  /** Takes a lane over for an agent, as one of the roots; it counts once enough of them have said the same. */
  async takeover(lane: string, to: string, reason: string): Promise<LaneReport> {
    assertArgument('to', to, 'string')
    assertTexts({ reason })
    return this.#inTurn(async () => {
      const putter = await this.#find()
      assertKnown(putter.context, to)
      return act(putter.context, lane, putter, (situation) => planTakeover(situation, to, reason))
    }, lane)
  }

  /**
   * Hands the agent what it has not read of a lane; what is read counts as read once `hand` has taken it. Needs no key.
   */
  async read(
    lane: string,
    agent: string,
    hand: (reading: LaneReading) => Promise<void> | void = () => undefined,
  ): Promise<LaneReading> {
    assertArgument('agent', agent, 'string')
    return this.#inTurn(async () => readLane(await this.#open(), lane, agent, hand), lane)
  }

  /** Returns how a lane stands, with HRC's answer on each offer at a tick; undefined where nobody has opened it. */
  async show(lane: string, now: Tick): Promise<ShownLane | undefined> {
    assertArgument('lane', lane, 'string')
    assertTick('now', now)
    return showLane(await this.#open(), lane, now)
  }

  /** Returns how all lanes stand, by name. */
  async all(now: Tick): Promise<readonly ShownLane[]> {
    assertTick('now', now)
    return showLanes(await this.#open(), now)
  }

  /** Returns the entries of a lane, the last first. Hands nothing out as read. */
  async log(lane: string): Promise<readonly LaneEntryRead[]> {
    assertArgument('lane', lane, 'string')
    return logLane(await this.#open(), lane)
  }

  /** Returns whether an execution may still cause effects on its lane; throws what `mayAct` throws. Needs no key. */
  async mayAct(input: MayActInput, now: Tick): Promise<MayActReport> {
    assertTick('now', now)
    return mayAct(this.#open, input, now)
  }

  /** Returns whether all executions that lost the ownership of a lane have ended; throws what `quiescence` throws. */
  async quiescent(lane: string, executions: HrcFile, now: Tick): Promise<QuiescenceReport> {
    assertTick('now', now)
    return quiescence(this.#open, lane, executions, now)
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await this.#queue.settled()
  }

  #act(lane: string, plan: (situation: Situation) => LanePlan): Promise<LaneReport> {
    return this.#inTurn(async () => {
      const putter = await this.#find()
      return act(putter.context, lane, putter, plan)
    }, lane)
  }

  #onOffer(
    lane: string,
    offer: string | undefined,
    plan: (situation: Situation, named: CidText | undefined) => LanePlan,
  ): Promise<LaneReport> {
    return this.#inTurn(async () => {
      const putter = await this.#find()
      const named = await findOr(putter.context, offer, 'proposal')
      return act(putter.context, lane, putter, (situation) => plan(situation, named))
    }, lane)
  }

  async #inTurn<T>(work: () => Promise<T>, lane: string): Promise<T> {
    assertArgument('lane', lane, 'string')
    return this.#queue.run(work)
  }
}

async function findOr(
  context: Context,
  ref: string | undefined,
  kind: string,
): Promise<CidText | undefined> {
  return ref === undefined ? undefined : findNamed(context, ref, kind)
}

const maxTextBytes = 4096

function assertTexts(texts: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(texts)) {
    assertArgument(name, text, 'string')
    if (text !== '' && Buffer.byteLength(text) <= maxTextBytes) continue
    throw new HandoffError('HSTORE_USAGE', `the ${name} has to be of 1 to ${maxTextBytes} bytes`)
  }
}

function assertTick(name: string, tick: Tick): void {
  assertArgument(name, tick, 'number')
  if (Number.isSafeInteger(tick) && tick >= 0) return
  throw new ArgumentError(`${name}: wanted whole seconds from 0 on, got ${tick}`)
}
