import type { CidText } from '../../store/cid-text.ts'
import type { Fate, Unstored } from './fate.ts'
import { unstoredIn } from './fate.ts'
import type { Hello } from './greet.ts'
import { greet } from './greet.ts'
import { meantStream } from './meant-stream.ts'
import { assertSameStore } from './peer.ts'
import { Progress } from './progress.ts'
import type { ProgressState } from './progress.ts'
import type { Transport } from './protocol.ts'
import { Puller } from './pull.ts'
import type { Pushed } from './push.ts'
import { push } from './push.ts'
import type { Quarantine } from './quarantine.ts'
import type { Difference, WithOwn } from './reconcile.ts'
import { reconcile } from './reconcile.ts'
import type { RemoteMarks } from './remote-marks.ts'
import type { Tips } from './trees.ts'
import { tipsIn } from './trees.ts'

/** How two stores are synced. */
export interface SessionOptions {
  readonly pull: boolean
  readonly push: boolean
  /** One stream, with the rosters; all when absent. The family may be left out where the rest is unique. */
  readonly stream?: string | undefined
  /** Only say what would go over. */
  readonly dryRun: boolean
  /** The time, in ms since 1970. */
  readonly nowMs: number
  readonly onProgress?: ((state: ProgressState) => void) | undefined
}

/** An end of a chain that a remote had once, and has no more. */
export interface Vanished {
  readonly stream: string
  readonly cid: string
}

/** What a sync did. */
export interface SessionReport {
  readonly pulled: number
  readonly pushed: number
  /** What was not stored here, and why. */
  readonly unstored: readonly Unstored[]
  /** What the remote did not take, and why. */
  readonly untaken: readonly Unstored[]
  readonly vanished: readonly Vanished[]
  /** Entries that the remote has and this store has not, afterwards; and the other way round. */
  readonly behind: number
  readonly ahead: number
  /** Bytes of blocks in both directions. */
  readonly sizeBytes: number
}

/**
 * Syncs this store with a remote, both ways in one go, and returns what is to be remembered of it.
 *
 * @throws {HandoffError} `HSTORE_REMOTE_FAILED`, `HSTORE_REMOTE_INVALID`, `HSTORE_REMOTE_DENIED`,
 * `HSTORE_GENESIS_MISMATCH`, `HSTORE_REF_NOT_FOUND` or `HSTORE_REF_AMBIGUOUS` for `stream`; what came until then is stored or waits.
 */
export async function syncSession(
  withOwn: WithOwn,
  transport: Transport,
  quarantine: Quarantine,
  marks: RemoteMarks,
  options: SessionOptions,
): Promise<{ readonly report: SessionReport; readonly marks: RemoteMarks }> {
  const session = new Session(withOwn, transport, quarantine, marks, options)
  return session.run()
}

class Session {
  readonly #withOwn: WithOwn
  readonly #transport: Transport
  readonly #quarantine: Quarantine
  readonly #marks: RemoteMarks
  readonly #options: SessionOptions
  readonly #progress: Progress
  /** The stream that is meant, once both sides were asked. */
  #stream: string | undefined

  constructor(
    withOwn: WithOwn,
    transport: Transport,
    quarantine: Quarantine,
    marks: RemoteMarks,
    options: SessionOptions,
  ) {
    this.#withOwn = withOwn
    this.#transport = transport
    this.#quarantine = quarantine
    this.#marks = marks
    this.#options = options
    this.#progress = new Progress(options.onProgress ?? (() => undefined))
  }

