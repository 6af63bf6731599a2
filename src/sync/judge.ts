import type { CidText } from '../../store/cid-text.ts'
import { planRows } from '../../store/indexes.ts'
import { entryKey } from '../../store/keyspace.ts'
import { linksFirst } from '../../store/links-first.ts'
import { OverlayDatabase } from '../../store/overlay-database.ts'
import { looksLikeEntry, mayBeEntry } from '../entry/decode.ts'
import type { Entry, VerifiedEntry } from '../entry/entry.ts'
import { rowOf } from '../entry/row.ts'
import { Collection } from '../graph/collect.ts'
import { judgeEntries } from '../graph/judge.ts'
import type { LoadedGraph } from '../graph/loaded.ts'
import type { Finding } from '../rules/rule.ts'
import type { Pins } from '../trust/pin-file.ts'
import { unpinned } from '../trust/pin-file.ts'
import type { Trust } from '../trust/standing.ts'
import type { Arrivals } from './arrivals.ts'
import type { Fate } from './fate.ts'
import type { Ground } from './ground.ts'
import { trustIn } from './ground.ts'
import { formOf, Parts } from './parts.ts'
import { rootsOf } from './roster-right.ts'

/** What arrivals come to, before any of them is written. */
export interface Judged {
  /** The rosters as they are with what arrived. */
  readonly trust: Trust
  readonly pins: Pins
  /** Entries to be stored, each behind those that it follows; rosters first. */
  readonly entries: readonly VerifiedEntry[]
  readonly fates: ReadonlyMap<CidText, Fate>
}

/** Signatures checked at once, at most. */
const underWay = 512

/**
 * Judges what arrived by the functions that `verify` uses, over the store as it would be with it. Which entries are to be
 * stored is a function of the rosters and of the blocks, not of the order in which they came.
 */
export async function judgeArrivals(ground: Ground, arrivals: Arrivals): Promise<Judged> {
  const collection = new Collection()
  const refused = new Map<CidText, Finding>()
  const given = await readEntries(ground, arrivals, collection, refused)
  const fresh = linksFirst(given.filter((entry) => !isThere(ground, entry)))
  const overlay = new OverlayDatabase(ground.db, arrivals)
  const rosters = fresh.filter(
    ({ stream, store }) => stream === 'roster' && store === ground.genesis,
  )
  for (const entry of rosters) {
    overlay.lay(planRows((index, key) => overlay.readRow(index, key), rowOf(entry)))
  }
  const { trust } = await trustIn(overlay, ground)
  const judge = new Judge(ground, arrivals, collection, trust)
  for (const entry of given) if (isThere(ground, entry)) judge.know(entry)
  for (const [cid, finding] of refused) judge.refuse(cid, finding)
  await judge.prepare(fresh)
  const roots = rosters.length > 0 ? await rootsOf(overlay, trust, rosters) : new Set<string>()
  for (const entry of fresh) judge.decide(entry, roots)
  const stored = fresh.filter(({ cid }) => judge.fates.get(cid)?.fate === 'stored')
  const first = stored.filter(({ stream }) => stream === 'roster')
  const entries = [...first, ...stored.filter(({ stream }) => stream !== 'roster')]
  return { trust, pins: pinsOf(trust), entries, fates: judge.fates }
}

const there: Fate = { fate: 'there' }
const stored: Fate = { fate: 'stored' }

/** The path is computed anew at the next opening, from what was stored. */
function pinsOf({ genesis, path, fork, chosen }: Trust): Pins {
  return { ...unpinned(genesis), path, fork, chosen }
}

/** Returns whether the store has an entry, with its place in the index. */
export function isThere({ db }: Pick<Ground, 'db'>, entry: Entry): boolean {
  return db.readRow('entries', entryKey(entry.stream, entry.seq, entry.cid)) !== undefined
}

/** Returns the entries among the arrivals whose signature stands; those that are none go to `refused`. */
async function readEntries(
  { marks }: Ground,
  arrivals: Arrivals,
  collection: Collection,
  refused: Map<CidText, Finding>,
): Promise<VerifiedEntry[]> {
  const given: CidText[] = []
  for (const cid of arrivals.documents()) {
    const block = arrivals.findBlock(cid)!
    const { bytes } = block
    if (!mayBeEntry(bytes)) continue
    const form = formOf(block)
    if (form === undefined || !looksLikeEntry(form)) continue
    given.push(cid)
    collection.addEntryForm(cid, bytes, form, (one) => marks?.hasSignature(one) === true)
    await collection.settle(underWay)
  }
  await collection.settle(0)
  for (const damage of collection.damage) refused.set(damage.cid as CidText, damage)
  return given.flatMap((cid) => collection.entries.get(cid) ?? [])
}

/** Adds the stored entries that fresh ones follow to the collection, as not to be judged again. */
async function readNeighbours(
  ground: Ground,
  collection: Collection,
  neighbours: Set<CidText>,
  fresh: readonly VerifiedEntry[],
): Promise<void> {
  const links = new Set(fresh.flatMap(({ parents, prev }) => [...parents, ...prev]))
  const wanted = [...links].filter((link) => !collection.entries.has(link))
  const other = new Collection()
  for (const [i, read] of (await ground.db.getMany(wanted)).entries()) {
    if (read.state !== 'ok') continue
    other.addEntry(wanted[i]!, read.bytes, (cid) => ground.marks?.hasSignature(cid) === true)
    await other.settle(underWay)
  }
  await other.settle(0)
  for (const entry of other.entries.values()) {
    if (!isThere(ground, entry)) continue
    collection.entries.add(entry)
    collection.before.add(entry.cid)
    neighbours.add(entry.cid)
  }
}

