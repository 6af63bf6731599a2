import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { Agent, request as requestPlain } from 'node:http'
import { Agent as TlsAgent, request as requestTls } from 'node:https'
import type { Packed } from './http-pack.ts'

/** Less than servers keep a connection that is idle. */
const keptMs = 3000
const maxHeaderBytes = 16 * 1024

/**
 * Posts to one server, over connections that are kept. Node's own `fetch` ends with an upload that takes five minutes,
 * whatever is done about it.
 */
export class HttpPoster {
  readonly #url: URL
  readonly #agent: Agent

  constructor(url: URL) {
    this.#url = url
    const options = { keepAlive: true, timeout: keptMs }
    this.#agent = url.protocol === 'https:' ? new TlsAgent(options) : new Agent(options)
  }

  /** Resolves with the answer once its headers are there; no redirect is followed. */
  post(
    { chunks, length }: Packed,
    headers: OutgoingHttpHeaders,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const start = this.#url.protocol === 'https:' ? requestTls : requestPlain
    const options = {
      method: 'POST',
      headers: { ...headers, 'content-length': length },
      agent: this.#agent,
      maxHeaderSize: maxHeaderBytes,
      signal,
    }
    return new Promise((resolve, reject) => {
      const request = start(this.#url, options, resolve)
      request.on('error', reject)
      // all of it is in memory
      for (const chunk of chunks) request.write(chunk)
      request.end()
    })
  }

  /** Ends what is kept. */
  close(): void {
    this.#agent.destroy()
  }
}