  async run(): Promise<{ readonly report: SessionReport; readonly marks: RemoteMarks }> {
    const puller = new Puller(this.#withOwn, this.#transport, this.#quarantine, this.#progress)
    let pushed: Pushed = { added: 0, untaken: [] }
    const vanished = new Map<string, Vanished>()
    let isFromEnd = false
    for (;;) {
      const before = { added: puller.added, unstored: puller.unstored.size }
      const side = await this.#greet()
      const found = await this.#compare(side, puller, isFromEnd)
      for (const one of this.#vanished(side.hello, found)) vanished.set(one.cid, one)
      const { missingHere, missingThere, countHere, isWhole } = found
      const done = { ...side, found, puller, vanished: [...vanished.values()] }
      if (this.#options.dryRun) {
        const counts = { behind: countHere, ahead: countOf(missingThere) }
        return { report: { ...nothing, ...counts, vanished: done.vanished }, marks: this.#marks }
      }
      await this.#pull(puller, missingHere, isWhole)
      // where the rosters that came give rights, what had none before is asked for again
      const isChanged = puller.roster !== undefined && puller.roster !== side.roster
      const isAskedAgain = isChanged && this.#parkedUnder(side.roster).size > 0
      const isIdle = puller.added === before.added && !isAskedAgain
      if (isWhole ? !isAskedAgain : isIdle && isFromEnd) {
        if (this.#options.pull) puller.end()
        if (isWhole) pushed = await this.#push(side.hello, missingThere)
        return this.#close({
          ...done,
          pushed,
          left: found.countHere + before.unstored - puller.added + before.added,
        })
      }
      // what rests on what comes much later is had from the other end
      isFromEnd = isIdle
    }
  }

  async #greet(): Promise<Side> {
    const { name: remote } = this.#transport
    const hello = await greet(this.#transport)
    const side = await this.#withOwn(async ({ db, ground, roster }) => {
      assertSameStore(ground.genesis, hello.genesis, remote)
      return { hello, tips: await tipsIn(db), roster }
    })
    this.#stream ??= meantStream(this.#options.stream, { ...side, marks: this.#marks, remote })
    return side
  }

