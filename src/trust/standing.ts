import type { Entry } from '../entry/entry.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { KeyHolder, Roster } from './roster.ts'
import { fitsPattern, keysOf } from './roster.ts'

/** What a verified entry is worth, and why in words. */
export interface Standing {
  readonly standing: 'valid' | 'held' | 'rejected' | 'unknown'
  readonly code: 'HS2002' | 'HS2003' | 'HS2004' | 'HS2005' | 'HS2006' | ''
  readonly why: string
}

/** What a right is asked for. */
export type Claim = Pick<Entry, 'author' | 'kind' | 'signer' | 'stream'>

/** The rosters that a store goes by. Judges entries; knows no file and no clock. */
export class Trust {
  readonly genesis: CidText
  /** The bodies of the accepted rosters, genesis first. */
  readonly path: readonly CidText[]
  /** The highest accepted roster: it alone judges. */
  readonly roster: Roster
  /** Two or more bodies that are accepted at one version: everything stops until the roots decide. */
  readonly fork: readonly CidText[]
  readonly #keys: ReadonlyMap<string, KeyHolder>
  readonly #bodies: ReadonlySet<CidText>

  constructor(
    genesis: CidText,
    path: readonly CidText[],
    roster: Roster,
    fork: readonly CidText[],
  ) {
    if (path.length === 0) throw new RangeError('path: wanted the genesis roster, got nothing')
    this.genesis = genesis
    this.path = path
    this.roster = roster
    this.fork = fork
    this.#keys = keysOf(roster)
    this.#bodies = new Set(path)
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

  /** Returns what speaks against a key's right to state something now; undefined when it may. */
  findBar(claim: Claim): string | undefined {
    const holder = this.#keys.get(claim.signer)
    if (holder === undefined) return `the roster does not know ${claim.signer}`
    if (this.fork.length > 0) return 'two rosters are accepted at one version'
    return rightOf(claim, holder)?.why
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
    return rightOf(entry, holder) ?? this.#knownRoster(entry) ?? valid
  }

  #rosterStanding(entry: Entry): Standing {
    if (entry.author !== entry.signer) return rejected("a roster's author is its root's did")
    const isRoot = this.roster.roots.some(({ did }) => did === entry.signer)
    if (isRoot && this.#bodies.has(entry.body)) return valid
    return held('HS2004', isRoot ? 'its roster is not accepted' : 'its signer is no root by now')
  }

  #knownRoster(entry: Entry): Standing | undefined {
    if (this.#bodies.has(entry.roster)) return undefined
    return held('HS2005', `it rests on the roster ${entry.roster}, which this store does not hold`)
  }
}

const valid: Standing = { standing: 'valid', code: '', why: '' }

function held(code: 'HS2004' | 'HS2005', why: string): Standing {
  return { standing: 'held', code, why }
}

function rejected(why: string): Standing {
  return { standing: 'rejected', code: 'HS2003', why }
}

/** Returns what speaks against the signer's right to state `entry`; undefined when an open grant gives it. */
function rightOf(entry: Claim, { agent, key }: KeyHolder): Standing | undefined {
  if (entry.author !== agent.id) {
    return rejected(`its signer is ${agent.id}, which may not speak for ${entry.author}`)
  }
  if (entry.kind === 'freeze') return undefined // a key may always stop itself
  const fitting = key.grants.filter(
    ({ kinds, streams }) => fitsPattern(kinds, entry.kind) && fitsPattern(streams, entry.stream),
  )
  if (fitting.some(({ until }) => until === undefined)) return undefined
  if (fitting.length === 0)
    return rejected(`its signer has no grant for ${entry.kind} in ${entry.stream}`)
  return held('HS2004', "its signer's grant is closed, and this version does not judge cuts")
}
