import { type CidText, codecOf } from '../store/cid-text.ts'
import { type LaidOut, layOut, givenBytes } from './bundle/lay-out.ts'
import { type BlameReport, blameEntry } from './attribution/blame.ts'
import type { Context } from './context.ts'
import { getEntry, openContext } from './context.ts'
import { type DiffReport, diffEntries } from './diff-entries.ts'
import type { VerifiedEntry } from './entry/entry.ts'
import { HandoffError } from './errors.ts'
import { type GcReport, collectGarbage } from './gc.ts'
import { ArgumentError, assertArgument } from './kernel/errors.ts'
import { type Inbox, readInbox } from './inbox/inbox.ts'
import { Lanes } from './lanes/lanes.ts'
import { resolveEntry, resolveEntryCid, resolveRef, resolveStarts } from './graph/ref.ts'
import { type Signer, openKey } from './keyring.ts'
import { type Head, type Log, type Logged, allHeads, logOf } from './log.ts'
import type { PutInput, PutItem } from './put/put-all.ts'
import type { Putter } from './put/put-queue.ts'
import { PutQueue } from './put/put-queue.ts'
import type { PutReport, ResumeJson, RosterReport } from './reports.ts'
import { putReport, resumeReport, rosterReport } from './reports.ts'
import { resume } from './resume/resume.ts'
import type { CarSink, ExportReport } from './sync/export.ts'
import { exportCar } from './sync/export.ts'
import { Turns } from './relay/turns.ts'
import { Proofs } from './proof/proofs.ts'
import { Rosters } from './roster/rosters.ts'
import { type StoreConfig, folderOf, readConfig } from './store-folder.ts'
import type { Found } from './get.ts'
import { entryBlock, getDocument } from './get.ts'
import type { Shown } from './show.ts'
import { showRef } from './show.ts'
import type { StatsReport } from './stats.ts'
import { statsOf } from './stats.ts'
import type { StatusReport } from './status.ts'
import { statusOf } from './status.ts'
import { agentNeeded, type ResumeInput, type StoreChoice } from './store-options.ts'
import type { Standing } from './trust/standing.ts'
import type { Validated } from './validate.ts'
import { validateEntry } from './validate.ts'
import { type VerifyReport, verifyAll, verifyRefs } from './verify.ts'

export type { PutInput, PutItem } from './put/put-all.ts'
export type { OpenStoreOptions, ResumeInput } from './store-options.ts'

/**
 * Opens a store. The database is opened by the first call that needs it, after any key was unlocked, and held until
 * `close`.
 *
 * @throws {HandoffError} `HSTORE_STORE_MISSING`, `HSTORE_STORE_FOREIGN`, `HSTORE_INPUT_UNREADABLE`,
 * `HSTORE_VERSION_NEWER`.
 * @throws {ArgumentError} `HSTORE_ARGUMENT_INVALID` when an option is of another type, as every method does for its own.
 */
export async function openStore(options: StoreChoice): Promise<Store> {
  assertArgument('options', options, 'object')
  assertArgument('keys', options.keys, 'string')
  if (options.store !== undefined) assertArgument('store', options.store, 'string')
  const folder = folderOf(options)
  return new Store(folder, readConfig(folder), options)
}

