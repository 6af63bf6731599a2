import type { Did } from '../../../keys/did-key.ts'
import { signerOfSeed } from '../../../keys/signer.ts'
import { encodeForm } from '../../../store/canonical.ts'
import type { JsonForm } from '../../../store/canonical.ts'
import type { CidText } from '../../../store/cid-text.ts'
import { cidTextOf } from '../../../store/cid-text.ts'
import type { Entry, VerifiedEntry } from '../../../src/entry/entry.ts'
import {
  withAlias,
  withClosed,
  withGrants,
  withKey,
  withRoots,
} from '../../../src/roster/change.ts'
import type { Cut, Freeze } from '../../../src/trust/cut.ts'
import { cutForm, freezeForm } from '../../../src/trust/cut.ts'
import type { Ground } from '../../../src/trust/ground.ts'
import type { Remembered } from '../../../src/trust/path.ts'
import { acceptPath, gatherCandidates } from '../../../src/trust/path.ts'
import { findRoster } from '../../../src/trust/read-roster.ts'
import type { Grant, Roster } from '../../../src/trust/roster.ts'
import { rosterForm } from '../../../src/trust/roster.ts'
import { Trust } from '../../../src/trust/standing.ts'
import type { Dice } from '../../fuzz/dice.ts'
import { bytesOf } from '../../support/envelope.ts'
import type { OBlocks } from './oracle.ts'

/** The keys of every world. */
export const signers = Array.from({ length: 9 }, (_, i) => signerOfSeed(bytesOf(`world ${i}`, 32)))
const dids = signers.map(({ did }) => did)
const streams = ['csag:a', 'csag:b', 'm8:c']
const kinds = ['envelope', 'turn', 'ack']
const patterns = [['*'], ['*'], ['csag:*'], ['csag:a'], ['csag:a', 'm8:*'], ['m8:c']]
const kindPatterns = [['*'], ['*'], ['*'], ['envelope'], ['ack', 'envelope'], ['turn']]

/** Some blocks, as if they had been found; entries without the bytes that show their signatures. */
export interface World {
  readonly genesis: CidText
  readonly entries: Map<CidText, VerifiedEntry>
  /** Bodies of rosters and freezes, and cuts. */
  readonly forms: Map<CidText, { [key: string]: JsonForm }>
  readonly rosters: Map<CidText, Roster>
  readonly cuts: Map<CidText, Cut>
  readonly freezes: Map<CidText, Freeze>
}

/** Returns a random world: signers, machines, rotations, cuts, freezes, readmissions, thresholds, and what thieves try. */
export function makeWorld(dice: Dice): World {
  const maker = new Maker(dice)
  const steps = 8 + dice.below(32)
  for (let i = 0; i < steps; i++) maker.step()
  maker.lose()
  return maker.world
}

/** Returns the trust that the blocks of a world give, taken in the order of its maps. */
export function trustOf(
  { genesis, entries, forms }: World,
  known: Remembered = { path: [], chosen: null },
): Trust | undefined {
  const candidates = gatherCandidates(entries.values(), (body) => {
    const form = forms.get(body)
    return form && rosterIn(form)
  })
  const { path, fork, beside } = acceptPath(genesis, candidates, known)
  if (path.length === 0) return undefined
  const ground: Ground = {
    findEntry: (cid) => entries.get(cid) ?? (forms.has(cid) ? 'other' : 'absent'),
    isSigned: () => true,
    findForm: (cid) => forms.get(cid) ?? (entries.has(cid) ? 'other' : 'absent'),
  }
  const freezes = [...entries.values()].filter(({ kind }) => kind === 'freeze')
  const bodies = path.map(({ body }) => body)
  const { roster } = path.at(-1)!
  const { chosen } = known
  return new Trust({ genesis, path: bodies, roster, fork, chosen, beside, freezes, ground })
}

const read = new WeakMap<object, { readonly roster: Roster | undefined }>()

