import type { CidText } from '../../store/cid-text.ts'
import type { Entry } from '../entry/entry.ts'
import { Cover } from './cover.ts'
import type { Cut } from './cut.ts'
import { findCut } from './cut.ts'
import type { FreezeInForce } from './freezes.ts'
import { Freezes } from './freezes.ts'
import type { Ground } from './ground.ts'
import type { Grant, KeyHolder, Roster } from './roster.ts'
import { fitsPattern, keysOf } from './roster.ts'
import { findRoster } from './read-roster.ts'

/** What a verified entry is worth, and why in words. */
export interface Standing {
  readonly standing: 'valid' | 'held' | 'rejected' | 'unknown'
  readonly code: 'HS2002' | 'HS2003' | 'HS2004' | 'HS2005' | 'HS2006' | ''
  readonly why: string
}

/** What a right is asked for. */
export type Claim = Pick<Entry, 'author' | 'kind' | 'signer' | 'stream'>

/** What standings are a function of. */
export interface TrustParts {
  readonly genesis: CidText
  /** The bodies of the accepted rosters, genesis first. */
  readonly path: readonly CidText[]
  /** The highest accepted roster. */
  readonly roster: Roster
  /** Two or more bodies that are accepted at one version. */
  readonly fork: readonly CidText[]
  /** The end of the path where the user has chosen it; null where nobody had to choose. */
  readonly chosen: CidText | null
  /** Bodies that are accepted after a version of the path, and that the path has passed by. */
  readonly beside: readonly CidText[]
  /** The notes of kind freeze in the roster stream whose signatures stand. */
  readonly freezes: readonly Entry[]
  readonly ground: Ground
}

/** A closed grant's cut: read, with what it covers; or why it covers nothing. */
export type ReadCut =
  | { readonly state: 'read'; readonly cut: Cut; readonly cover: Cover }
  | { readonly state: 'absent' }
  | { readonly state: 'odd' }

/**
 * The rosters that a store goes by. Judges entries; knows no file and no clock. Blocks that come otherwise than by a put
 * of this process want a new one, since what was worked out is kept.
 */
export class Trust {
  readonly genesis: CidText
  readonly path: readonly CidText[]
  /** The highest accepted roster: it alone judges. */
  readonly roster: Roster
  /** Two or more bodies that are accepted at one version: everything stops until the roots decide. */
  readonly fork: readonly CidText[]
  /** The end of the path where the user has chosen it among others; null where nobody had to choose. */
  readonly chosen: CidText | null
  /** Rosters that were accepted by others and that the path has passed by: other machines may go by them. */
  readonly beside: readonly CidText[]
  /** The freezes that count, in force or settled. */
  readonly freezes: readonly Entry[]
  readonly #keys: ReadonlyMap<string, KeyHolder>
  readonly #places: ReadonlyMap<CidText, number>
  readonly #ground: Ground
  readonly #frozen: Freezes
  readonly #cuts = new Map<string, ReadCut>()
  readonly #roots = new Map<CidText, Roster | undefined>()

  constructor({ genesis, path, roster, fork, chosen, beside, freezes, ground }: TrustParts) {
    if (path.length === 0) throw new RangeError('path: wanted the genesis roster, got nothing')
    this.genesis = genesis
    this.path = path
    this.roster = roster
    this.fork = fork
    this.chosen = chosen
    this.beside = beside
    this.#ground = ground
    this.#keys = keysOf(roster)
    this.freezes = freezes.filter(
      ({ author, signer, store }) =>
        store === genesis && this.#keys.get(signer)?.agent.id === author,
    )
    this.#places = new Map(path.map((body, version) => [body, version]))
    this.#frozen = new Freezes(this.freezes, ground, (note) => this.#isSettled(note))
  }

  /** The body of the highest accepted roster. */
  get rosterBody(): CidText {
    return this.path.at(-1)!
  }

  /** Returns whose key `did` is, or undefined for a key that the roster does not know. */
  findKey(did: string): KeyHolder | undefined {
    return this.#keys.get(did)
  }

  /** Returns whether `name` is the agent's id or one of its aliases. */
  isNameOf(agentId: string, name: string): boolean {
    const agent = this.roster.agents.find(({ id }) => id === agentId)
    return agent !== undefined && (agent.id === name || agent.aliases.includes(name))
  }

  /** Returns the freezes of a key that no cut of the roster has seen; none for most keys. */
  freezesOf(did: string): readonly FreezeInForce[] {
    return this.#frozen.inForce(did)
  }

  /** Returns the keys with closed grants, each with each of its cuts. */
  closedKeys(): readonly { readonly did: string; readonly until: CidText }[] {
    return [...this.#keys].flatMap(([did, { key }]) =>
      [...new Set(key.grants.flatMap(({ until }) => until ?? []))].map((until) => ({ did, until })),
    )
  }

  /** Returns the cut that closes a grant of a key, with what it covers. */
  cutOf(did: string, until: CidText): ReadCut {
    const id = `${did} ${until}`
    const known = this.#cuts.get(id)
    if (known !== undefined) return known
    const read = this.#readCut(did, until)
    this.#cuts.set(id, read)
    return read
  }

  /** Returns what speaks against a key's right to state something now; undefined when it may. */
  findBar(claim: Claim): string | undefined {
    const holder = this.#keys.get(claim.signer)
    if (holder === undefined) return `the roster does not know ${claim.signer}`
    if (this.fork.length > 0) return 'two rosters are accepted at one version'
    const foreign = foreignOf(claim, holder)
    if (foreign !== undefined || claim.kind === 'freeze') return foreign?.why
    const fitting = fittingOf(claim, holder)
    if (fitting.length === 0) return noGrant(claim).why
    if (!fitting.some(isOpen)) return `its grant for ${claim.kind} in ${claim.stream} is closed`
    const [freeze] = this.freezesOf(claim.signer)
    return freeze && frozenBy(freeze)
  }

