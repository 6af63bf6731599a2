import { linkForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Asked } from './ask.ts'
import { ask } from './ask.ts'
import { bytesIn } from './pieces.ts'
import type { Progress } from './progress.ts'
import type { Fields, Transport } from './protocol.ts'
import { answerBytes, maxWanted } from './protocol.ts'
import { PromisedSizes } from './promised.ts'
import type { Quarantine } from './quarantine.ts'
import type { WithOwn } from './reconcile.ts'

/** A large artifact, and an entry of a stream that needs it. */
export interface LargeWanted {
  readonly stream: string
  readonly entry: CidText
  readonly cid: CidText
  readonly size: number
}

/** An answer that was asked for before its turn. */
interface Ahead {
  readonly at: number
  readonly answer: Promise<Asked>
}

/** Fetches large artifacts, each no larger than it may be. */
export class LargePuller {
  readonly #withOwn: WithOwn
  readonly #transport: Transport
  readonly #quarantine: Quarantine
  readonly #progress: Progress
  readonly #promised: PromisedSizes
  /** Those that are not fetched, and why. */
  readonly #unfit = new Map<CidText, string>()

  constructor(withOwn: WithOwn, transport: Transport, quarantine: Quarantine, progress: Progress) {
    this.#withOwn = withOwn
    this.#transport = transport
    this.#quarantine = quarantine
    this.#progress = progress
    this.#promised = new PromisedSizes(quarantine.arrivals)
  }

  /** Fetches those of the blocks asked for that an answer names as large. */
  async pullAll(fields: Fields, asked: readonly Omit<LargeWanted, 'size'>[]): Promise<void> {
    const named = fields.rows('large', maxWanted, (row) => ({
      cid: row.link(0),
      size: row.count(1),
    }))
    for (const { cid, size } of named) {
      const found = asked.find((one) => one.cid === cid)
      if (found !== undefined) await this.#pull({ ...found, size })
    }
  }

  /** Fetches one in pieces, unless it may not have the size that the remote says. */
  async #pull(large: LargeWanted): Promise<void> {
    const { entry, cid, size } = large
    const promised = await this.#withOwn(({ db }) => this.#promised.find(db, entry, cid))
    if (promised !== undefined) this.#quarantine.promised.set(cid, promised)
    const room = await this.#quarantine.roomFor(cid)
    if (size > room || size !== (promised ?? size)) {
      this.#quarantine.large.refuse(cid)
      const most =
        promised === undefined
          ? `${room} may wait, since its document has no byte_size: hstore export and import take it over`
          : `its document says ${promised}`
      this.#unfit.set(cid, `block ${cid} has ${size} bytes by the remote, and ${most}`)
    } else if (await this.#quarantine.large.hold(cid))
      await this.#pullHeld(large).finally(() => this.#quarantine.large.leave(cid))
    else {
      const why = `block ${cid} is fetched by another sync: sync again when that one has ended`
      this.#unfit.set(cid, why)
    }
  }

  async #pullHeld(large: LargeWanted): Promise<void> {
    const { cid, size } = large
    if (this.#quarantine.large.isWhole(cid)) {
      await this.#quarantine.completeAll()
      // unless another sync has put it in the store meanwhile
      if (this.#quarantine.arrivals.has(cid)) return
    }
    const here = await pullLarge(this.#transport, this.#quarantine, this.#progress, large)
    if (here >= size) return this.#quarantine.complete(cid, this.#transport.name)
    this.#unfit.set(cid, `the remote gives ${here} of the ${size} bytes of block ${cid}`)
  }

  /** Returns why one of these was not fetched. */
  whyUnfit(cids: readonly CidText[]): string | undefined {
    const unfit = cids.find((cid) => this.#unfit.has(cid))
    return unfit === undefined ? undefined : this.#unfit.get(unfit)
  }
}

/** Fetches one from where it was cut before, and returns how much of it is here: the remote may give no more. */
async function pullLarge(
  transport: Transport,
  { large }: Quarantine,
  progress: Progress,
  { stream, entry, cid, size }: LargeWanted,
): Promise<number> {
  const refuse = (fields: Fields): never => {
    large.refuse(cid)
    return fields.fail('order')
  }
  const askFrom = (at: number): Promise<Asked> => {
    const control = { is: 'piece', stream, entry: linkForm(entry), artifact: linkForm(cid), at }
    return ask(transport, { control, blocks: [] }, 'piece')
  }
  let ahead: Ahead | undefined
  let at = await large.sizeOf(cid)
  while (at < size) {
    const { fields, blocks } = await (ahead?.answer ?? askFrom(at))
    // the remote reads the next piece while this one is written
    ahead = transport.mayOverlap === true ? aheadOf(at + answerBytes, size, askFrom) : undefined
    const most = Math.min(answerBytes, size - at)
    const chunks = bytesIn(blocks, fields, most, () => refuse(fields))
    await large.append(cid, at, counted(chunks, progress))
    const here = await large.sizeOf(cid)
    if (ahead !== undefined && ahead.at !== here) {
      await drop(ahead)
      ahead = undefined
    }
    if (here === at) break
    at = here
  }
  return at
}

function aheadOf(
  at: number,
  size: number,
  askFrom: (at: number) => Promise<Asked>,
): Ahead | undefined {
  if (at >= size) return undefined
  const answer = askFrom(at)
  answer.catch(() => undefined) // told when it is awaited
  return { at, answer }
}

async function drop({ answer }: Ahead): Promise<void> {
  const { blocks } = await answer
  for await (const _block of blocks);
}

async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  progress: Progress,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    progress.block(chunk.length)
    yield chunk
  }
}
