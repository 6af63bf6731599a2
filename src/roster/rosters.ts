import type { Signer } from '../../keys/signer.ts'
import { decodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { isCidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { groundIn, reloadTrust } from '../context.ts'
import { HandoffError } from '../errors.ts'
import { resolveEntry } from '../graph/ref.ts'
import { ArgumentError, assertArgument } from '../kernel/errors.ts'
import { SerialQueue } from '../kernel/serial-queue.ts'
import { quoted } from '../kernel/shown.ts'
import type { Putter } from '../put/put-queue.ts'
import type { RosterReport } from '../reports.ts'
import { rosterReport } from '../reports.ts'
import { readRoster } from '../trust/read-roster.ts'
import type { Roster } from '../trust/roster.ts'
import { cutsOf } from '../trust/roster.ts'
import { findCut } from '../trust/cut.ts'
import { trustAfter } from './after.ts'
import type { Checked } from './check.ts'
import { checkEntry } from './check.ts'
import type { CutPlace, CutPlan } from './cut-plan.ts'
import { tellCut } from './cut-plan.ts'
import { freeze, planFreeze } from './freeze.ts'
import type { RosterPlan } from './plan.ts'
import { planChange } from './plan.ts'
import { unfitAmong } from './read.ts'
import type { RosterChange } from './roster-change.ts'
import type { Candidate } from './submit.ts'
import { candidatesOf, findCandidate, submit } from './submit.ts'
import { changesBetween } from './told.ts'

/** A version that waits for signatures. */
export interface CandidateReport {
  readonly body: string
  readonly version: number
  /** The holders who have signed. */
  readonly signed: readonly string[]
  /** How many more have to sign, of those of the roster before and of its own. */
  readonly lacks: { readonly before: number; readonly own: number }
}

/** What a verb that changes the roster gives. */
export interface RosterMade extends RosterReport {
  /** Whether a signature was made; false when nothing was to be changed. */
  readonly new: boolean
  /** The version that was signed and waits for more signatures; null when it counts. */
  readonly candidate: CandidateReport | null
  readonly cuts: readonly CutPlan[]
  /** Patterns that the change lets an agent read, and that no stream here fits yet. */
  readonly unfit: readonly string[]
}

/** What `show` gives. */
export interface RosterShown extends RosterReport {
  /** Bodies that are accepted against each other; none in good times. */
  readonly fork: readonly string[]
  /** Bodies that others have accepted and that the path has passed by. */
  readonly beside: readonly string[]
  readonly candidates: readonly CandidateReport[]
  /** Freezes that no roster has answered. */
  readonly freezes: readonly {
    readonly cid: string
    readonly author: string
    readonly key: string
  }[]
}

/** How a version is signed. */
export interface SignOptions {
  /** Sign it although another with its number has this signature; else that is refused. */
  readonly instead?: boolean
}

/** A candidate and what it would change, for the root that is to sign it. */
export interface CandidatePlan {
  readonly candidate: CandidateReport
  readonly lines: readonly string[]
  readonly cuts: readonly CutPlan[]
}

/** The rosters of a store: who is trusted with what. What changes one goes one after the other. */
export class Rosters {
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

  /** Returns an accepted roster, the highest unless a version is named. Throws `HSTORE_REF_NOT_FOUND`. */
  async show(version?: number): Promise<RosterShown> {
    const context = await this.#open()
    const { trust } = context
    const report = rosterReport(trust)
    const shown =
      version === undefined ? report : { ...report, ...(await rosterAt(context, version)) }
    return {
      ...shown,
      fork: trust.fork,
      beside: trust.beside,
      candidates: (await candidatesOf(context)).map(candidateReport),
      freezes: trust.freezes
        .filter(({ cid, signer }) => trust.freezesOf(signer).some(({ entry }) => entry.cid === cid))
        .map(({ cid, author, signer }) => ({ cid, author, key: signer })),
    }
  }

  /** Returns what a change would come to; writes nothing. Throws what `planChange` throws. */
  async plan(change: RosterChange): Promise<RosterPlan> {
    assertArgument('change', change, 'object')
    return planChange(await this.#open(), change)
  }

  /**
   * Makes a change, as the next version of the roster, signed by the acting agent.
   *
   * @param options - `instead` where the agent may have signed another version with its number.
   * @throws {HandoffError} what `planChange` and `submit` throw.
   */
  async make(change: RosterChange, { instead = false }: SignOptions = {}): Promise<RosterMade> {
    assertArgument('change', change, 'object')
    return this.#inTurn(async ({ context, signer }) => {
      const { next, blocks, cuts } = await planChange(context, change)
      const body = next && (await submit(context, signer, next, blocks, instead))
      const unfit = 'read' in change ? await unfitAmong(context, readOf(next, change.agent)) : []
      return { ...(await made(context, body, cuts)), unfit }
    })
  }

  /** Returns what a candidate would change; undefined for a version that is accepted. Throws `HSTORE_REF_NOT_FOUND`. */
  async planSign(body: string): Promise<CandidatePlan | undefined> {
    const context = await this.#open()
    if (isAccepted(context, body)) return undefined
    const candidate = await getCandidate(context, body)
    const ground = groundIn(context.db, context.marks)
    const trust = trustAfter(context, candidate.roster, [])
    const old = cutsOf(context.trust.roster)
    const cuts: CutPlan[] = []
    for (const cid of cutsOf(candidate.roster)) {
      const form = old.includes(cid) ? 'other' : ground.findForm(cid)
      const cut = typeof form === 'string' ? undefined : findCut(form)
      if (cut !== undefined) cuts.push(await tellCut(context, cut, { trust }))
    }
    const lines = changesBetween(context.trust.roster, candidate.roster)
    return { candidate: candidateReport(candidate), lines, cuts }
  }

  /**
   * Adds the acting agent's signature to a candidate; nothing for a version that is accepted.
   *
   * @param options - As of `make`.
   * @throws {HandoffError} `HSTORE_REF_NOT_FOUND` and what `submit` throws.
   */
  async sign(body: string, { instead = false }: SignOptions = {}): Promise<RosterMade> {
    return this.#inTurn(async ({ context, signer }) => {
      if (isAccepted(context, body)) return made(context, undefined, [])
      const candidate = await getCandidate(context, body)
      if (candidate.signers.includes(signer.did))
        return { ...(await made(context, candidate.body, [])), new: false }
      const { roster } = candidate
      return made(context, await submit(context, signer, roster, [], instead), [])
    })
  }

  /**
   * Goes on with one of the rosters that stand against each other, on this machine.
   *
   * @throws {HandoffError} `HSTORE_REF_NOT_FOUND` when the body is none of them.
   */
  async pin(body: string): Promise<RosterShown> {
    assertArgument('body', body, 'string')
    const context = await this.#open()
    const { fork } = context.trust
    const chosen = fork.find((one) => one === body)
    if (chosen === undefined) {
      const why =
        fork.length === 0
          ? 'no two rosters are accepted at one version'
          : `choose ${fork.join(' or ')}`
      throw new HandoffError('HSTORE_REF_NOT_FOUND', `${quoted(body)} can't be pinned: ${why}`)
    }
    await reloadTrust(context, chosen)
    return this.show()
  }

  /** Returns why an entry is valid, held or rejected. */
  async check(ref: string): Promise<Checked> {
    const context = await this.#open()
    return checkEntry(context.trust, await resolveEntry(context, ref))
  }

  /** Returns what a freeze of the acting agent's key would leave valid; writes nothing. */
  async planFreeze(place: CutPlace): Promise<CutPlan> {
    const { context, signer } = await this.#find()
    return tellCut(context, await planFreeze(context, signer.did, place))
  }

  /** Freezes the acting agent's key: all that is outside waits for a roster. Throws what `freeze` throws. */
  async freeze(place: CutPlace): Promise<CutPlan & { readonly entry: string }> {
    return this.#inTurn(async ({ agent, context, signer }) => {
      const cut = await planFreeze(context, signer.did, place)
      const told = await tellCut(context, cut)
      return { ...told, entry: await freeze(context, agent, signer, cut) }
    })
  }

  /** Resolves when no change is under way. */
  async settled(): Promise<void> {
    await this.#queue.settled()
  }

  async #inTurn<T>(work: (putter: Putter & { readonly signer: Signer }) => Promise<T>): Promise<T> {
    return this.#queue.run(async () => work(await this.#find()))
  }
}

