import type { CidText } from '../../store/cid-text.ts'

/** Bytes of blocks that came of late, up to a limit. */
export class RecentBytes {
  readonly #limitBytes: number
  readonly #bytes = new Map<CidText, Uint8Array>()
  #sizeBytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  get(cid: CidText): Uint8Array | undefined {
    return this.#bytes.get(cid)
  }

  /** Takes in a block that is not there; those that came first go. */
  set(cid: CidText, bytes: Uint8Array): void {
    this.#bytes.set(cid, bytes)
    this.#sizeBytes += bytes.length
    for (const first of this.#bytes.keys()) {
      if (this.#sizeBytes <= this.#limitBytes) return
      this.delete(first)
    }
  }

  delete(cid: CidText): void {
    this.#sizeBytes -= this.#bytes.get(cid)?.length ?? 0
    this.#bytes.delete(cid)
  }
}
