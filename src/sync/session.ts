import type { CidText } from '../../store/cid-text.ts'
import { tipPrefix } from '../../store/keyspace.ts'
import type { Fate, Unstored } from './fate.ts'
import { unstoredIn } from './fate.ts'
import type { Hello } from './greet.ts'
import { greet } from './greet.ts'
import { assertSameStore } from './peer.ts'
import { Progress } from './progress.ts'
import type { ProgressState } from './progress.ts'
import type { Transport } from './protocol.ts'
import { pull } from './pull.ts'
import { push } from './push.ts'
import type { Quarantine } from './quarantine.ts'
import type { Difference, WithOwn } from './reconcile.ts'
import { reconcile } from './reconcile.ts'
import type { RemoteMarks } from './remote-marks.ts'
import { streamsIn } from './trees.ts'

/** How two stores are synced. */
export interface SessionOptions {
  readonly pull: boolean
  readonly push: boolean
  /** One stream, with the rosters; all when absent. */
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
 * `HSTORE_GENESIS_MISMATCH`; what came until then is stored or waits.
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
    const hello = await greet(this.#transport)
    const own = await this.#withOwn(async ({ db, ground, roster }) => {
      assertSameStore(ground.genesis, hello.genesis, this.#transport.name)
      return { streams: await streamsIn(db), roster }
    })
    const isMeant = (stream: string): boolean => this.#isMeant(stream)
    const theirs = hello.streams.filter(({ stream }) => isMeant(stream))
    const ours = own.streams.filter(isMeant)
    const found = await reconcile(this.#withOwn, this.#transport, theirs, ours)
    const vanished = this.#vanished(hello, found)
    const missingHere = without(found.missingHere, this.#parkedUnder(own.roster))
    const untaken = this.#marks.untaken.roster === hello.roster ? this.#marks.untaken.cids : []
    const missingThere = without(found.missingThere, new Set(untaken))
    if (this.#options.dryRun) {
      const counts = { behind: countOf(missingHere), ahead: countOf(missingThere) }
      return { report: { ...nothing, ...counts, vanished }, marks: this.#marks }
    }
    const pulled = await this.#pullTwice(own.roster, found.missingHere, missingHere)
    const pushed = await this.#push(hello, missingThere)
    return this.#close({
      hello,
      own: own.roster,
      missingHere,
      missingThere,
      pulled,
      pushed,
      vanished,
    })
  }

  #isMeant(stream: string): boolean {
    const { stream: one } = this.#options
    return one === undefined || stream === 'roster' || stream === one
  }

  #parkedUnder(roster: CidText): ReadonlySet<CidText> {
    const { parked } = this.#marks
    return new Set(parked.roster === roster ? parked.cids : [])
  }

  /** Ends of chains that the remote had, and neither it nor the difference knows of any more. */
  #vanished({ streams }: Hello, { missingThere }: Difference): Vanished[] {
    const told = new Set(streams.map(({ stream }) => stream))
    const vanished: Vanished[] = []
    for (const [stream, tips] of Object.entries(this.#marks.tips)) {
      if (!this.#isMeant(stream)) continue
      const lacking = new Set(missingThere.get(stream))
      for (const cid of tips)
        if (!told.has(stream) || lacking.has(cid)) vanished.push({ stream, cid })
    }
    return vanished
  }

  async #pull(missing: ReadonlyMap<string, readonly CidText[]>): ReturnType<typeof pull> {
    const count = countOf(missing)
    if (!this.#options.pull || (count === 0 && this.#quarantine.arrivals.size === 0))
      return { added: 0, unstored: new Map(), roster: undefined }
    this.#progress.begin('pull', count)
    return pull(this.#withOwn, this.#transport, this.#quarantine, missing, this.#progress)
  }

  /** Where the rosters that came give rights, what had none before is asked for again. */
  async #pullTwice(
    roster: CidText,
    all: ReadonlyMap<string, readonly CidText[]>,
    missing: ReadonlyMap<string, readonly CidText[]>,
  ): ReturnType<typeof pull> {
    const first = await this.#pull(missing)
    const isChanged = first.roster !== undefined && first.roster !== roster
    const asked = new Set([...missing.values()].flat())
    const left = without(all, asked)
    if (!isChanged || left.size === 0) return first
    const second = await this.#pull(left)
    return {
      added: first.added + second.added,
      unstored: new Map([...first.unstored, ...second.unstored]),
      roster: second.roster ?? first.roster,
    }
  }

  async #push(
    { writes }: Hello,
    missing: ReadonlyMap<string, readonly CidText[]>,
  ): ReturnType<typeof push> {
    const isAsked = this.#options.push && (writes || !this.#options.pull)
    if (!isAsked || missing.size === 0) return { added: 0, untaken: [] }
    this.#progress.begin('push', countOf(missing))
    return push(this.#withOwn, this.#transport, missing, this.#progress)
  }

  async #close(done: Done): Promise<{ report: SessionReport; marks: RemoteMarks }> {
    const { hello, missingHere, missingThere, pulled, pushed, vanished } = done
    const unstored = unstoredIn(pulled.unstored)
    const report: SessionReport = {
      pulled: pulled.added,
      pushed: pushed.added,
      unstored,
      untaken: pushed.untaken,
      vanished,
      behind: Math.max(0, countOf(missingHere) - pulled.added),
      ahead: Math.max(0, countOf(missingThere) - pushed.added),
      sizeBytes: this.#progress.totalBytes,
    }
    const roster = pulled.roster ?? done.own
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

  /** This side's tips that the remote has too; of streams that were left out, what was known. */
  async #tipsThere({ hello, missingThere, pushed }: Done): Promise<Record<string, CidText[]>> {
    const told = new Set(hello.streams.map(({ stream }) => stream))
    const untaken = new Set(pushed.untaken.map(({ cid }) => cid))
    const isPushed = this.#options.push && pushed.added > 0
    const tips: Record<string, CidText[]> = {}
    await this.#withOwn(async ({ db }) => {
      for (const stream of await streamsIn(db)) {
        if (!this.#isMeant(stream)) {
          tips[stream] = [...(this.#marks.tips[stream] ?? [])]
          continue
        }
        const lacking = new Set(missingThere.get(stream))
        const found: CidText[] = []
        for await (const { values } of db.rows('tips', tipPrefix(stream)))
          for (const cid of values as CidText[])
            if (isPushed ? !untaken.has(cid) : told.has(stream) && !lacking.has(cid))
              found.push(cid)
        if (found.length > 0) tips[stream] = found
      }
    })
    return tips
  }
}

interface Done {
  readonly hello: Hello
  readonly own: CidText
  readonly missingHere: ReadonlyMap<string, readonly CidText[]>
  readonly missingThere: ReadonlyMap<string, readonly CidText[]>
  readonly pulled: Awaited<ReturnType<typeof pull>>
  readonly pushed: Awaited<ReturnType<typeof push>>
  readonly vanished: readonly Vanished[]
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

function without(
  cids: ReadonlyMap<string, readonly CidText[]>,
  left: ReadonlySet<CidText>,
): ReadonlyMap<string, readonly CidText[]> {
  if (left.size === 0) return cids
  return new Map(
    [...cids]
      .map(([stream, all]) => [stream, all.filter((cid) => !left.has(cid))] as const)
      .filter(([, all]) => all.length > 0),
  )
}

function countOf(cids: ReadonlyMap<string, readonly CidText[]>): number {
  let count = 0
  for (const all of cids.values()) count += all.length
  return count
}
