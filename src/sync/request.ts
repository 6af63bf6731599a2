import type { JsonMap } from '../../store/canonical.ts'
import type { Block } from '../../store/block.ts'
import type { IncomingMessage, Message } from '../../store/wire.ts'
import { Budget } from './budget.ts'
import type { Peer, SettledPeer } from './peer.ts'
import type { Fields } from './protocol.ts'
import type { Rights } from './rights.ts'

/** A store that answers. It is opened for each request, once what the client sends has come. */
export interface Served {
  /** The store's folder. */
  readonly directory: string
  open(): Promise<SettledPeer>
}

/** A request. */
export interface Sent {
  readonly served: Served
  readonly fields: Fields
  readonly rights: Rights
  readonly hungUp: AbortSignal | undefined
  readonly blocks: IncomingMessage['blocks']
}

/** A request that carries no blocks, with the store opened for it. */
export interface Asked extends Omit<Sent, 'served' | 'blocks' | 'hungUp'> {
  readonly peer: Peer
  readonly budget: Budget
}

/** Answers requests of one kind. */
export type Handler = (sent: Sent) => Promise<Message>

/** What an answer without blocks has. */
export const noBlocks: readonly Block[] = []

/** Returns what answers a request that carries no blocks, with the store opened for it. */
export function opened(handler: (asked: Asked) => Promise<Message>): Handler {
  return async ({ served, fields, rights, hungUp, blocks }) => {
    for await (const { cid } of blocks) return fields.fail(cid)
    await using peer = await served.open()
    // who hung up while others had the store is not worked for
    hungUp?.throwIfAborted()
    const budget = new Budget(served.directory, hungUp)
    return await handler({ peer, fields, rights, budget })
  }
}

/** Returns an answer without blocks. */
export function plain(control: JsonMap): Message {
  return { control, blocks: noBlocks }
}
