import { linkForm } from '../../store/canonical.ts'
import type { CarTextBlock } from '../../store/car-read.ts'
import type { CidText } from '../../store/cid-text.ts'
import { decodeEntry } from '../entry/decode.ts'
import { HandoffError } from '../errors.ts'
import { askOrder } from './ask-order.ts'
import { ask } from './ask.ts'
import type { Fate } from './fate.ts'
import type { Fetched, Wanted } from './fetch.ts'
import { fetchEntries } from './fetch.ts'
import { rosterFirst } from './order.ts'
import type { Progress } from './progress.ts'
import type { Transport } from './protocol.ts'
import { linkForms, maxWanted } from './protocol.ts'
import { LargePuller } from './pull-large.ts'
import type { Quarantine } from './quarantine.ts'
import { receive } from './receive.ts'
import type { WithOwn } from './reconcile.ts'

/** What a pull did. */
export interface Pulled {
  readonly added: number
  readonly unstored: ReadonlyMap<CidText, Fate>
  /** The body of this side's highest roster afterwards; undefined when nothing came. */
  readonly roster: CidText | undefined
}

/** A block that an entry lacks. */
interface Lacking extends Wanted {
  readonly entry: CidText
}

/** Where a remote has lost that many entries, each by itself is of no use. */
const maxWithheld = 10_000
/** How many entries are asked for first. */
const firstWanted = 256

/** How much of the quarantine may wait before answers come one by one. */
const crowded = 1 / 8
/** As much waits for what comes later in seq, and is judged anew with each answer: the order of links is asked for. */
const disordered = 1 / 64

/**
 * Fetches entries with all that they need, judges them, and stores what is fit, a few MiB at a time. What came before a
 * cut is in the quarantine and is not asked for again.
 */
export class Puller implements Pulled {
  added: number = 0
  roster: CidText | undefined
  readonly unstored: Map<CidText, Fate> = new Map()
  readonly #withOwn: WithOwn
  readonly #transport: Transport
  readonly #quarantine: Quarantine
  readonly #progress: Progress
  /** Entries that the remote names and does not give. */
  readonly #withheld = new Set<CidText>()
  /** Entries that are still to come. */
  readonly #coming = new Set<CidText>()
  /** Blocks that were asked for by themselves. */
  readonly #asked = new Set<CidText>()
  readonly #streamOf = new Map<CidText, string>()
  readonly #large: LargePuller
  #waiting: ReadonlyMap<CidText, readonly CidText[]> = new Map()
  /** What the entries that wait follow: it comes as entries, or not at all. */
  #followed: ReadonlySet<CidText> = new Set()
  #isLast = true
  #likely = firstWanted
  #nextOrder = disordered
  /** An answer that comes while the one before is judged. */
  #ahead: Promise<Fetched> | undefined
  /** What comes meanwhile waits here: what is judged does not change under way. */
  #held: CarTextBlock[] | undefined

  constructor(withOwn: WithOwn, transport: Transport, quarantine: Quarantine, progress: Progress) {
    this.#withOwn = withOwn
    this.#transport = transport
    this.#quarantine = quarantine
    this.#large = new LargePuller(withOwn, transport, quarantine, progress)
    this.#progress = progress
  }