  async #compare(
    { hello, roster, tips }: Side,
    { unstored }: Puller,
    isFromEnd: boolean,
  ): Promise<Difference> {
    const isMeant = (stream: string): boolean => this.#isMeant(stream)
    const untaken = this.#marks.untaken.roster === hello.roster ? this.#marks.untaken.cids : []
    const parked = this.#parkedUnder(roster)
    const isCount = this.#options.dryRun || !this.#options.pull
    return reconcile(this.#withOwn, this.#transport, {
      isFromEnd,
      watched: new Set([...Object.values(this.#marks.tips), ...tips.values()].flat()),
      theirs: hello.streams.filter(({ stream }) => isMeant(stream)),
      ours: [...tips.keys()].filter(isMeant),
      skippedHere: new Set([...parked, ...unstored.keys()]),
      skippedThere: new Set(untaken),
      most: isCount ? undefined : this.#quarantine.arrivals.round,
    })
  }

  #isMeant(stream: string): boolean {
    return this.#stream === undefined || stream === 'roster' || stream === this.#stream
  }

  #parkedUnder(roster: CidText): ReadonlySet<CidText> {
    const { parked } = this.#marks
    return new Set(parked.roster === roster ? parked.cids : [])
  }

  /** Ends of chains that the remote had, and neither it nor the difference knows of any more. */
  #vanished({ streams }: Hello, { lost }: Difference): Vanished[] {
    const told = new Set(streams.map(({ stream }) => stream))
    const vanished: Vanished[] = []
    for (const [stream, tips] of Object.entries(this.#marks.tips)) {
      if (!this.#isMeant(stream)) continue
      for (const cid of tips) if (!told.has(stream) || lost.has(cid)) vanished.push({ stream, cid })
    }
    return vanished
  }

  async #pull(
    puller: Puller,
    missing: ReadonlyMap<string, readonly CidText[]>,
    isLast: boolean,
  ): Promise<void> {
    const count = countOf(missing)
    if (!this.#options.pull || (count === 0 && this.#quarantine.arrivals.size === 0)) return
    this.#progress.begin('pull', count)
    await puller.run(missing, isLast)
  }

  async #push(
    { writes }: Hello,
    missing: ReadonlyMap<string, readonly CidText[]>,
  ): Promise<Pushed> {
    const isAsked = this.#options.push && (writes || !this.#options.pull)
    if (!isAsked || missing.size === 0) return { added: 0, untaken: [] }
    this.#progress.begin('push', countOf(missing))
    return push(this.#withOwn, this.#transport, missing, this.#progress)
  }

  async #close(done: Done): Promise<{ report: SessionReport; marks: RemoteMarks }> {
    const { hello, found, puller: pulled, pushed, vanished } = done
    const { missingThere } = found
    const unstored = unstoredIn(pulled.unstored)
    const report: SessionReport = {
      pulled: pulled.added,
      pushed: pushed.added,
      unstored,
      untaken: pushed.untaken,
      vanished,
      behind: Math.max(0, done.left),
      ahead: Math.max(0, countOf(missingThere) - pushed.added),
      sizeBytes: this.#progress.totalBytes,
    }
    const roster = pulled.roster ?? done.roster
    const parked = parkedIn(pulled.unstored)
    const before = this.#marks.parked.roster === roster ? this.#marks.parked.cids : []
    const settled = pushed.untaken.filter(({ fate }) => fate !== 'incomplete')
    const untaken = settled.map(({ cid }) => cid as CidText)
    const there = this.#marks.untaken.roster === hello.roster ? this.#marks.untaken.cids : []
    return {
      report,
      marks: {
        contactMs: this.#options.nowMs,
        tips: await this.#tipsThere(done),
        parked: { roster, cids: [...new Set([...before, ...parked])].sort() },
        untaken: { roster: hello.roster, cids: [...new Set([...there, ...untaken])].sort() },
        behind: report.behind,
        ahead: report.ahead,
      },
    }
  }

  /**
   * Ends of chains that the remote has, those that it had before it and those that came from it: what was put here since
   * then, it does not know. Of streams that were left out, what was known.
   */
  async #tipsThere({ tips: before, found, puller, pushed }: Done): Promise<RemoteMarks['tips']> {
    const untaken = new Set(pushed.untaken.map(({ cid }) => cid))
    const isPushed = this.#options.push && pushed.added > 0
    const isThere = (cid: CidText): boolean =>
      !found.lost.has(cid) || (isPushed && !untaken.has(cid))
    const after = await this.#withOwn(({ db }) => tipsIn(db))
    const tips = new Map<string, CidText[]>()
    for (const stream of new Set([...before.keys(), ...after.keys()])) {
      if (!this.#isMeant(stream)) continue
      const had = (before.get(stream) ?? []).filter(isThere)
      const came = (after.get(stream) ?? []).filter((cid) => puller.isNamed(cid))
      const there = new Set([...had, ...came])
      if (there.size > 0) tips.set(stream, [...there])
    }
    for (const [stream, cids] of Object.entries(this.#marks.tips))
      if (!this.#isMeant(stream)) tips.set(stream, [...new Set(cids)])
    return Object.fromEntries(tips)
  }
}

/** Both sides as they are when a round begins. */
interface Side {
  readonly hello: Hello
  readonly tips: Tips
  readonly roster: CidText
}

/** All that was done, with the last comparison. */
interface Done extends Side {
  readonly found: Difference
  readonly puller: Puller
  readonly pushed: Pushed
  readonly vanished: readonly Vanished[]
  /** Entries that the remote has and this store has not. */
  readonly left: number
}

const nothing = {
  pulled: 0,
  pushed: 0,
  unstored: [],
  untaken: [],
  vanished: [],
  behind: 0,
  ahead: 0,
  sizeBytes: 0,
}

function parkedIn(unstored: ReadonlyMap<CidText, Fate>): CidText[] {
  return [...unstored].filter(([, { fate }]) => fate === 'parked').map(([cid]) => cid)
}

function countOf(cids: ReadonlyMap<string, readonly CidText[]>): number {
  let count = 0
  for (const all of cids.values()) count += all.length
  return count
}
