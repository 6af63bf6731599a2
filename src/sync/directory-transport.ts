import type { IncomingMessage, Message } from '../../store/wire.ts'
import type { CarTextBlock } from '../../store/car-read.ts'
import { answer } from './answer.ts'
import { KeptOpen } from './kept-open.ts'
import type { SettledPeer } from './peer.ts'
import { openOther } from './peer.ts'
import type { Transport } from './protocol.ts'
import { ownerRights } from './rights.ts'

/** Another store on this machine: whoever else works on it gets in between requests. */
export class DirectoryTransport implements Transport {
  readonly name: string
  readonly #kept: KeptOpen<SettledPeer>

  /** @param folder - The store's folder, as an absolute path. */
  constructor(folder: string, waitMs: number) {
    this.name = folder
    this.#kept = new KeptOpen(folder, () => openOther(folder, waitMs))
  }

  async ask(request: Message): Promise<IncomingMessage> {
    const served = { directory: this.name, open: () => this.#kept.open() }
    return incoming(await answer(served, incoming(request), ownerRights))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#kept[Symbol.asyncDispose]()
  }
}

function incoming({ control, blocks }: Message): IncomingMessage {
  return { control, blocks: iterate(blocks) }
}

async function* iterate(blocks: readonly CarTextBlock[]): AsyncGenerator<CarTextBlock> {
  yield* blocks
}
