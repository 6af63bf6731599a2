import { findSignature } from '../../keys/http-signature.ts'
import type { SignatureFacts, SignedRequest } from '../../keys/http-signature.ts'
import { countsForS, Nonces } from './nonces.ts'
import type { Served } from './request.ts'
import type { Rights } from './rights.ts'
import { publicRights, rightsIn } from './rights.ts'

/** So far a client's clock may be ahead. */
const aheadS = 30
const refreshMs = 2000

/** Who asks over HTTP, and what they may do: by the signature of the request and the roster. */
export class HttpAuth {
  readonly #served: Served
  readonly #publicStreams: readonly string[]
  readonly #startedS: number
  readonly #clock: () => number
  readonly #nonces: Nonces
  #rights: ReadonlyMap<string, Rights> | undefined
  #readMs = 0
  #reading: Promise<void> | undefined

  /**
   * @param publicStreams - Patterns of streams that anybody may read.
   * @param clock - The time, in ms since 1970.
   * @param nonces - Those that came.
   */
  constructor(
    served: Served,
    publicStreams: readonly string[],
    clock: () => number,
    nonces: Nonces = new Nonces(),
  ) {
    this.#nonces = nonces
    this.#served = served
    this.#publicStreams = publicStreams
    this.#clock = clock
    this.#startedS = Math.floor(clock() / 1000)
  }

  /**
   * Returns the rights of whoever signed a request; those of everybody where nobody did; undefined for none at all; `busy`
   * for a key that has sent too much to know whether this came before.
   */
  async rightsOf(
    request: SignedRequest,
    headers: Parameters<typeof findSignature>[1],
  ): Promise<Rights | 'busy' | undefined> {
    if (headers['signature-input'] === undefined) return this.#everybody()
    const signature = findSignature(request, headers)
    if (signature === undefined) return undefined
    const { did } = signature
    const isDue = this.#clock() - this.#readMs > refreshMs
    if (isDue || this.#rights?.has(did) !== true) await this.#refresh()
    const rights = this.#rights?.get(did)
    return rights === undefined ? undefined : this.#once(signature, rights)
  }

  /**
   * A signature counts once, and for a few minutes. What was signed before this server began to remember nonces is
   * refused. Only keys that have rights are remembered: no others can fill memory.
   */
  #once(signature: SignatureFacts, rights: Rights): Rights | 'busy' | undefined {
    const nowS = Math.floor(this.#clock() / 1000)
    const { created } = signature
    const isTimely = created >= nowS - countsForS && created <= nowS + aheadS
    if (!isTimely || created < this.#startedS - 1) return undefined
    const found = this.#nonces.add(signature, nowS)
    if (found === 'full') return 'busy'
    return found === 'new' ? rights : undefined
  }

  #everybody(): Rights | undefined {
    return this.#publicStreams.length === 0 ? undefined : publicRights(this.#publicStreams)
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