class Judge {
  readonly fates = new Map<CidText, Fate>()
  readonly #ground: Ground
  readonly #collection: Collection
  readonly #trust: Trust
  readonly #parts: Parts
  /** Stored entries that fresh ones follow, and did not come again. */
  readonly #neighbours = new Set<CidText>()
  readonly #faults = new Map<CidText, Finding>()

  constructor(ground: Ground, arrivals: Arrivals, collection: Collection, trust: Trust) {
    this.#ground = ground
    this.#collection = collection
    this.#trust = trust
    this.#parts = new Parts(ground.db, arrivals, collection)
  }

  /** Notes an entry that came again. */
  know({ cid }: VerifiedEntry): void {
    this.fates.set(cid, there)
    this.#collection.before.add(cid)
  }

  /** Notes what is no entry, or one that nobody signed. */
  refuse(cid: CidText, { code, message: why }: Finding): void {
    this.fates.set(cid, { fate: code === 'HS1005' ? 'newer' : 'refused', code, why })
  }

  /** Reads what the entries rest on, and judges them against it. */
  async prepare(fresh: readonly VerifiedEntry[]): Promise<void> {
    await readNeighbours(this.#ground, this.#collection, this.#neighbours, fresh)
    for (const entry of fresh) await this.#parts.read(entry)
    const touched = new Set(errorsIn(this.#collection, this.#trust).map(({ cid }) => cid))
    if (touched.size === 0) return
    for (const entry of fresh) {
      const { body, cid, source } = entry
      const isTouched = [cid, body, source].some((one) => one !== undefined && touched.has(one))
      const fault = isTouched ? this.#faultOf(entry) : undefined
      if (fault !== undefined) this.#faults.set(cid, fault)
    }
  }

  /** @param roots - Who may speak in the roster stream. */
  decide(entry: VerifiedEntry, roots: ReadonlySet<string>): void {
    this.fates.set(entry.cid, this.#fateOf(entry, roots))
  }

  #fateOf(entry: VerifiedEntry, roots: ReadonlySet<string>): Fate {
    const { code, standing, why } = this.#trust.standingOf(entry)
    if (code === 'HS2006') return { fate: 'refused', code, why: `${why}, ${entry.store}` }
    const isOtherRoster = entry.kind === 'roster' && !roots.has(entry.signer)
    if (isOtherRoster) return { fate: 'parked', code: 'HS2003', why: 'its signer is no root' }
    if (standing === 'rejected' || standing === 'unknown') return { fate: 'parked', code, why }
    const link = this.#linkFate(entry)
    if (link !== undefined) return link
    const needs = this.#parts.missing(entry)
    if (needs.length > 0) {
      return { fate: 'incomplete', needs, why: `block ${needs[0]} did not come` }
    }
    if (this.#parts.isListless(entry))
      return { fate: 'refused', code: 'HS4003', why: 'its list of artifacts is none' }
    const fault = this.#faults.get(entry.cid)
    if (fault === undefined) return stored
    const fate = fault.code === 'HS2007' ? 'parked' : 'refused'
    return { fate, code: fault.code, why: fault.message }
  }

  /** What becomes of an entry because of those that it follows. */
  #linkFate(entry: VerifiedEntry): Fate | undefined {
    const needs = new Set<CidText>()
    for (const link of new Set([...entry.parents, ...entry.prev])) {
      const found = this.fates.get(link)
      if (found === undefined) {
        if (!this.#neighbours.has(link)) needs.add(link)
      } else if (found.fate === 'incomplete') addSome(needs, found.needs)
      else if (found.fate !== 'stored' && found.fate !== 'there')
        return { ...found, why: `it follows ${link}: ${found.why}` }
    }
    const [first] = needs
    if (first === undefined) return undefined
    const why = `it rests on ${first}, which did not come`
    return { fate: 'incomplete', needs: [...needs], why }
  }

  /** The fault of one entry: a body or a file that two entries name may be right for one of them only. */
  #faultOf(entry: VerifiedEntry): Finding | undefined {
    const links = [...entry.parents, ...entry.prev]
    const linked = links.flatMap((cid) => this.#collection.entries.get(cid) ?? [])
    const { lists, artifacts, sources, damage, counts } = this.#collection
    const facts = this.#parts.factsOf(entry)
    const graph: LoadedGraph = {
      entries: new Map([...linked, entry].map((one) => [one.cid, one])),
      before: new Set(linked.map(({ cid }) => cid)),
      bodies: new Map(facts === undefined ? [] : [[entry.body, facts]]),
      lists,
      artifacts,
      sources,
      damage,
      counts,
    }
    return errorsIn(graph, this.#trust)[0]
  }
}

/** Of what all ancestors lack, a few are enough to say that something is lacking. */
function addSome(needs: Set<CidText>, more: readonly CidText[]): void {
  for (const cid of more) {
    if (needs.size >= someNeeds) return
    needs.add(cid)
  }
}

const someNeeds = 8

function errorsIn(graph: LoadedGraph, trust: Trust): Finding[] {
  return judgeEntries(graph, trust).filter(({ severity }) => severity === 'error')
}
