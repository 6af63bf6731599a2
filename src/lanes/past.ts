import type { CidText } from '../../store/cid-text.ts'
import type { Closings } from './closings.ts'
import type { FactBits, Facts } from './facts.ts'
import type { LaneItem } from './item.ts'
import type { Seen } from './seen.ts'
import type { HeldPast, PastView } from './view.ts'

/** What is asked of the notes of a lane: the ones that were judged so far. */
export interface NotesBy {
  /** The offers that count, by `offerKey`. */
  readonly offers: ReadonlyMap<string, readonly CidText[]>
  /** What ended an offer and counts. */
  readonly ends: ReadonlyMap<CidText, readonly CidText[]>
  /** The refusals of an offer by an agent, whether they count or not, by `refusalKey`. */
  readonly refusals: ReadonlyMap<string, readonly CidText[]>
  /** The signals of UNAVAILABLE that count, by `silenceKey`. */
  readonly silences: ReadonlyMap<string, readonly LaneItem<'signal'>[]>
}

/** What an entry knows of: the answers that it is judged by, and nothing that came beside or after it. */
export class Past {
  readonly seen: Seen | undefined
  readonly facts: Facts
  readonly #bits: FactBits
  readonly #notes: NotesBy
  readonly #closings: Closings

  constructor(
    known: { readonly seen: Seen | undefined; readonly facts: Facts },
    all: { readonly bits: FactBits; readonly notes: NotesBy; readonly closings: Closings },
  ) {
    this.seen = known.seen
    this.facts = known.facts
    this.#bits = all.bits
    this.#notes = all.notes
    this.#closings = all.closings
  }

  /** Returns what it says of the lane. */
  view(): PastView {
    const { seen } = this
    if (seen === undefined) return undefined
    const { since, epoch, heads, tick, root } = seen
    const why = since === 0 ? 'openings' : 'takeovers'
    if (seen.isRivalled) return { standing: 'contested', why, epoch: Math.max(1, since) }
    const twice = this.#closings.findTwice(seen, (cid) => this.#knows(cid))
    if (twice !== undefined) return { standing: 'contested', why: 'commits', epoch: twice }
    const base = since === 0 ? '' : root
    return { standing: 'held', owner: seen.owners.owner, epoch, heads, tick, base }
  }

  /** Returns the offers of a view's epoch and heads that count and that nothing has ended. */
  openOffers(view: HeldPast): readonly CidText[] {
    return view.heads
      .flatMap(({ event }) => this.#notes.offers.get(offerKey(view.epoch, view.owner, event)) ?? [])
      .filter((cid) => this.#knows(cid))
      .filter((cid) => this.#notes.ends.get(cid)?.some((end) => this.#knows(end)) !== true)
  }

  /** Returns the first refusal of an offer by an agent. */
  refusalOf(offer: CidText, agent: string): CidText | undefined {
    return this.#notes.refusals.get(refusalKey(offer, agent))?.find((cid) => this.#knows(cid))
  }

  /** Returns the signals of an agent that it is not to be reached over a surface. */
  silencesOf(agent: string, surface: string): readonly LaneItem<'signal'>[] {
    const all = this.#notes.silences.get(silenceKey(agent, surface)) ?? []
    return all.filter(({ entry }) => this.#knows(entry.cid))
  }

  /** Returns the highest epoch of any node; 0 where there is none. */
  highestEpoch(): number {
    return this.seen?.highest ?? 0
  }

  #knows(cid: CidText): boolean {
    return this.#bits.has(this.facts, cid)
  }
}

/** Returns the key of what an owner offers at an epoch on a head. */
export function offerKey(epoch: number, owner: string, head: CidText): string {
  return `${epoch} ${head} ${owner}`
}

/** Returns the key of an agent's refusals of an offer. */
export function refusalKey(offer: CidText, agent: string): string {
  return `${offer} ${agent}`
}

/** Returns the key of an agent's signals of UNAVAILABLE over a surface. */
export function silenceKey(agent: string, surface: string): string {
  return `${agent} ${surface}`
}

const askedKinds: ReadonlySet<string> = new Set(['decline', 'proposal', 'withdraw'])

/** Returns the entries that others are asked about, in the order that they are given in. */
export function factsAmong(items: readonly LaneItem[], doubled: ReadonlySet<CidText>): CidText[] {
  return items
    .filter(({ entry, body }) => {
      if (body.kind === 'signal') return body.status === 'UNAVAILABLE'
      return askedKinds.has(body.kind) || doubled.has(entry.cid)
    })
    .map(({ entry }) => entry.cid)
}