function isAccepted({ trust }: Context, body: string): boolean {
  return trust.path.some((one) => one === body)
}

async function made(
  context: Context,
  body: CidText | undefined,
  cuts: readonly CutPlan[],
): Promise<RosterMade> {
  const isOpen = body !== undefined && body !== context.trust.rosterBody
  const candidate = isOpen ? await findCandidate(context, body) : undefined
  return {
    ...rosterReport(context.trust),
    new: body !== undefined,
    candidate: candidate === undefined ? null : candidateReport(candidate),
    cuts,
    unfit: [],
  }
}

function readOf(roster: Roster | undefined, agent: string): readonly string[] {
  return roster?.agents.find(({ id }) => id === agent)?.read ?? []
}

function candidateReport({ body, version, signed, lacks, lacksOwn }: Candidate): CandidateReport {
  return { body, version, signed, lacks: { before: lacks, own: lacksOwn } }
}

async function getCandidate(context: Context, body: string): Promise<Candidate> {
  assertArgument('body', body, 'string')
  const found = isCidText(body) ? await findCandidate(context, body) : undefined
  if (found !== undefined) return found
  throw new HandoffError(
    'HSTORE_REF_NOT_FOUND',
    `${quoted(body)} is no roster that waits for signatures: hstore roster show lists them`,
  )
}

async function rosterAt(
  { db, trust }: Context,
  version: number,
): Promise<Pick<RosterReport, 'agents' | 'body' | 'roots' | 'threshold' | 'version'>> {
  if (!Number.isSafeInteger(version))
    throw new ArgumentError(`version: wanted a whole number, got ${version}`)
  const body = trust.path[version]
  if (body === undefined) {
    throw new HandoffError(
      'HSTORE_REF_NOT_FOUND',
      `version ${version} of the roster is not accepted here: the highest is ${trust.roster.version}`,
    )
  }
  const { agents, roots, threshold } = readRoster(decodeForm(await db.get(body)).form)
  return { agents, body, roots, threshold, version }
}