/** Read once: the same bodies are looked at all the time. */
function rosterIn(form: { [key: string]: JsonForm }): Roster | undefined {
  const known = read.get(form) ?? { roster: findRoster(form) }
  read.set(form, known)
  return known.roster
}

/** Returns a world as the oracle takes it. */
export function blocksOf({ entries, rosters, cuts, freezes }: World): OBlocks {
  return { entries, rosters, cuts, freezes }
}

class Maker {
  readonly #dice: Dice
  readonly world: World
  /** In some worlds most chains are crooked. */
  readonly #crooked: boolean
  /** Who works: few hands make long chains. */
  readonly #dids: readonly Did[]
  readonly #streams: readonly string[]
  #top: CidText
  #count = 0

  constructor(dice: Dice) {
    this.#dice = dice
    this.#crooked = dice.below(3) === 0
    this.#dids = dids.slice(2, 4 + dice.below(4))
    this.#streams = streams.slice(0, 1 + dice.below(3))
    const roster = firstRoster(dice)
    const genesis = cidTextOf(encodeForm(rosterForm(roster)), 'dag-json')
    this.world = {
      genesis,
      entries: new Map(),
      forms: new Map(),
      rosters: new Map(),
      cuts: new Map(),
      freezes: new Map(),
    }
    this.#top = genesis
    this.#addRoster(
      roster,
      roster.roots.map(({ did }) => did as Did),
    )
  }

  step(): void {
    const throwOf = this.#dice.below(100)
    if (throwOf < 70) this.#work()
    else if (throwOf < 79) this.#freeze()
    else this.#nextRoster()
  }

  /** Some blocks are not here. */
  lose(): void {
    if (this.#dice.below(100) < 55) return
    const { entries, forms, rosters, cuts, freezes } = this.world
    for (let i = this.#dice.below(4); i >= 0; i--) {
      const cid = this.#dice.pick([...entries.keys(), ...forms.keys()])
      for (const map of [entries, forms, rosters, cuts, freezes]) map.delete(cid)
    }
  }

  #work(): void {
    const dice = this.#dice
    const signer = this.#rarely(8) ? dice.pick(dids) : dice.pick(this.#dids)
    this.#addEntry(signer, dice.pick(kinds), dice.pick(this.#streams), this.#any())
  }

  #freeze(): void {
    const signer = this.#dice.pick(this.#dids)
    const key = this.#rarely(6) ? this.#dice.pick(dids) : signer
    const freeze = { key, pins: this.#pins(signer) }
    const body = this.#addForm(freezeForm(freeze))
    this.world.freezes.set(body, freeze)
    this.#addEntry(signer, 'freeze', 'roster', body)
  }

  #nextRoster(): void {
    const dice = this.#dice
    const base = this.#rarely(15) ? dice.pick([...this.world.rosters.keys()]) : this.#top
    const now = this.world.rosters.get(base)!
    let next: Roster = { ...now, nonce: undefined, prev: base, version: now.version + 1 }
    for (let i = 1 + dice.below(2); i > 0; i--) next = this.#change(next)
    if (this.#rarely(4)) next = { ...next, version: next.version + 1 }
    if (this.#rarely(4)) next = forgetful(next, dice)
    const all = [...now.roots, ...next.roots].map(({ did }) => did as Did)
    const some = all.filter(() => dice.below(3) > 0)
    this.#addRoster(next, this.#rarely(65) ? all : [...some, dice.pick(dids)])
  }

  #change(roster: Roster): Roster {
    const dice = this.#dice
    const keys = roster.agents.flatMap((agent) => agent.keys.map((key) => ({ agent, key })))
    if (keys.length === 0) return this.#otherRoots(roster)
    const { agent, key } = dice.pick(keys)
    const grant = randomGrant(dice)
    switch (dice.below(9)) {
      case 0:
      case 1:
      case 2: {
        const closed = withClosed(roster, key.did, this.#cut(key.did), undefined)
        return this.#rarely(30) ? withGrants(closed, key.did, [grant]) : closed
      }
      case 3:
        return withClosed(roster, key.did, this.#cut(key.did), key.grants.slice(0, 1))
      case 4:
        return withGrants(roster, key.did, [{ ...grant, until: this.#cut(key.did) }])
      case 5:
        return withGrants(roster, key.did, [grant])
      case 6:
        return withAlias(roster, agent.id, `alias ${dice.below(3)} of ${agent.id}`)
      case 7:
        return this.#otherRoots(roster)
      default: {
        const free = dids.filter(
          (did) => !roster.agents.some(({ keys }) => keys.some((one) => one.did === did)),
        )
        return free.length === 0
          ? roster
          : withKey(roster, agent.id, {
              did: free[0]!,
              level: 'file',
              machine: 'm',
              grants: [grant],
            })
      }
    }
  }

  #otherRoots(roster: Roster): Roster {
    const dice = this.#dice
    const root = { did: dice.pick(dids), holder: `holder ${dice.below(3)}` }
    const drop = roster.roots.length > 1 && this.#rarely(40) ? [dice.pick(roster.roots).did] : []
    const changed = withRoots(roster, {
      add: [root],
      drop: drop.filter((did) => did !== root.did),
      threshold: undefined,
    })
    const holders = new Set(changed.roots.map(({ holder }) => holder)).size
    return { ...changed, threshold: 1 + dice.below(holders) }
  }

  #cut(key: string): CidText {
    const dice = this.#dice
    const own = this.#own(key).map(({ cid }) => cid)
    const readmitted = own.length > 0 && this.#rarely(25) ? sorted([dice.pick(own)]) : []
    const cut: Cut = {
      key: this.#rarely(6) ? dice.pick(dids) : key,
      pins: this.#pins(key),
      readmitted,
    }
    const cid = this.#addForm(cutForm(cut))
    this.world.cuts.set(cid, cut)
    return cid
  }

  /** The head, some entry of the key, of another, or one that nobody holds. */
  #pins(key: string): readonly CidText[] {
    const dice = this.#dice
    const own = this.#own(key)
    if (this.#rarely(35)) return sorted(this.#tips(own))
    const pins: CidText[] = []
    for (let i = dice.below(3); i >= 0; i--) {
      if (own.length > 0 && !this.#rarely(15)) pins.push(dice.pick(own).cid)
      else if (this.#rarely(60)) pins.push(dice.pick([...this.world.entries.keys()]))
      else if (this.#rarely(40)) pins.push(this.#any())
    }
    return sorted(pins)
  }

  #own(key: string): readonly Entry[] {
    return [...this.world.entries.values()].filter(({ signer }) => signer === key)
  }

  #tips(entries: readonly Entry[]): CidText[] {
    const named = new Set(entries.flatMap(({ prev }) => prev))
    return entries.map(({ cid }) => cid).filter((cid) => !named.has(cid))
  }

  #addRoster(roster: Roster, by: readonly Did[]): void {
    const body = this.#addForm(rosterForm(roster))
    this.world.rosters.set(body, roster)
    for (const did of new Set(by)) this.#addEntry(did, 'roster', 'roster', body)
    if (rosterIn(this.world.forms.get(body)!) === undefined) {
      this.world.rosters.delete(body)
      return
    }
    const { path } = trustOf(this.world) ?? { path: [] }
    this.#top = path.at(-1) ?? this.#top
  }

  #addEntry(signer: Did, kind: string, stream: string, body: CidText): void {
    const dice = this.#dice
    const prev = this.#prev(signer, stream)
    const below = prev.map((cid) => this.world.entries.get(cid)?.seq ?? 0)
    const cid = this.#any()
    const right = 1 + Math.max(0, ...below)
    const entry: Entry = {
      artifacts: undefined,
      author: kind === 'roster' ? (this.#rarely(3) ? 'somebody' : signer) : this.#authorOf(signer),
      body,
      cid,
      kind,
      name: undefined,
      parents: sorted(this.#rarely(20) ? [dice.pick([...this.world.entries.keys(), cid])] : []),
      prev,
      refs: [],
      roster: this.#rarely(4) ? this.#any() : dice.pick([this.#top, this.#top, this.world.genesis]),
      seq: this.#rarely(8) ? 1 + dice.below(6) : right,
      shallow: [],
      signer,
      source: undefined,
      store: this.#rarely(3) ? this.#any() : this.world.genesis,
      stream,
      witness: false,
    }
    this.world.entries.set(cid, entry as VerifiedEntry)
  }

  #prev(signer: string, stream: string): readonly CidText[] {
    const dice = this.#dice
    const own = this.#own(signer).filter((entry) => entry.stream === stream)
    const all = [...this.world.entries.keys()]
    if (this.#rarely(this.#crooked ? 45 : 10) && all.length > 0)
      return sorted([dice.pick(all), ...this.#tips(own)])
    if (this.#rarely(4)) return [this.#any()]
    if (own.length > 0 && this.#rarely(20)) return [dice.pick(own).cid]
    return sorted(this.#tips(own))
  }

  #authorOf(did: string): string {
    const rosters = [...this.world.rosters.values()]
    const agents = rosters.flatMap((roster) => roster.agents)
    const owner = agents.find(({ keys }) => keys.some((key) => key.did === did))
    return owner === undefined || this.#rarely(5) ? this.#dice.pick(agentIds) : owner.id
  }

  #addForm(form: { [key: string]: JsonForm }): CidText {
    const cid = cidTextOf(encodeForm(form), 'dag-json')
    this.world.forms.set(cid, form)
    return cid
  }

  /** A CID that nothing has yet. */
  #any(): CidText {
    return cidTextOf(Buffer.from(`${this.#count++} ${this.#dice.below(1e9)}`), 'dag-json')
  }

  #rarely(percent: number): boolean {
    return this.#dice.below(100) < percent
  }
}

const agentIds = ['agent 0', 'agent 1', 'agent 2']

function firstRoster(dice: Dice): Roster {
  const roots = dids
    .slice(0, 1 + dice.below(3))
    .map((did) => ({ did, holder: `holder ${dice.below(2)}` }))
    .sort((a, b) => (a.did < b.did ? -1 : 1))
  const holders = new Set(roots.map(({ holder }) => holder)).size
  const empty: Roster = {
    agents: [],
    format: 1,
    nonce: dice.bytes(16),
    prev: undefined,
    roots,
    threshold: 1 + dice.below(holders),
    version: 0,
  }
  return dids.slice(2, 5 + dice.below(3)).reduce(
    (roster, did, i) =>
      withKey(roster, agentIds[i % (1 + dice.below(3))]!, {
        did,
        level: dice.pick(['agent', 'file']),
        machine: `m${i}`,
        grants: [randomGrant(dice)],
      }),
    empty,
  )
}

function randomGrant(dice: Dice): Grant {
  return { kinds: dice.pick(kindPatterns), streams: dice.pick(patterns), until: undefined }
}

/** Rosters never forget: this one does. */
function forgetful(roster: Roster, dice: Dice): Roster {
  if (roster.agents.length === 0) return roster
  const victim = dice.pick(roster.agents)
  const how = dice.below(3)
  return {
    ...roster,
    agents: roster.agents.flatMap((agent) => {
      if (agent !== victim) return [agent]
      if (how === 0) return []
      if (how === 1) return [{ ...agent, aliases: [], keys: agent.keys.slice(1) }]
      const keys = agent.keys.map((key) => ({
        ...key,
        grants: key.grants.map((one) => ({ ...one, until: undefined })).slice(0, 1),
      }))
      return [{ ...agent, keys }]
    }),
  }
}

function sorted(cids: readonly CidText[]): readonly CidText[] {
  return [...new Set(cids)].sort()
}
