import { HandoffError } from '../../src/errors.ts'
import { HstoreError } from '../../src/kernel/errors.ts'
import { DirectoryTransport } from '../../src/sync/directory-transport.ts'
import type { Transport } from '../../src/sync/protocol.ts'
import type { Block } from '../../store/block.ts'
import type { JsonMap } from '../../store/canonical.ts'
import type { IncomingMessage, Message } from '../../store/wire.ts'
import { decodeMessage, encodeMessage } from '../../store/wire.ts'

/** An answer, read. */
export type Answered = { readonly control: JsonMap; readonly blocks: readonly Block[] }

/** A remote that answers as an honest one would, but for what it does to its answers. */
export class HostileTransport implements Transport {
  readonly name = 'hostile'
  readonly #below: DirectoryTransport
  readonly #change: Change

  constructor(folder: string, change: Change) {
    this.#below = new DirectoryTransport(folder, 20_000)
    this.#change = change
  }

  /** Returns the bytes of the answer. */
  async tell(request: Message): Promise<readonly Uint8Array[]> {
    const answered = await this.#below.ask(request)
    const blocks: Block[] = []
    for await (const block of answered.blocks) blocks.push(block)
    const changed = await this.#change({ control: answered.control, blocks }, request)
    return changed instanceof Uint8Array ? [changed] : await pack(changed)
  }

  async ask(request: Message): Promise<IncomingMessage> {
    const packed = await this.tell(request)
    try {
      return await decodeMessage(iterate(packed))
    } catch (cause) {
      if (!(cause instanceof HstoreError)) throw cause
      throw new HandoffError('HSTORE_REMOTE_INVALID', cause.message, { cause })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#below[Symbol.asyncDispose]()
  }
}

/** What a remote makes of its honest answer: another, or the bytes that go over the wire. */
export type Change = (
  answered: Answered,
  request: Message,
) => Answered | Uint8Array | Promise<Answered | Uint8Array>

async function pack(message: Answered): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  for await (const chunk of encodeMessage(message)) chunks.push(chunk)
  return chunks
}

async function* iterate(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

/** Changes the answers to one kind of request alone. */
export function to(is: string, change: (answered: Answered) => Answered | Uint8Array): Change {
  return (answered) => (answered.control['is'] === is ? change(answered) : answered)
}

/** Changes the control block of an answer. */
export function withControl(change: JsonMap): (answered: Answered) => Answered {
  return ({ control, blocks }) => ({ control: { ...control, ...change }, blocks })
}

/** Changes the blocks of an answer. */
export function withBlocks(
  change: (blocks: readonly Block[]) => readonly Block[],
): (answered: Answered) => Answered {
  return ({ control, blocks }) => ({ control, blocks: change(blocks) })
}

/** Changes the bytes of an answer to one kind of request. */
export function toPacked(is: string, change: (all: Uint8Array) => Uint8Array): Change {
  return async (answered) =>
    answered.control['is'] === is ? change(Buffer.concat(await pack(answered))) : answered
}
