/** So many seconds a signature counts. */
export const countsForS = 300

interface OfKey {
  /** By the second that they were signed in. */
  readonly bySecond: Map<number, Set<string>>
  size: number
  /** Nothing that was signed until then counts any more: its nonces are not kept. */
  closedUntilS: number
}

/** Nonces that came, so that none counts twice. Each key has room of its own: none can crowd out another's. */
export class Nonces {
  readonly #most: number
  readonly #keys = new Map<string, OfKey>()
  #sweptS = 0

  /** @param most - How many a key may have; where it has more, those that it signed first count no longer. */
  constructor(most = 10_000) {
    this.#most = most
  }

  /**
   * Keeps a nonce of a key that has rights and has signed it.
   *
   * @returns `repeated` when it came before; `full` when nobody knows any more whether it did.
   */
  add(
    {
      did,
      created,
      nonce,
    }: { readonly did: string; readonly created: number; readonly nonce: string },
    nowS: number,
  ): 'new' | 'repeated' | 'full' {
    this.#sweep(nowS)
    const ofKey = this.#keys.get(did) ?? { bySecond: new Map(), size: 0, closedUntilS: 0 }
    this.#keys.set(did, ofKey)
    if (ofKey.bySecond.get(created)?.has(nonce) === true) return 'repeated'
    if (ofKey.size >= this.#most) closeFirst(ofKey)
    if (created <= ofKey.closedUntilS) return 'full'
    const second = ofKey.bySecond.get(created) ?? new Set()
    ofKey.bySecond.set(created, second.add(nonce))
    ofKey.size += 1
    return 'new'
  }

  /** Lets go of what is too old to count, once a second. */
  #sweep(nowS: number): void {
    if (nowS === this.#sweptS) return
    this.#sweptS = nowS
    for (const [did, ofKey] of this.#keys) {
      for (const second of ofKey.bySecond.keys())
        if (second < nowS - countsForS) drop(ofKey, second)
      if (ofKey.size === 0 && ofKey.closedUntilS < nowS - countsForS) this.#keys.delete(did)
    }
  }
}

function closeFirst(ofKey: OfKey): void {
  ofKey.closedUntilS = Math.min(...ofKey.bySecond.keys())
  drop(ofKey, ofKey.closedUntilS)
}

function drop(ofKey: OfKey, second: number): void {
  ofKey.size -= ofKey.bySecond.get(second)?.size ?? 0
  ofKey.bySecond.delete(second)
}
