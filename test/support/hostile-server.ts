import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { IncomingMessage as Request, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { decodeMessage } from '../../store/wire.ts'
import type { Block } from '../../store/block.ts'
import type { Ran } from './cli.ts'
import { runProcess } from './cli.ts'
import type { Change } from './hostile-transport.ts'
import { HostileTransport } from './hostile-transport.ts'
import type { TestStore } from './store.ts'

/** A server over HTTP that answers as an honest store would, but for what it does to its answers. */
export class HostileServer implements AsyncDisposable {
  readonly #server: Server
  #remote: HostileTransport | undefined

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy())
    })
  }

  static async start(): Promise<HostileServer> {
    const server = new HostileServer()
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Answers from here on for a store, with a change of its own. */
  async serve(folder: string, change: Change): Promise<void> {
    await this.#remote?.[Symbol.asyncDispose]()
    this.#remote = new HostileTransport(folder, change)
  }

  async #answer(request: Request, response: ServerResponse): Promise<void> {
    const { control, blocks: sent } = await decodeMessage(request)
    const blocks: Block[] = []
    for await (const block of sent) blocks.push(block)
    response.writeHead(200)
    response.end(Buffer.concat(await this.#remote!.tell({ control, blocks })))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#remote?.[Symbol.asyncDispose]()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

/** What a process ended with, and what it took. */
export interface Measured extends Ran {
  readonly signal: NodeJS.Signals | null
  /** The most memory that it had, by the kernel, in MiB. */
  readonly peakMib: number
}

const peak = fileURLToPath(new URL('peak.mjs', import.meta.url))

/** Runs `hstore` as a process of its own, as the store's agent, and measures its memory. */
export async function runMeasured(
  store: TestStore,
  timeoutMs: number,
  ...argv: readonly string[]
): Promise<Measured> {
  const file = path.join(store.root, 'peak')
  const env = { ...store.env, HSTORE_PEAK: file, NODE_OPTIONS: `--import ${peak}` }
  const ran = await runProcess(argv, { env, timeoutMs })
  const [peakKib] = (await readFile(file, 'utf8').catch(() => '')).split(' ')
  return { ...ran, peakMib: peakKib === '' ? Number.NaN : Number(peakKib) / 1024 }
}
