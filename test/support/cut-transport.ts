import { constants, inflateRawSync } from 'node:zlib'
import { HandoffError } from '../../src/errors.ts'
import { HstoreError } from '../../src/kernel/errors.ts'
import { answer, refusal } from '../../src/sync/answer.ts'
import type { SettledPeer } from '../../src/sync/peer.ts'
import type { Transport } from '../../src/sync/protocol.ts'
import { ownerRights } from '../../src/sync/rights.ts'
import { readCid } from '../../store/cid-bytes.ts'
import { readVarint } from '../../store/varint.ts'
import type { IncomingMessage, Message } from '../../store/wire.ts'
import { decodeMessage, encodeMessage } from '../../store/wire.ts'

/** What went over one way between two stores, in all syncs that one of them began. */
export class Way {
  /** Blocks of which all bytes went over, in any sync before. */
  readonly #arrived = new Set<string>()
  readonly #taken = new Set<string>()
  /** Blocks that were put on the wire though all their bytes had gone over before. */
  readonly sentAgain: string[] = []
  /** Blocks that were taken from the wire twice. */
  readonly takenAgain: string[] = []

  /** Notes what a sender puts on the wire, and what of it comes out at the other end. */
  sends(blocks: Message['blocks'], wentOver: Uint8Array): void {
    for (const { cid } of blocks) if (this.#arrived.has(cid)) this.sentAgain.push(cid)
    for (const cid of blocksIn(wentOver)) this.#arrived.add(cid)
  }

  /** Yields blocks as a receiver takes them. */
  async *takes(blocks: IncomingMessage['blocks']): AsyncGenerator<{ cid: string } & Block> {
    for await (const block of blocks) {
      if (this.#taken.has(block.cid)) this.takenAgain.push(block.cid)
      this.#taken.add(block.cid)
      yield block
    }
  }
}

type Block = Message['blocks'][number]

/** Both ways between the store that begins a sync and the other. */
export interface Ways {
  readonly there: Way
  readonly back: Way
}

/** A store that answers over a wire that is cut after some bytes, in either direction. */
export class CutTransport implements Transport {
  readonly name: string
  readonly mayOverlap = true
  readonly #peer: SettledPeer
  readonly #ways: Ways
  /** Whether a cut is the end of what comes, or an error. */
  readonly #isPlainEnd: boolean
  #left: number
  isCut = false

  constructor(peer: SettledPeer, ways: Ways, leftBytes: number, isPlainEnd: boolean) {
    this.name = peer.db.directory
    this.#peer = peer
    this.#ways = ways
    this.#left = leftBytes
    this.#isPlainEnd = isPlainEnd
  }

  async ask(request: Message): Promise<IncomingMessage> {
    const asked = await this.#carry(request, this.#ways.there)
    const answered = await this.#answer(asked)
    if (this.isCut) throw cutOff()
    const told = await decodeMessage(await this.#carry(answered, this.#ways.back))
    return { control: told.control, blocks: this.#ways.back.takes(told.blocks) }
  }

  async #answer(asked: AsyncIterable<Uint8Array>): Promise<Message> {
    // opened once for all requests: that is most of what a sync of small stores costs
    const open = async () => ({ ...this.#peer, [Symbol.asyncDispose]: async () => undefined })
    try {
      const { control, blocks } = await decodeMessage(asked)
      const taken = { control, blocks: this.#ways.there.takes(blocks) }
      return await answer({ directory: this.name, open }, taken, ownerRights)
    } catch (error) {
      if (error instanceof HstoreError) return refusal(error)
      throw error
    }
  }

  async #carry(message: Message, way: Way): Promise<AsyncIterable<Uint8Array>> {
    const chunks: Uint8Array[] = []
    for await (const chunk of encodeMessage(message)) chunks.push(chunk)
    const all = Buffer.concat(chunks)
    const wentOver = all.subarray(0, this.#left)
    this.#left -= wentOver.length
    this.isCut = wentOver.length < all.length
    way.sends(message.blocks, wentOver)
    return pieces(wentOver, this.isCut && !this.#isPlainEnd)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // nothing is held between requests
  }
}

function cutOff(): HandoffError {
  return new HandoffError('HSTORE_REMOTE_FAILED', 'cut off')
}

async function* pieces(bytes: Uint8Array, isBroken: boolean): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 5000) yield bytes.subarray(at, at + 5000)
  if (isBroken) throw cutOff()
}

/** Returns the blocks that are whole in the beginning of a message: read without a word of the reader that is tested. */
function blocksIn(packed: Uint8Array): readonly string[] {
  if (packed.length === 0) return []
  const bytes = inflateRawSync(packed, { finishFlush: constants.Z_SYNC_FLUSH })
  const cids: string[] = []
  for (let at = 0; at < bytes.length;) {
    const length = readVarint(bytes, at)
    if (typeof length === 'string' || at + length.size + length.value > bytes.length) break
    const section = bytes.subarray(at + length.size, at + length.size + length.value)
    const cid = at === 0 ? 'header' : readCid(section)
    if (typeof cid !== 'string') cids.push(cid.cid)
    at += length.size + length.value
  }
  // the header and the control block are no blocks of a store
  return cids.slice(1)
}
