import type { CidText } from '../../store/cid-text.ts'
import type { Entry } from '../entry/entry.ts'
import type { Cut } from './cut.ts'
import type { Ground } from './ground.ts'

/** What a cut says of an entry of its key. */
export type Covered = 'yes' | 'no' | 'undecided'

/** The part of an entry that says where it stands in its signer's chain. */
type Place = Pick<Entry, 'cid' | 'prev' | 'seq' | 'signer' | 'stream'>

/** What a key's pins cover. See docs/trust.md, «Definitions». Walks down only as far as it is asked. */
export class Cover {
  readonly #ground: Ground
  readonly #cut: Cut
  readonly #readmitted: ReadonlySet<CidText>
  readonly #streams = new Map<string, Walk>()
  #isSeeded = false
  #absent: CidText | undefined
  readonly #padding: CidText[] = []

  constructor(ground: Ground, cut: Cut) {
    this.#ground = ground
    this.#cut = cut
    this.#readmitted = new Set(cut.readmitted)
  }

  /** Returns whether an entry of the cut's key is covered. */
  has(entry: Place): Covered {
    if (entry.signer !== this.#cut.key) return 'no'
    if (this.#readmitted.has(entry.cid)) return 'yes'
    this.#seed()
    const found = this.#streams.get(entry.stream)?.find(entry) ?? 'no'
    return found === 'no' && this.#absent !== undefined ? 'undecided' : found
  }

  /** Returns every entry of a stream that is covered, walked to its end, but for those that are readmitted. */
  allIn(stream: string): ReadonlySet<CidText> {
    this.#seed()
    return this.#streams.get(stream)?.all() ?? new Set()
  }

  /** A pin whose block is not here; undefined when all are. */
  get absentPin(): CidText | undefined {
    this.#seed()
    return this.#absent
  }

  /** Pins that are no entries of the key: they cover nothing. */
  get padding(): readonly CidText[] {
    this.#seed()
    return this.#padding
  }

  #seed(): void {
    if (this.#isSeeded) return
    this.#isSeeded = true
    for (const pin of this.#cut.pins) {
      const entry = this.#ground.findEntry(pin)
      if (entry === 'absent') this.#absent ??= pin
      else if (entry === 'other' || !this.#isOwn(entry)) this.#padding.push(pin)
      else {
        const walk = this.#streams.get(entry.stream) ?? new Walk(this.#ground)
        this.#streams.set(entry.stream, walk)
        walk.add(entry)
      }
    }
  }

  #isOwn(entry: Entry): boolean {
    return entry.signer === this.#cut.key && this.#ground.isSigned(entry)
  }
}

/** One stream's part of a cover, walked from the highest `seq` down: links lead down only. */
class Walk {
  readonly #ground: Ground
  readonly #covered = new Set<CidText>()
  /** Covered entries whose links were not followed yet, by rising `seq`. */
  readonly #waiting: Place[] = []
  /** An entry below this `seq` may lie behind a block that is not here. */
  #openBelow = 0

  constructor(ground: Ground) {
    this.#ground = ground
  }

  add(entry: Place): void {
    if (this.#covered.has(entry.cid)) return
    this.#covered.add(entry.cid)
    let at = this.#waiting.length
    while (at > 0 && this.#waiting[at - 1]!.seq > entry.seq) at--
    this.#waiting.splice(at, 0, entry)
  }

  find({ cid, seq }: Place): Covered {
    while (!this.#covered.has(cid) && (this.#waiting.at(-1)?.seq ?? 0) > seq) {
      this.#follow(this.#waiting.pop()!)
    }
    if (this.#covered.has(cid)) return 'yes'
    return seq < this.#openBelow ? 'undecided' : 'no'
  }

  all(): ReadonlySet<CidText> {
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop())
      this.#follow(next)
    return this.#covered
  }

  #follow({ prev, seq, signer, stream }: Place): void {
    for (const link of prev) {
      if (this.#covered.has(link)) continue
      const entry = this.#ground.findEntry(link)
      if (entry === 'absent') this.#openBelow = Math.max(this.#openBelow, seq)
      else if (entry !== 'other' && isBehind(entry, { seq, signer, stream })) this.add(entry)
    }
  }
}

/** Only the signer's own chain carries cover, and only downwards. */
function isBehind(entry: Place, { seq, signer, stream }: Omit<Place, 'cid' | 'prev'>): boolean {
  return entry.signer === signer && entry.stream === stream && entry.seq < seq
}