  /** Returns what an entry with a good signature is worth under the highest accepted roster. */
  standingOf(entry: Entry): Standing {
    if (entry.store !== this.genesis) {
      return { standing: 'rejected', code: 'HS2006', why: 'it belongs to another store' }
    }
    if (entry.kind === 'roster') return this.#rosterStanding(entry)
    const holder = this.#keys.get(entry.signer)
    if (holder === undefined) {
      return {
        standing: 'unknown',
        code: 'HS2002',
        why: `the roster does not know its signer ${entry.signer}`,
      }
    }
    if (this.fork.length > 0) return held('HS2004', 'two rosters are accepted at one version')
    return this.#rightOf(entry, holder) ?? this.#knownRoster(entry) ?? valid
  }

  /** Returns what speaks against the signer's right to state `entry`; undefined when a grant gives it. */
  #rightOf(entry: Entry, holder: KeyHolder): Standing | undefined {
    const foreign = foreignOf(entry, holder)
    if (foreign !== undefined || entry.kind === 'freeze') return foreign // a key may always stop itself
    const fitting = fittingOf(entry, holder)
    if (fitting.length === 0) return noGrant(entry)
    const freeze = this.freezesOf(entry.signer).find(({ cover }) => cover.has(entry) !== 'yes')
    if (freeze === undefined && fitting.some(isOpen)) return undefined
    const cuts = fitting.flatMap(({ until }) =>
      until === undefined ? [] : [this.cutOf(entry.signer, until)],
    )
    const states = cuts.map((cut) => stateIn(cut, entry))
    if (states.includes('yes')) return undefined
    if (fitting.some(isOpen)) return held('HS2004', frozenBy(freeze!))
    const undecided = cuts[states.indexOf('undecided')]
    return undecided === undefined
      ? rejected("its signer's grant is closed by a cut, which does not cover it")
      : held('HS2004', whyUndecided(undecided))
  }

  #readCut(did: string, until: CidText): ReadCut {
    const form = this.#ground.findForm(until)
    if (form === 'absent') return { state: 'absent' }
    const cut = form === 'other' ? undefined : findCut(form)
    if (cut?.key !== did) return { state: 'odd' }
    return { state: 'read', cut, cover: new Cover(this.#ground, cut) }
  }

  /** A cut that covers the note was made in sight of it. */
  #isSettled(note: Entry): boolean {
    const { signer } = note
    const grants = this.#keys.get(signer)?.key.grants ?? []
    return grants.some(
      ({ until }) => until !== undefined && stateIn(this.cutOf(signer, until), note) === 'yes',
    )
  }

  /** Judged by the rosters that it leads from and to: who is a root by now does not matter. */
  #rosterStanding(entry: Entry): Standing {
    if (entry.author !== entry.signer) return rejected("a roster's author is its root's did")
    const version = this.#places.get(entry.body)
    if (version === undefined) return held('HS2004', 'its roster is not accepted')
    const bodies = this.path.slice(Math.max(0, version - 1), version + 1)
    const isRoot = bodies.some((body) => {
      const roster = this.#rosterAt(body)
      return roster?.roots.some(({ did }) => did === entry.signer)
    })
    return isRoot ? valid : held('HS2004', 'its signer was no root of it')
  }

  #rosterAt(body: CidText): Roster | undefined {
    if (body === this.rosterBody) return this.roster
    if (!this.#roots.has(body)) {
      const form = this.#ground.findForm(body)
      this.#roots.set(body, typeof form === 'string' ? undefined : findRoster(form))
    }
    return this.#roots.get(body)
  }

  #knownRoster(entry: Entry): Standing | undefined {
    if (this.#places.has(entry.roster)) return undefined
    return held('HS2005', `it rests on the roster ${entry.roster}, which this store does not hold`)
  }
}

const valid: Standing = { standing: 'valid', code: '', why: '' }

const isOpen = ({ until }: Grant): boolean => until === undefined

function stateIn(read: ReadCut, entry: Entry): 'yes' | 'no' | 'undecided' {
  if (read.state === 'read') return read.cover.has(entry)
  return read.state === 'absent' ? 'undecided' : 'no'
}

function held(code: 'HS2004' | 'HS2005', why: string): Standing {
  return { standing: 'held', code, why }
}

function rejected(why: string): Standing {
  return { standing: 'rejected', code: 'HS2003', why }
}

function foreignOf({ author }: Claim, { agent }: KeyHolder): Standing | undefined {
  if (author === agent.id) return undefined
  return rejected(`its signer is ${agent.id}, which may not speak for ${author}`)
}

function fittingOf({ kind, stream }: Claim, { key }: KeyHolder): readonly Grant[] {
  return key.grants.filter(
    ({ kinds, streams }) => fitsPattern(kinds, kind) && fitsPattern(streams, stream),
  )
}

function noGrant({ kind, stream }: Claim): Standing {
  return rejected(`its signer has no grant for ${kind} in ${stream}`)
}

function frozenBy({ entry }: FreezeInForce): string {
  return `its signer has frozen itself (${entry.cid}), and no roster has spoken since`
}

function whyUndecided(read: ReadCut): string {
  if (read.state !== 'read') return "the cut that closes its signer's grant is not here"
  const pin = read.cover.absentPin
  return pin === undefined
    ? "its signer's chain has a gap, so whether the cut covers it is not known"
    : `whether the cut covers it is not known: the pin ${pin} is not here`
}
