import type { IncomingMessage, Message } from '../../store/wire.ts'
import type { CarTextBlock } from '../../store/car-read.ts'
import { answer } from './answer.ts'
import { openOther } from './peer.ts'
import type { Transport } from './protocol.ts'
import { ownerRights } from './rights.ts'

/** Another store on this machine, opened for each request: whoever else works on it gets in between. */
export class DirectoryTransport implements Transport {
  readonly name: string
  readonly #waitMs: number

  /** @param folder - The store's folder, as an absolute path. */
  constructor(folder: string, waitMs: number) {
    this.name = folder
    this.#waitMs = waitMs
  }

  async ask(request: Message): Promise<IncomingMessage> {
    const open = () => openOther(this.name, this.#waitMs)
    const served = { directory: this.name, open }
    return incoming(await answer(served, incoming(request), ownerRights))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // nothing is held between requests
  }
}

function incoming({ control, blocks }: Message): IncomingMessage {
  return { control, blocks: iterate(blocks) }
}

async function* iterate(blocks: readonly CarTextBlock[]): AsyncGenerator<CarTextBlock> {
  yield* blocks
}
