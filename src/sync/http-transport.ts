import { randomBytes } from 'node:crypto'
import type { IncomingMessage as Response } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { signRequest } from '../../keys/http-signature.ts'
import type { Signer } from '../../keys/signer.ts'
import type { IncomingMessage, Message } from '../../store/wire.ts'
import { decodeMessage } from '../../store/wire.ts'
import { HandoffError } from '../errors.ts'
import { whyOf } from '../kernel/errno.ts'
import { HstoreError } from '../kernel/errors.ts'
import { quoted } from '../kernel/shown.ts'
import type { Packed } from './http-pack.ts'
import { packMessage } from './http-pack.ts'
import { HttpPoster } from './http-post.ts'
import { Pace } from './pace.ts'
import { Patience, within } from './patience.ts'
import type { Transport } from './protocol.ts'
import { syncPath, syncType } from './serve-http.ts'

/** So often a server that has no room is asked, with so many seconds between, at most. */
const maxTries = 8
const maxWaitS = 15

/** How a store is reached over HTTP. */
export interface HttpOptions {
  /** Signs the requests; without one, only what everybody may read is to be had. */
  readonly signer: Signer | undefined
  /** The agent that is named, for the message where it has no key. */
  readonly agent?: string | undefined
  /** How long an answer may take to begin, and nothing may come, in ms. */
  readonly idleMs: number
  /** The time, in ms since 1970. */
  readonly clock: () => number
}

/** A store behind `hstore serve --listen`, each request a POST of its own. */
export class HttpTransport implements Transport {
  readonly name: string
  readonly mayOverlap = true
  readonly #url: URL
  readonly #options: HttpOptions
  readonly #pace = new Pace()
  readonly #poster: HttpPoster

  /** @param url - `http(s)://host[:port]`. */
  constructor(url: string, options: HttpOptions) {
    this.#url = addressOf(url)
    this.name = url
    this.#options = options
    this.#poster = new HttpPoster(this.#url)
  }

  get carryBytes(): number {
    return this.#pace.sizeBytes
  }

  async ask(request: Message): Promise<IncomingMessage> {
    const over = new AbortController()
    const body = await this.#postUntilFree(await packMessage(request), over)
    const { statusCode: status } = body
    if (status !== 200) {
      over.abort()
      throw this.#refused(status)
    }
    const patience = new Patience(this.#options.idleMs)
    const fault = (): Error => {
      over.abort()
      return this.#fault('it says nothing more, or too little')
    }
    const packed = patience.bound(this.#told(body), fault)
    try {
      return await decodeMessage(packed)
    } catch (error) {
      throw this.#invalid(error)
    }
  }

  /** A server that has no room now says when to ask again. */
  async #postUntilFree(content: Packed, over: AbortController): Promise<Response> {
    for (let tries = 1; ; tries++) {
      const answer = await this.#post(content, over)
      if (answer.statusCode !== 503 || tries === maxTries) return answer
      // what is still on its way would go there in vain
      answer.socket.destroy()
      await sleep(Math.min(maxWaitS, secondsIn(answer.headers['retry-after'])) * 1000)
    }
  }

  async #post(content: Packed, over: AbortController): Promise<Response> {
    const { signer, idleMs, clock } = this.#options
    const { digest } = content
    const { host, pathname } = this.#url
    const signed = { method: 'POST', authority: host, target: pathname, digest }
    const facts = {
      created: Math.floor(clock() / 1000),
      nonce: randomBytes(16).toString('base64url'),
    }
    const signature = signer === undefined ? {} : signRequest(signed, facts, signer)
    const headers = { 'content-type': syncType, 'content-digest': digest, ...signature }
    // what is sent takes its time; the content of the answer is waited for as long as it comes
    const mostMs = idleMs + this.#pace.allowanceMs(content.length)
    const startMs = performance.now()
    const fault = (): Error => {
      over.abort()
      return new Error('it says nothing')
    }
    try {
      const answer = await within(this.#poster.post(content, headers, over.signal), mostMs, fault)
      this.#pace.note(content.length, performance.now() - startMs)
      return answer
    } catch (error) {
      throw this.#fault(whyOf(error))
    }
  }

  #refused(status: number | undefined): HandoffError {
    if (status === 401 || status === 403) return this.#denied()
    if (status === 503) return this.#fault('it has no room for this now: sync again later')
    return this.#fault(`it answers ${status}`)
  }

  #denied(): HandoffError {
    const { agent, signer } = this.#options
    const none =
      agent === undefined
        ? 'no agent is named, so nothing was signed: name one with --as or HSTORE_AGENT'
        : `${agent} has no key here, so nothing was signed: name another agent with --as or HSTORE_AGENT, or give it a key with hstore key`
    const why =
      signer === undefined
        ? none
        : 'it has to be in the roster, neither closed nor frozen, and clocks have to agree'
    const what = signer === undefined ? 'wants to know who asks' : 'does not take the key'
    return new HandoffError('HSTORE_REMOTE_DENIED', `${this.name} ${what}: ${why}`)
  }

  /** What breaks off on the way is a failure, not a fault in what was said. */
  async *#told(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* body
    } catch (error) {
      throw this.#fault(`it broke off (${whyOf(error)})`)
    }
  }

  #invalid(error: unknown): unknown {
    if (error instanceof HandoffError || !(error instanceof HstoreError)) return error
    const message = `${this.name}: ${error.message}`
    return new HandoffError('HSTORE_REMOTE_INVALID', message, { cause: error })
  }

  #fault(why: string): HandoffError {
    return new HandoffError('HSTORE_REMOTE_FAILED', `${this.name}: ${why}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#poster.close()
  }
}

/** Returns what `Retry-After` has in seconds; a few for a date, or for none. */
function secondsIn(value: string | undefined): number {
  return value !== undefined && /^\d{1,5}$/.test(value) ? Number(value) : 5
}

/** Throws `HSTORE_USAGE` when a text is no address of a store over HTTP. */
export function assertHttpAddress(text: string): void {
  addressOf(text)
}

function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && (url.username !== '' || url.password !== '')) {
    // neither is shown: messages go into logs
    const message = `${url.protocol}//${url.host} takes neither user nor password: requests are signed with the agent's key`
    throw new HandoffError('HSTORE_USAGE', message)
  }
  if (url?.pathname !== '/' || url.search !== '' || url.hash !== '') {
    const what = `${quoted(text)} is no http(s)://host[:port]: a server has one store, at no path`
    throw new HandoffError('HSTORE_USAGE', what)
  }
  url.pathname = syncPath
  return url
}
