import { findSignature } from '../../keys/http-signature.ts'
import type { SignedRequest } from '../../keys/http-signature.ts'
import type { Served } from './request.ts'
import type { Rights } from './rights.ts'
import { publicRights, rightsIn } from './rights.ts'

const skewS = 300
const maxNonces = 100_000
const refreshMs = 2000

/** Who asks over HTTP, and what they may do: by the signature of the request and the roster. */
export class HttpAuth {
  readonly #served: Served
  readonly #publicStreams: readonly string[]
  readonly #startedS: number
  readonly #clock: () => number
  /** Nonces with the time from which on they count no more, in s; the oldest first. */
  readonly #nonces = new Map<string, number>()
  #rights: ReadonlyMap<string, Rights> | undefined
  #readMs = 0
  #reading: Promise<void> | undefined

  /**
   * @param publicStreams - Patterns of streams that anybody may read.
   * @param clock - The time, in ms since 1970.
   */
  constructor(served: Served, publicStreams: readonly string[], clock: () => number) {
    this.#served = served
    this.#publicStreams = publicStreams
    this.#clock = clock
    this.#startedS = Math.floor(clock() / 1000)
  }

  /** Returns the rights of whoever signed a request; those of everybody where nobody did; undefined for none at all. */
  async rightsOf(
    request: SignedRequest,
    headers: Parameters<typeof findSignature>[1],
  ): Promise<Rights | undefined> {
    if (headers['signature-input'] === undefined) return this.#everybody()
    const signature = findSignature(request, headers)
    if (signature === undefined || !this.#isFresh(signature)) return undefined
    const { did } = signature
    const isDue = this.#clock() - this.#readMs > refreshMs
    if (isDue || this.#rights?.has(did) !== true) await this.#refresh()
    return this.#rights?.get(did)
  }

  #everybody(): Rights | undefined {
    return this.#publicStreams.length === 0 ? undefined : publicRights(this.#publicStreams)
  }

  /**
   * A signature counts once, and for a few minutes. What was signed before this server began to remember nonces is
   * refused.
   */
  #isFresh({ created, did, nonce }: { created: number; did: string; nonce: string }): boolean {
    const nowS = Math.floor(this.#clock() / 1000)
    for (const [key, untilS] of this.#nonces) {
      if (untilS >= nowS && this.#nonces.size < maxNonces) break
      this.#nonces.delete(key)
    }
    const key = `${did} ${nonce}`
    const isTimely = Math.abs(nowS - created) <= skewS && created >= this.#startedS - 1
    if (!isTimely || this.#nonces.has(key)) return false
    this.#nonces.set(key, nowS + 2 * skewS)
    return true
  }

  /** Those who ask while it is read wait for it too. */
  async #refresh(): Promise<void> {
    if (this.#reading === undefined) {
      const sinceMs = this.#clock() - this.#readMs
      if (this.#rights !== undefined && sinceMs < refreshMs / 4) return
      this.#readMs = this.#clock()
      this.#reading = this.#read().finally(() => {
        this.#reading = undefined
      })
    }
    await this.#reading
  }

  async #read(): Promise<void> {
    await using peer = await this.#served.open()
    this.#rights = rightsIn(peer.trust)
  }
}
