import type { Block } from '../../store/block.ts'
import type { CidText } from '../../store/cid-text.ts'
import { linksFirst } from '../../store/links-first.ts'
import { ask, askPlain } from './ask.ts'
import type { Unstored } from './fate.ts'
import { linksOf, rosterFirst } from './order.ts'
import type { Progress } from './progress.ts'
import type { Transport } from './protocol.ts'
import { answerBytes, maxWanted } from './protocol.ts'
import type { WithOwn } from './reconcile.ts'
import type { LargeLacking } from './push-large.ts'
import { LargePusher } from './push-large.ts'
import { addEntry, addPart, Answer, Needs } from './serve-blocks.ts'

/** What a push did. */
export interface Pushed {
  readonly added: number
  /** What the remote did not take, and why by its own words. */
  readonly untaken: readonly Unstored[]
}

const maxTold = 50_000

/** An entry that waits at the remote, and what for. */
interface Lacking {
  readonly entry: CidText
  readonly needs: readonly CidText[]
}

/**
 * Sends entries with all that they need, each behind what it follows.
 *
 * @param missing - What the remote lacks, by stream.
 */
export async function push(
  withOwn: WithOwn,
  transport: Transport,
  missing: ReadonlyMap<string, readonly CidText[]>,
  progress: Progress,
): Promise<Pushed> {
  const pusher = new Pusher(withOwn, transport, progress)
  await pusher.learn()
  for (const stream of [...missing.keys()].sort(rosterFirst))
    await pusher.pushStream(stream, missing.get(stream)!)
  return { added: pusher.added, untaken: [...pusher.untaken.values()] }
}

class Pusher {
  added = 0
  readonly untaken = new Map<CidText, Unstored>()
  readonly #withOwn: WithOwn
  readonly #transport: Transport
  readonly #progress: Progress
  readonly #large: LargePusher
  readonly #sent = new Set<CidText>()
  /** Entries of the stream that is pushed: others may wait at the remote until theirs is. */
  #meant: ReadonlySet<CidText> = new Set()
  /** Those of them that wait, by the last answer, for what this side has no more of. */
  #incomplete: ReadonlyMap<CidText, Unstored> = new Map()

  constructor(withOwn: WithOwn, transport: Transport, progress: Progress) {
    this.#withOwn = withOwn
    this.#transport = transport
    this.#progress = progress
    this.#large = new LargePusher(withOwn, transport, progress)
  }

  /** What was sent before a cut waits at the remote. */
  async learn(): Promise<void> {
    const fields = await askPlain(this.#transport, { is: 'waiting' }, 'waiting')
    for (const codec of ['dag-json', 'raw'] as const) {
      const key = codec === 'raw' ? 'files' : 'documents'
      for (const cid of fields.cids(key, maxTold, codec)) this.#sent.add(cid)
    }
  }

  async pushStream(stream: string, cids: readonly CidText[]): Promise<void> {
    this.#meant = new Set(cids)
    let rest: readonly CidText[] = await this.#inOrder(stream, cids)
    while (rest.length > 0) {
      const { blocks, taken } = await this.#gather(stream, rest)
      for (const { bytes } of blocks) this.#progress.block(bytes.length)
      let lacking = await this.#send(blocks)
      while (lacking.length > 0) lacking = await this.#sendLacking(stream, lacking)
      rest = rest.slice(taken)
    }
    for (const [cid, fate] of this.#incomplete) this.untaken.set(cid, fate)
  }

  async #inOrder(stream: string, cids: readonly CidText[]): Promise<readonly CidText[]> {
    return this.#withOwn(async ({ db }) =>
      linksFirst(await linksOf(db, stream, cids)).map(({ cid }) => cid),
    )
  }

  async #gather(
    stream: string,
    cids: readonly CidText[],
  ): Promise<{ readonly blocks: readonly Block[]; readonly taken: number }> {
    return this.#withOwn(async ({ db }) => {
      const found = new Answer(this.#carryBytes)
      let taken = 0
      for (const cid of cids.slice(0, maxWanted)) {
        if (found.isFull) break
        await addEntry(found, db, stream, cid)
        this.#progress.entry(0)
        taken += 1
      }
      const blocks = found.blocks.filter(({ cid }) => !this.#sent.has(cid))
      for (const { cid } of blocks) this.#sent.add(cid)
      return { blocks, taken }
    })
  }

  /** Returns what the remote lacks now, as far as it was not sent before. */
  async #send(blocks: readonly Block[]): Promise<Lacking[]> {
    const { fields, blocks: none } = await ask(
      this.#transport,
      { control: { is: 'push' }, blocks },
      'push',
    )
    for await (const { cid } of none) fields.fail(cid)
    this.added += fields.count('added')
    const lacking: Lacking[] = []
    const incomplete = new Map<CidText, Unstored>()
    const rows = fields.rows('unstored', 200_000, (row) => ({
      cid: row.link(0),
      fate: row.text(1),
      why: row.text(2),
      needs: row.links(3, maxWanted),
    }))
    for (const { cid, fate, why, needs } of rows) {
      if (fate === 'incomplete') {
        if (!this.#meant.has(cid)) continue
        const missing = needs.filter((need) => !this.#sent.has(need))
        if (missing.length > 0) lacking.push({ entry: cid, needs: missing })
        else incomplete.set(cid, { cid, fate, why: this.#whyIncomplete(needs, why) })
      } else if (fate === 'newer' || fate === 'parked' || fate === 'refused')
        this.untaken.set(cid, { cid, fate, why })
      else fields.fail('unstored')
    }
    this.#incomplete = incomplete
    return lacking
  }

  /** What is known here says more than that a block is not there. */
  #whyIncomplete(needs: readonly CidText[], why: string): string {
    const lost =
      needs.length === 0 ? 'what it needs did not get there' : `block ${needs[0]} did not get there`
    return this.#large.whyUnfit(needs) ?? (why === '' ? lost : why)
  }

  async #sendLacking(stream: string, lacking: readonly Lacking[]): Promise<Lacking[]> {
    const large: LargeLacking[] = []
    const found = new Answer(this.#carryBytes)
    await this.#withOwn(async ({ db }) => {
      const parts = new Needs(db)
      for (const { entry, needs } of lacking) {
        for (const cid of needs) {
          if (found.isFull || this.#sent.has(cid)) continue
          this.#sent.add(cid)
          // what the remote says it lacks is no more than what the entry needs
          if (!(await parts.has(stream, entry, cid))) continue
          const size = await addPart(found, db, cid)
          if (size !== undefined) large.push({ cid, size })
        }
      }
    })
    for (const one of large) await this.#large.push(one)
    for (const { bytes } of found.blocks) this.#progress.block(bytes.length)
    return this.#send(found.blocks)
  }

  get #carryBytes(): number {
    return this.#transport.carryBytes ?? answerBytes
  }
}