  /**
   * Pulls some of what the remote has.
   *
   * @param missing - By stream, in the order of seq; the roster's stream is taken first.
   * @param isLast - Whether it is all that the remote has, or the last of it.
   */
  async run(missing: ReadonlyMap<string, readonly CidText[]>, isLast: boolean): Promise<void> {
    const { arrivals } = this.#quarantine
    this.#isLast = isLast
    let pending: readonly Wanted[] = this.#begin(missing)
    await this.#quarantine.completeAll()
    if (arrivals.size > 0) await this.#settle()
    while (pending.length > 0) {
      if (this.#ahead === undefined) {
        if (arrivals.fill >= this.#nextOrder) pending = await this.#inOrder(pending)
        else if (arrivals.fill < disordered) this.#nextOrder = disordered
        if (pending.length === 0) break
      }
      const { fault, taken } = await (this.#ahead ?? this.#fetch(pending))
      if (fault !== undefined) throw fault
      // what an answer has no room for is asked for again: about as many are named as one took
      this.#likely = Math.max(firstWanted, 2 * taken)
      this.#noteTaken(pending.slice(0, taken))
      pending = pending.slice(taken)
      this.#ahead = this.#fetchAhead(pending)
      await this.#settleBeside()
    }
  }

  /** Returns whether the remote has named an entry in this round. */
  isNamed(cid: CidText): boolean {
    return this.#streamOf.has(cid)
  }

  /** Names what nothing that the remote has can complete any more, and lets go of it. */
  end(): void {
    const { arrivals } = this.#quarantine
    for (const [cid, needs] of this.#waiting) {
      const why = this.#large.whyUnfit(needs) ?? `block ${needs[0]} did not come`
      this.unstored.set(cid, { fate: 'incomplete', needs, why })
    }
    arrivals.forget([...arrivals.cids()])
  }

  #begin(missing: ReadonlyMap<string, readonly CidText[]>): Wanted[] {
    const { arrivals } = this.#quarantine
    for (const cid of this.#streamOf.keys()) if (!arrivals.has(cid)) this.#streamOf.delete(cid)
    const pending: Wanted[] = []
    for (const stream of [...missing.keys()].sort(rosterFirst)) {
      for (const cid of missing.get(stream)!) {
        this.#streamOf.set(cid, stream)
        if (!arrivals.has(cid)) pending.push({ stream, cid })
      }
    }
    this.#coming.clear()
    this.#asked.clear()
    for (const { cid } of pending) this.#coming.add(cid)
    return pending
  }

  /** Two signers far ahead of each other: what the others rest on comes first, what rests on nothing to come, not at all. */
  async #inOrder(pending: readonly Wanted[]): Promise<readonly Wanted[]> {
    this.#nextOrder = 2 * this.#quarantine.arrivals.fill
    const { stream } = pending[0]!
    const isOfStream = (one: Wanted): boolean => one.stream === stream
    const waiting = [...this.#waiting.keys()].filter((cid) => this.#streamOf.get(cid) === stream)
    const wanted = pending.filter(isOfStream).map(({ cid }) => cid)
    const cids = [...waiting, ...wanted]
    const { closed, open } = await askOrder(this.#withOwn, this.#transport, stream, cids)
    const sorted = new Set([...closed, ...open])
    const left = new Set(wanted)
    const first = closed.filter((cid) => left.has(cid))
    for (const cid of open) {
      if (!left.has(cid)) continue
      this.#coming.delete(cid)
      if (this.#isLast) this.#withhold(cid)
    }
    const unsorted = wanted.filter((cid) => !sorted.has(cid))
    return [
      ...[...first, ...unsorted].map((cid) => ({ stream, cid })),
      ...pending.filter((one) => !isOfStream(one)),
    ]
  }

  #withhold(cid: CidText): void {
    this.#withheld.add(cid)
    if (this.#withheld.size > maxWithheld) {
      const message = `${this.#transport.name} names entries that it does not give, ${maxWithheld} and more`
      throw new HandoffError('HSTORE_REMOTE_INVALID', message)
    }
    const why = 'it is named, and not given'
    this.unstored.set(cid, { fate: 'incomplete', needs: [cid], why })
  }

  #fetch(pending: readonly Wanted[]): Promise<Fetched> {
    const most = Math.min(maxWanted, this.#quarantine.arrivals.share, this.#likely)
    return fetchEntries(this.#transport, pending.slice(0, most), (block) => this.#takeIn(block))
  }

  /** Where little waits, what comes next is known before the last answer is judged. */
  #fetchAhead(pending: readonly Wanted[]): Promise<Fetched> | undefined {
    const isCrowded = this.#quarantine.arrivals.fill >= crowded
    if (this.#transport.mayOverlap !== true || isCrowded || pending.length === 0) return undefined
    return this.#fetch(pending)
  }

  #noteTaken(taken: readonly Wanted[]): void {
    for (const { cid } of taken) {
      this.#coming.delete(cid)
      if (!this.#quarantine.arrivals.has(cid)) this.#withhold(cid)
    }
  }

  #takeIn(block: CarTextBlock): void {
    if (this.#coming.has(block.cid)) this.#progress.entry(block.bytes.length)
    else this.#progress.block(block.bytes.length)
    if (this.#held === undefined) this.#quarantine.arrivals.add(block)
    else this.#held.push(block)
  }

  /** Where it fails, what came is kept for the next sync, and what comes after that is let go of. */
  async #settleBeside(): Promise<void> {
    const held: CarTextBlock[] = []
    this.#held = held
    try {
      await this.#settle()
    } finally {
      for (const block of held.splice(0)) this.#quarantine.arrivals.add(block)
    }
    this.#held = undefined
  }

  /** Judges what is here, fetches what the entries among it lack, and stores them when nothing more can be had. */
  async #settle(): Promise<void> {
    for (;;) {
      let lacking: readonly Lacking[] = []
      const found = await this.#withOwn((own) =>
        receive(own, this.#quarantine.arrivals, ({ unstored, waiting }) => {
          this.#followed = this.#followedBy(waiting.keys())
          lacking = this.#lackingOf(waiting)
          return { isReady: lacking.length === 0, heldBack: this.#brokenIn(unstored, waiting) }
        }),
      )
      this.added += found.added
      this.roster = found.roster
      this.#waiting = found.waiting
      if (lacking.length > 0) await this.#fetchBlocks(lacking)
      else {
        for (const [cid, fate] of found.unstored) this.unstored.set(cid, fate)
        return
      }
    }
  }

  /**
   * Streams in which something that the remote names is lost or false: what comes before it is not shown as if it were
   * all.
   */
  #brokenIn(
    unstored: ReadonlyMap<CidText, Fate>,
    waiting: ReadonlyMap<CidText, readonly CidText[]>,
  ): ReadonlySet<string> {
    const broken: CidText[] = [...this.#withheld]
    for (const [cid, { fate }] of unstored) if (fate === 'refused') broken.push(cid)
    for (const [cid, needs] of waiting)
      if (needs.some((need) => !this.#mayCome(need))) broken.push(cid)
    return new Set(broken.map((cid) => this.#streamOf.get(cid) ?? ''))
  }

  /** Before the last round, the remote may have what an entry follows. */
  #mayCome(cid: CidText): boolean {
    return this.#coming.has(cid) || (!this.#isLast && this.#followed.has(cid))
  }

  #followedBy(cids: Iterable<CidText>): ReadonlySet<CidText> {
    const followed = new Set<CidText>()
    for (const cid of cids) {
      const { parents, prev } = decodeEntry(cid, this.#quarantine.arrivals.find(cid)!)
      for (const link of [...parents, ...prev]) followed.add(link)
    }
    return followed
  }

  /** What is not an entry on its way, and was not asked for yet. */
  #lackingOf(waiting: ReadonlyMap<CidText, readonly CidText[]>): Lacking[] {
    const lacking: Lacking[] = []
    for (const [entry, needs] of waiting) {
      const stream = this.#streamOf.get(entry)
      if (stream === undefined) continue
      for (const cid of needs) {
        if (this.#mayCome(cid) || waiting.has(cid) || this.#asked.has(cid)) continue
        this.#asked.add(cid)
        lacking.push({ stream, entry, cid })
      }
    }
    return lacking
  }

  async #fetchBlocks(lacking: readonly Lacking[]): Promise<void> {
    await this.#ahead
    let rest = lacking
    while (rest.length > 0) {
      const asked = rest.slice(0, maxWanted)
      const of = asked.map(({ stream, entry, cid }) => [stream, linkForm(entry), linkForms([cid])])
      const request = { control: { is: 'blocks', of }, blocks: [] }
      const { fields, blocks } = await ask(this.#transport, request, 'blocks')
      const taken = fields.count('taken')
      if (taken < 1 || taken > asked.length) fields.fail('taken')
      const wanted = new Set(asked.map(({ cid }) => cid))
      for await (const block of blocks) {
        if (!wanted.has(block.cid)) fields.fail(block.cid)
        this.#quarantine.arrivals.add(block)
        this.#progress.block(block.bytes.length)
      }
      await this.#large.pullAll(fields, asked)
      rest = rest.slice(taken)
    }
  }
}
