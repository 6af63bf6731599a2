import { decodeForm } from '../../store/canonical.ts'
import type { JsonForm } from '../../store/canonical.ts'
import { CidTable } from '../../store/cid-table.ts'
import type { CidText } from '../../store/cid-text.ts'
import { entryOfForm } from '../entry/decode.ts'
import type { Entry, VerifiedEntry } from '../entry/entry.ts'
import { EntryTable } from '../entry/entry-table.ts'
import { asVerified, findVerifiedInBackground } from '../entry/verify.ts'
import { HstoreError } from '../kernel/errors.ts'
import type { KnownRecords, noRecords } from '../attribution/records.ts'
import { findRelayNote } from '../contracts/turns/relay-body.ts'
import { factsOfTurn } from '../contracts/turns/turn-facts.ts'
import { findTurn } from '../contracts/turns/turn-body.ts'
import { isLaneKind } from '../lanes/bodies.ts'
import { finding } from '../rules/hstore-rules.ts'
import type { Finding } from '../rules/rule.ts'
import { findCut, findFreeze } from '../trust/cut.ts'
import { cutsOf } from '../trust/roster.ts'
import { BodyTable } from './body-table.ts'
import type { Certificate } from './certificate.ts'
import { findCertificate } from './certificate.ts'
import { findArtifacts, findEnvelopeFacts, findNormalised, rosterOrFault } from './body.ts'
import { LinkLists } from './link-lists.ts'
import type { ArtifactState, BodyFacts, CertificateFacts, Counts, LoadedGraph } from './loaded.ts'

/** An entry whose signature is being checked. */
interface Pending {
  readonly entry: Entry
  readonly verified: Promise<VerifiedEntry | undefined>
}

/** Gathers blocks as they are read, each judged by itself; the walk and the scan both fill one. */
export class Collection implements LoadedGraph {
  /** The numbers of CIDs in the tables. */
  readonly cids: CidTable = new CidTable()
  readonly entries: EntryTable = new EntryTable(this.cids)
  readonly bodies: BodyTable = new BodyTable(this.cids)
  readonly lists: LinkLists = new LinkLists(this.cids)
  readonly artifacts: Map<CidText, ArtifactState> = new Map()
  readonly sources: Map<CidText, CidText | undefined> = new Map()
  readonly before: Set<CidText> = new Set()
  readonly damage: Finding[] = []
  readonly #pending: Pending[] = []
  readonly counts: Counts = { entries: 0, blocks: 0, signatures: 0, artifacts: 0 }

  /**
   * Takes in an entry's block; `isMarked` says that its signature was checked before, else it is checked meanwhile and
   * the entry joins `entries` when it stands. Returns what the block states, on which nothing but reading may rest.
   */
  addEntry(
    cid: CidText,
    bytes: Uint8Array,
    isMarked: (cid: CidText) => boolean,
  ): Entry | undefined {
    const form = this.#decode(cid, bytes)
    return form === undefined ? undefined : this.addEntryForm(cid, bytes, form, isMarked)
  }

  /** Takes in a decoded entry. */
  addEntryForm(
    cid: CidText,
    bytes: Uint8Array,
    form: { [key: string]: JsonForm },
    isMarked: (cid: CidText) => boolean,
  ): Entry | undefined {
    const entry = this.#try(cid, 'HS1004', () => entryOfForm(cid, bytes, form))
    if (entry === undefined) return undefined
    const marked = isMarked(cid)
    if (entry.kind !== 'roster') {
      this.counts.entries += 1
      this.counts.signatures += marked ? 0 : 1
    }
    if (marked) this.entries.add(asVerified(entry))
    else this.#pending.push({ entry, verified: findVerifiedInBackground(entry) })
    return entry
  }

  /** Waits until at most `most` signatures are still being checked, those begun first, and takes them in that order. */
  async settle(most: number): Promise<void> {
    if (most === 0) this.bodies.records.end()
    const begun = this.#pending.splice(0, Math.max(0, this.#pending.length - most))
    for (const { entry, verified } of begun) {
      const found = await verified
      if (found !== undefined) this.entries.add(found)
      else {
        const message = `the signature of ${entry.signer} does not stand`
        this.damage.push(finding('HS2001', message, { cid: entry.cid }))
      }
    }
  }

  /** Takes in a body that an entry of `kind` names. */
  addBody(cid: CidText, bytes: Uint8Array, kind: string): void {
    const form = this.#decode(cid, bytes)
    if (form !== undefined) this.bodies.set(cid, factsOf(form, kind, this.bodies.records))
  }

  /** Takes in a cut; what it covers is the roster's business. */
  addCut(cid: CidText, bytes: Uint8Array): void {
    const form = this.#decode(cid, bytes)
    if (form !== undefined) this.bodies.set(cid, this.guessFacts(form))
  }

