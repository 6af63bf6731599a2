import type { Entry } from '../entry/entry.ts'
import { Cover } from './cover.ts'
import { findFreeze } from './cut.ts'
import type { Ground } from './ground.ts'

/** A key's word that what is outside its pins waits for a roster, which none has answered yet. */
export interface FreezeInForce {
  readonly entry: Entry
  /** What it leaves valid. */
  readonly cover: Cover
}

/** The freezes of a store by key: which are in force, and what they cover. */
export class Freezes {
  readonly #byKey = new Map<string, Entry[]>()
  readonly #inForce = new Map<string, readonly FreezeInForce[]>()
  readonly #ground: Ground
  readonly #isSettled: (note: Entry) => boolean

  constructor(notes: readonly Entry[], ground: Ground, isSettled: (note: Entry) => boolean) {
    this.#ground = ground
    this.#isSettled = isSettled
    for (const note of notes) {
      this.#byKey.set(note.signer, [...(this.#byKey.get(note.signer) ?? []), note])
    }
  }

  /** Returns the freezes of a key that are in force. */
  inForce(did: string): readonly FreezeInForce[] {
    const notes = this.#byKey.get(did)
    if (notes === undefined) return none
    const known = this.#inForce.get(did)
    if (known !== undefined) return known
    const found = notes.flatMap((entry) => {
      const cover = this.#isSettled(entry) ? undefined : this.#coverOf(entry)
      return cover === undefined ? [] : [{ entry, cover }]
    })
    this.#inForce.set(did, found)
    return found
  }

  /** A freeze whose body is not here holds everything; a body that is none freezes nothing. */
  #coverOf({ body, signer }: Entry): Cover | undefined {
    const form = this.#ground.findForm(body)
    if (form === 'other') return undefined
    const freeze = form === 'absent' ? { key: signer, pins: [] } : findFreeze(form)
    if (freeze?.key !== signer) return undefined
    return new Cover(this.#ground, { ...freeze, readmitted: [] })
  }
}

const none: readonly FreezeInForce[] = []