/** An open store; every verb is a method. All throw what `openContext` throws at the first call. */
export class Store implements AsyncDisposable {
  readonly folder: string
  readonly config: StoreConfig
  readonly #options: StoreChoice
  readonly #signers = new Map<string, Promise<Signer>>()
  #context: Promise<Context> | undefined
  #isClosed = false
  readonly #author = async (): Promise<Putter> => {
    const { agent } = this
    const signer = await this.#signer(agent)
    return { agent, signer, context: await this.#open() }
  }
  readonly #puts: PutQueue = new PutQueue(this.#author)
  /** Relays of M8Shift. */
  readonly turns: Turns = new Turns(this.#author, () => this.#open())
  /** Lanes of HRC. */
  readonly lanes: Lanes = new Lanes(this.#author, () => this.#open())
  /** Who is trusted with what. */
  readonly rosters: Rosters = new Rosters(this.#author, () => this.#open())
  readonly proofs: Proofs = new Proofs(() => this.#open())

  constructor(folder: string, config: StoreConfig, options: StoreChoice) {
    this.folder = folder
    this.config = config
    this.#options = options
  }

  /** The agent that acts. Throws `HSTORE_AGENT_NEEDED` when none is named anywhere. */
  get agent(): string {
    const agent = this.#options.agent ?? this.config.agent
    if (agent !== undefined) return agent
    throw agentNeeded()
  }

  /** Puts an envelope: the bytes of its file, or a document as a value. Throws what `beginPut` throws. */
  async put(input: Uint8Array | object, options: PutInput = {}): Promise<PutReport> {
    this.#assertOpen()
    assertArgument('input', input, 'object')
    assertArgument('options', options, 'object')
    return putReport(await this.#puts.put(input, options))
  }

  /** Puts envelopes that wait for the disk together: each report once it is there, in order, up to the first that fails. */
  async *putAll(items: AsyncIterable<PutItem> | Iterable<PutItem>): AsyncGenerator<PutReport> {
    this.#assertOpen()
    for await (const put of this.#puts.all(items)) yield putReport(put)
  }

  /** Returns what a REF names: an entry's document, or an artifact. */
  async get(ref: string): Promise<Found> {
    const context = await this.#open()
    return getDocument(context, await resolveRef(context, ref))
  }

  /** Returns what a REF names with what a reader wants to know of it; also a list of artifacts by its CID. */
  async show(ref: string): Promise<Shown> {
    return showRef(await this.#open(), ref)
  }

  /** Returns the exact bytes of an entry's block. */
  async getEntryBlock(ref: string): Promise<Uint8Array> {
    const context = await this.#open()
    return entryBlock(context, await resolveRef(context, ref))
  }

  /** Returns the file as it was given to `put`. */
  async getOriginal(ref: string): Promise<Uint8Array> {
    const context = await this.#open()
    return givenBytes(context, await resolveEntry(context, ref))
  }

  /** Lays out an envelope's bundle in a new or empty folder. */
  async layOut(ref: string, folder: string): Promise<LaidOut> {
    const context = await this.#open()
    return layOut(context, await resolveEntry(context, ref), folder)
  }

  /** Verifies the entries that REFs name with all that they rest on; without any, every block of the store. */
  async verify(refs?: readonly string[], full = false): Promise<VerifyReport> {
    const context = await this.#open()
    if (refs === undefined) return verifyAll(context, full)
    if (!Array.isArray(refs)) throw new ArgumentError(`refs: wanted an array, got ${typeof refs}`)
    const cids: CidText[] = []
    for (const ref of refs as readonly string[]) cids.push(await resolveRef(context, ref))
    return verifyRefs(context, cids, full)
  }

  /** Asks the gate whether the agent may go on from an entry. */
  async resume(ref: string, input: ResumeInput = {}): Promise<ResumeJson> {
    assertArgument('input', input, 'object')
    const agent = this.agent
    const certify = input.certificate !== false
    const signer = certify ? await this.#signer(agent) : undefined
    const context = await this.#open()
    const report = await resume(context, await resolveEntryCid(context, ref), {
      agent,
      signer,
      certify,
      acceptShallow: input.acceptShallow ?? [],
      full: input.full === true,
      out: input.out,
      now: input.now,
    })
    return resumeReport(report, agent)
  }

  /** Returns the handoff profile's verdict on the document that a REF names, over the files in the store. */
  async validate(ref: string): Promise<Validated> {
    const context = await this.#open()
    return validateEntry(context, await resolveEntry(context, ref))
  }

  /** Returns an entry and its ancestors, children first; of a stream those of all heads; of notes their signers' chains. */
  async log(ref: string, limit?: number): Promise<readonly Logged[]> {
    return [...(await this.openLog(ref, limit))]
  }

  /** Returns the same as `log`, packed: for histories of any length. It can be read when the store is closed. */
  async openLog(ref: string, limit: number = Number.MAX_SAFE_INTEGER): Promise<Log> {
    const context = await this.#open()
    return logOf(context, await resolveStarts(context, ref), limit)
  }

  /** Returns how the documents of two entries of one kind differ, by records. */
  async diff(a: string, b: string): Promise<DiffReport> {
    return diffEntries(await this.#open(), a, b)
  }

  /** Returns whose word each record of an envelope is. */
  async blame(ref: string): Promise<BlameReport> {
    return blameEntry(await this.#open(), ref)
  }

  /** Returns the entry that a REF names. */
  async entry(ref: string): Promise<VerifiedEntry> {
    return resolveEntry(await this.#open(), ref)
  }

  /** Returns what an entry is worth under the roster; undefined for an artifact, which nobody states. */
  async standing(ref: string): Promise<Standing | undefined> {
    const context = await this.#open()
    const cid = await resolveRef(context, ref)
    return codecOf(cid) === 'raw'
      ? undefined
      : context.trust.standingOf(await getEntry(context, cid))
  }

  /** Returns what waits for the agent at a tick, over all lanes and relays. Needs no key. */
  async inbox(now: number): Promise<Inbox> {
    const { agent } = this
    return readInbox(await this.#open(), agent, now)
  }

  /** Returns the heads of all streams. */
  async heads(): Promise<readonly Head[]> {
    return allHeads(await this.#open())
  }

  /** Returns how the store stands: heads, forks, what does not count, damage seen. */
  async status(): Promise<StatusReport> {
    return statusOf(await this.#open())
  }

  /** Returns what the store holds, in numbers. */
  async stats(): Promise<StatsReport> {
    return statsOf((await this.#open()).db)
  }

  /**
   * Deletes what no entry leads to; throws what `collectGarbage` throws.
   *
   * @param nowMs - The time, in ms since 1970: files younger than a day are spared.
   */
  async gc(nowMs: number): Promise<GcReport> {
    assertArgument('nowMs', nowMs, 'number')
    const { db } = await this.#open()
    return this.#puts.alone(() => collectGarbage(db, nowMs))
  }

  /**
   * Writes a CAR of what REFs name with all that it rests on; without any, of the whole store: see `exportCar`.
   */
  async export(out: CarSink, refs: readonly string[] = []): Promise<ExportReport> {
    return exportCar(await this.#open(), refs, out)
  }

  /** Returns the highest accepted roster. */
  async roster(): Promise<RosterReport> {
    return rosterReport((await this.#open()).trust)
  }

  /** Gives an agent a key, as a new roster version signed by this agent; `rosters.make` can more. */
  async addToRoster(
    agent: string,
    did: string,
    machine: string,
  ): Promise<RosterReport & { readonly new: boolean }> {
    const change = { change: 'add', level: undefined, grants: [], replaces: undefined } as const
    return this.rosters.make({ ...change, agent, did, machine })
  }

  /** Lets go of the database. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const acts of [this.#puts, this.turns, this.lanes, this.rosters]) await acts.settled()
    const opened = this.#context
    this.#context = undefined
    const context = await opened?.catch(() => undefined)
    await context?.[Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #assertOpen(): void {
    if (!this.#isClosed) return
    throw new HandoffError('HSTORE_USAGE', 'the store was closed: open it again')
  }

  #open(): Promise<Context> {
    this.#assertOpen()
    const { keys: keysFolder, waitMs = 30_000, genesis, open, scans } = this.#options
    const { folder } = this
    this.#context ??= openContext({ folder, keysFolder, waitMs, genesis, open, scans })
    return this.#context
  }

  #signer(agent: string): Promise<Signer> {
    const { keys, passphrase, sshAgent } = this.#options
    const known = this.#signers.get(agent)
    if (known !== undefined) return known
    const opened = openKey(keys, agent, passphrase ?? (async () => undefined), sshAgent)
    this.#signers.set(agent, opened)
    opened.catch(() => this.#signers.delete(agent))
    return opened
  }
}