  /** Takes in a list of artifacts. */
  addList(cid: CidText, bytes: Uint8Array): readonly CidText[] {
    const form = this.#decode(cid, bytes)
    if (form === undefined) return []
    const artifacts = findArtifacts(form)
    if (artifacts !== undefined) this.lists.set(cid, artifacts)
    else this.damage.push(finding('HS4003', 'is no sorted list of artifacts', { cid }))
    return artifacts ?? []
  }

  /** Takes in a file as given. */
  addSource(cid: CidText, bytes: Uint8Array): void {
    this.sources.set(cid, findNormalised(bytes))
  }

  /** Notes a block that is not there or whose bytes are not its own. */
  addDamage(cid: CidText, state: 'missing' | 'corrupt', what: string): void {
    this.damage.push(
      state === 'missing'
        ? finding('HS1001', `${what} is not in the store`, { cid })
        : finding('HS1002', `the bytes of ${what} do not hash to its CID`, { cid }),
    )
  }

  /** Notes how an artifact was found, and what entry names it. */
  addArtifact(cid: CidText, state: ArtifactState, owner?: CidText): void {
    this.artifacts.set(cid, state)
    this.counts.artifacts += 1
    const of = owner === undefined ? '' : ` of entry ${owner}`
    if (state === 'missing')
      this.damage.push(finding('HS5001', `the artifact${of} is not in the store`, { cid }))
    if (state === 'corrupt') {
      const message = `the bytes of the artifact${of} do not hash to its CID`
      this.damage.push(finding('HS5002', message, { cid }))
    }
  }

  /** Returns what a decoded body is by its own keys, where no entry is at hand to say. */
  guessFacts(form: { [key: string]: JsonForm }): BodyFacts {
    return guessFacts(form, this.bodies.records)
  }

  /** Returns a block's decoded form; notes the damage when it is not canonical. */
  #decode(cid: CidText, bytes: Uint8Array): { [key: string]: JsonForm } | undefined {
    return this.#try(cid, 'HS1003', () => decodeForm(bytes).form)
  }

  #try<T>(cid: CidText, code: string, read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof HstoreError)) throw error
      const newer = error.code === 'HSTORE_VERSION_NEWER'
      this.damage.push(finding(newer ? 'HS1005' : code, error.message, { cid }))
      return undefined
    }
  }
}

/** Returns what a decoded body is, read as an entry of `kind` wants it. */
export function factsOf(
  form: { [key: string]: JsonForm },
  kind: string,
  known?: KnownRecords | typeof noRecords,
): BodyFacts {
  if (kind === 'envelope') {
    const facts = findEnvelopeFacts(form, known)
    return facts === undefined
      ? { kind: 'other', fault: 'is no envelope' }
      : { kind: 'envelope', facts }
  }
  if (kind === 'roster') {
    const roster = rosterOrFault(form)
    return 'fault' in roster
      ? { kind: 'other', ...roster }
      : { kind: 'roster', version: roster.version, cuts: cutsOf(roster) }
  }
  if (kind === 'certificate') {
    const certificate = findCertificate(form)
    if (certificate === undefined) return { kind: 'other', fault: 'is no certificate' }
    return { kind: 'certificate', ...certificateFacts(certificate) }
  }
  if (kind === 'freeze') {
    const freeze = findFreeze(form)
    return freeze === undefined
      ? { kind: 'other', fault: 'is no freeze' }
      : { kind, key: freeze.key }
  }
  if (isLaneKind(kind)) return { kind: 'lane', form }
  return kind === 'turn' || kind === 'relay' ? relayFacts(form, kind) : { kind: 'other' }
}

function certificateFacts({ agent, heads, level }: Certificate): Omit<CertificateFacts, 'kind'> {
  return { agent, heads, level }
}

function relayFacts(form: { [key: string]: JsonForm }, kind: 'turn' | 'relay'): BodyFacts {
  if (kind === 'turn') {
    const turn = findTurn(form)
    if (turn === undefined) return { kind: 'other', fault: 'is no turn' }
    return { kind, facts: factsOfTurn(turn) }
  }
  const note = findRelayNote(form)
  return note === undefined
    ? { kind: 'other', fault: 'is no relay note' }
    : { kind, head: note.head }
}

function guessFacts(form: { [key: string]: JsonForm }, known: KnownRecords): BodyFacts {
  if (Object.hasOwn(form, 'envelope_version')) return factsOf(form, 'envelope', known)
  if (Object.hasOwn(form, 'roots')) return factsOf(form, 'roster')
  if (Object.hasOwn(form, 'verdict')) return factsOf(form, 'certificate')
  if (Object.hasOwn(form, 'folded')) return factsOf(form, 'turn')
  if (Object.hasOwn(form, 'living')) return factsOf(form, 'relay')
  if (Object.hasOwn(form, 'lane_id')) return { kind: 'lane', form }
  if (findCut(form) !== undefined) return { kind: 'cut' }
  if (Object.hasOwn(form, 'pins')) return factsOf(form, 'freeze')
  return { kind: 'other' }
}
