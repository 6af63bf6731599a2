import { linkForm } from '../../store/canonical.ts'
import type { JsonForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { bytesIn } from './answer.ts'
import { ask } from './ask.ts'
import type { Fate } from './fate.ts'
import type { Progress } from './progress.ts'
import type { Transport } from './protocol.ts'
import { linkForms, maxWanted, packCids } from './protocol.ts'
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

interface Wanted {
  readonly stream: string
  readonly cid: CidText
}

/**
 * Fetches entries with all that they need, judges them, and stores what is fit, a few MiB at a time. What came before a
 * cut is in the quarantine and is not asked for again.
 *
 * @param missing - By stream, in the order of seq; the roster's stream is taken first.
 */
export async function pull(
  withOwn: WithOwn,
  transport: Transport,
  quarantine: Quarantine,
  missing: ReadonlyMap<string, readonly CidText[]>,
  progress: Progress,
): Promise<Pulled> {
  const puller = new Puller(withOwn, transport, quarantine, progress)
  await puller.run(missing)
  return puller
}

class Puller implements Pulled {
  added = 0
  roster: CidText | undefined
  readonly unstored = new Map<CidText, Fate>()
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
  #waiting: ReadonlyMap<CidText, readonly CidText[]> = new Map()

  constructor(withOwn: WithOwn, transport: Transport, quarantine: Quarantine, progress: Progress) {
    this.#withOwn = withOwn
    this.#transport = transport
    this.#quarantine = quarantine
    this.#progress = progress
  }

  async run(missing: ReadonlyMap<string, readonly CidText[]>): Promise<void> {
    const { arrivals } = this.#quarantine
    let pending: Wanted[] = []
    for (const stream of [...missing.keys()].sort(rosterFirst)) {
      for (const cid of missing.get(stream)!) {
        this.#streamOf.set(cid, stream)
        if (!arrivals.has(cid)) pending.push({ stream, cid })
      }
    }
    for (const { cid } of pending) this.#coming.add(cid)
    await this.#quarantine.completeAll(this.#transport.name)
    if (arrivals.size > 0) await this.#settle()
    while (pending.length > 0) {
      const taken = await this.#fetch(pending.slice(0, maxWanted))
      for (const { cid } of pending.slice(0, taken)) {
        this.#coming.delete(cid)
        if (!arrivals.has(cid)) this.#withheld.add(cid)
      }
      pending = pending.slice(taken)
      await this.#settle()
    }
    for (const cid of this.#withheld)
      this.unstored.set(cid, {
        fate: 'incomplete',
        needs: [cid],
        why: 'it is named, and not given',
      })
    // what nothing that the remote has can complete any more
    for (const [cid, needs] of this.#waiting)
      this.unstored.set(cid, { fate: 'incomplete', needs, why: `block ${needs[0]} did not come` })
    arrivals.forget([...arrivals.cids()])
  }

  async #fetch(wanted: readonly Wanted[]): Promise<number> {
    const { fields, blocks } = await ask(
      this.#transport,
      { control: { is: 'want', of: byStream(wanted) }, blocks: [] },
      'want',
    )
    const taken = fields.count('taken')
    if (taken < 1 || taken > wanted.length) fields.fail('taken')
    for await (const block of blocks) {
      this.#quarantine.arrivals.add(block)
      if (this.#coming.has(block.cid)) this.#progress.entry(block.bytes.length)
      else this.#progress.block(block.bytes.length)
    }
    return taken
  }

  /** Judges what is here, fetches what the entries among it lack, and stores them when nothing more can be had. */
  async #settle(): Promise<void> {
    for (;;) {
      let lacking: readonly Lacking[] = []
      const found = await this.#withOwn((own) =>
        receive(own, this.#quarantine.arrivals, ({ unstored, waiting }) => {
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
      if (needs.some((need) => !this.#coming.has(need))) broken.push(cid)
    return new Set(broken.map((cid) => this.#streamOf.get(cid) ?? ''))
  }

  /** What is not an entry on its way, and was not asked for yet. */
  #lackingOf(waiting: ReadonlyMap<CidText, readonly CidText[]>): Lacking[] {
    const lacking: Lacking[] = []
    for (const [entry, needs] of waiting) {
      const stream = this.#streamOf.get(entry)
      if (stream === undefined) continue
      for (const cid of needs) {
        if (this.#coming.has(cid) || waiting.has(cid) || this.#asked.has(cid)) continue
        this.#asked.add(cid)
        lacking.push({ stream, entry, cid })
      }
    }
    return lacking
  }

  async #fetchBlocks(lacking: readonly Lacking[]): Promise<void> {
    let rest = lacking
    while (rest.length > 0) {
      const asked = rest.slice(0, maxWanted)
      const of = asked.map(({ stream, entry, cid }) => [stream, linkForm(entry), linkForms([cid])])
      const request = { control: { is: 'blocks', of }, blocks: [] }
      const { fields, blocks } = await ask(this.#transport, request, 'blocks')
      const taken = fields.count('taken')
      if (taken < 1 || taken > asked.length) fields.fail('taken')
      for await (const block of blocks) {
        this.#quarantine.arrivals.add(block)
        this.#progress.block(block.bytes.length)
      }
      for (const [cid, size] of fields.rows(
        'large',
        maxWanted,
        (row) => [row.link(0), row.count(1)] as const,
      )) {
        const found = asked.find((one) => one.cid === cid)
        if (found !== undefined) await this.#fetchLarge(found, size)
      }
      rest = rest.slice(taken)
    }
  }

  async #fetchLarge({ stream, entry, cid }: Lacking, size: number): Promise<void> {
    for (;;) {
      const at = await this.#quarantine.sizeOf(cid)
      if (at >= size) break
      const control = { is: 'piece', stream, entry: linkForm(entry), artifact: linkForm(cid), at }
      const { fields, blocks } = await ask(this.#transport, { control, blocks: [] }, 'piece')
      await this.#quarantine.append(cid, this.#counted(bytesIn(blocks, fields)))
      if ((await this.#quarantine.sizeOf(cid)) === at) return
    }
    await this.#quarantine.complete(cid, this.#transport.name)
  }

  async *#counted(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.#progress.block(chunk.length)
      yield chunk
    }
  }
}

function byStream(wanted: readonly Wanted[]): JsonForm[] {
  const streams = new Map<string, CidText[]>()
  for (const { stream, cid } of wanted) {
    const cids = streams.get(stream)
    if (cids === undefined) streams.set(stream, [cid])
    else cids.push(cid)
  }
  return [...streams].map(([stream, cids]) => [stream, packCids(cids)])
}

/** Orders streams: nothing can be judged before the rosters. */
export function rosterFirst(a: string, b: string): number {
  if (a === b) return 0
  if (a === 'roster' || b === 'roster') return a === 'roster' ? -1 : 1
  return a < b ? -1 : 1
}
