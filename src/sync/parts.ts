import type { JsonMap } from '../../store/canonical.ts'
import { decodeForm } from '../../store/canonical.ts'
import { checkArtifact } from '../../store/artifacts.ts'
import type { Block } from '../../store/block.ts'
import { CanonicalBlock } from '../../store/block.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Database } from '../../store/database.ts'
import { noRecords } from '../attribution/records.ts'
import { findArtifacts } from '../graph/body.ts'
import { decodeEntry } from '../entry/decode.ts'
import type { Entry, VerifiedEntry } from '../entry/entry.ts'
import type { Collection } from '../graph/collect.ts'
import { factsOf } from '../graph/collect.ts'
import type { BodyFacts } from '../graph/loaded.ts'
import { HstoreError } from '../kernel/errors.ts'
import type { Arrivals } from './arrivals.ts'
import { entriesOf } from '../trust/load.ts'
import { cutsOf } from './roster-right.ts'

/**
 * The blocks that entries need beside those that they follow: body, list, artifacts, file as given. Such a block counts
 * when its bytes came along, or when an entry of the same stream needs it already: who knows but the hash of another
 * stream's block does not get its bytes through an entry of his own.
 */
export class Parts {
  readonly #db: Database
  readonly #arrivals: Arrivals
  readonly #collection: Collection
  readonly #facts = new Map<string, BodyFacts>()
  readonly #listless = new Set<CidText>()
  readonly #missing = new Map<CidText, readonly CidText[]>()
  /** Blocks known to be in a stream, by stream. */
  readonly #inStream = new Map<string, Set<CidText>>()
  /** Streams that were looked at as a whole. */
  readonly #whole = new Set<string>()

  constructor(db: Database, arrivals: Arrivals, collection: Collection) {
    this.#db = db
    this.#arrivals = arrivals
    this.#collection = collection
  }

  /** Returns what did not come and is not in the entry's stream. */
  missing({ cid }: Entry): readonly CidText[] {
    return this.#missing.get(cid) ?? []
  }

  /** Returns whether what an entry names as its list is none. */
  isListless({ cid }: Entry): boolean {
    return this.#listless.has(cid)
  }

  /** Reads the parts of an entry, for the judges. */
  async read(entry: VerifiedEntry): Promise<void> {
    const missing: CidText[] = []
    const body = await this.#block(entry, entry.body)
    if (body === undefined || !this.#addFacts(entry, body)) missing.push(entry.body)
    else {
      if (entry.kind === 'roster') missing.push(...(await this.#absentCuts(body.bytes)))
    }
    if (entry.source !== undefined) {
      const source = await this.#block(entry, entry.source)
      if (source === undefined) missing.push(entry.source)
      else this.#collection.addSource(entry.source, source.bytes)
    }
    if (entry.artifacts !== undefined) {
      const list = await this.#block(entry, entry.artifacts)
      if (list === undefined) missing.push(entry.artifacts)
      else {
        for (const cid of this.#collection.addList(entry.artifacts, list.bytes))
          if (!(await this.#hasArtifact(entry, cid))) missing.push(cid)
        if (!this.#collection.lists.has(entry.artifacts)) this.#listless.add(entry.cid)
      }
    }
    if (missing.length > 0) this.#missing.set(entry.cid, missing)
  }

  /** Returns what the body of an entry is, read as its kind wants it: two kinds may have the same bytes. */
  factsOf({ body, kind }: Entry): BodyFacts | undefined {
    return this.#facts.get(`${kind} ${body}`)
  }

  /** Returns false for what is not canonical. */
  #addFacts({ body, kind }: Entry, block: Block): boolean {
    const key = `${kind} ${body}`
    if (this.#facts.has(key)) return true
    const form = formOf(block)
    if (form === undefined) return false
    const facts = factsOf(form, kind, noRecords)
    this.#facts.set(key, facts)
    if (!this.#collection.bodies.has(body)) this.#collection.bodies.set(body, facts)
    return true
  }

  async #block(entry: Entry, cid: CidText): Promise<Block | undefined> {
    const arrived = this.#arrivals.findBlock(cid)
    if (arrived !== undefined) return arrived
    if (!(await this.#isInStream(entry, cid))) return undefined
    const [read] = await this.#db.getMany([cid])
    return read?.state === 'ok' ? { cid, bytes: read.bytes } : undefined
  }

  async #hasArtifact(entry: Entry, cid: CidText): Promise<boolean> {
    if (this.#arrivals.has(cid)) return true
    if (!(await this.#isInStream(entry, cid))) return false
    return (await checkArtifact(this.#db, cid)) === 'ok'
  }

  /** A cut may have come with a version before; roots alone link them. */
  async #absentCuts(body: Uint8Array): Promise<CidText[]> {
    const absent: CidText[] = []
    for (const cid of cutsOf(body))
      if (!this.#arrivals.has(cid) && !(await this.#db.has(cid))) absent.push(cid)
    return absent
  }

  /**
   * Looks at the entries over the same body and at what the entries before this one need; where the store has the block
   * all the same, at the whole stream, once.
   */
  async #isInStream(entry: Entry, cid: CidText): Promise<boolean> {
    const known = this.#inStream.get(entry.stream) ?? new Set()
    this.#inStream.set(entry.stream, known)
    if (known.has(cid)) return true
    const carriers = (this.#db.readRow('bodies', entry.body) ?? []) as CidText[]
    await this.#learn(entry.stream, new Set([...carriers, ...entry.parents, ...entry.prev]))
    if (known.has(cid) || this.#whole.has(entry.stream)) return known.has(cid)
    if ((await checkArtifact(this.#db, cid)) !== 'ok') return false
    this.#whole.add(entry.stream)
    for await (const other of entriesOf(this.#db, entry.stream))
      await this.#learn(entry.stream, [other])
    return known.has(cid)
  }

  /** Notes what stored entries of a stream need. */
  async #learn(stream: string, cids: Iterable<CidText>): Promise<void> {
    const known = this.#inStream.get(stream)!
    for (const cid of cids) {
      const other = this.#collection.entries.get(cid) ?? (await this.#stored(cid))
      if (other?.stream !== stream || !this.#isStored(other)) continue
      for (const part of await this.#partsOf(other)) known.add(part)
    }
  }

  #isStored({ cid, body }: Entry): boolean {
    return this.#db.readRow('bodies', body)?.includes(cid) === true
  }

  async #stored(cid: CidText): Promise<Entry | undefined> {
    const [read] = await this.#db.getMany([cid])
    if (read?.state !== 'ok') return undefined
    try {
      return decodeEntry(cid, read.bytes)
    } catch (error) {
      if (error instanceof HstoreError) return undefined
      throw error
    }
  }

  async #partsOf({ artifacts, body, source }: Entry): Promise<CidText[]> {
    const parts = [body, source, artifacts].filter((part) => part !== undefined)
    if (artifacts === undefined) return parts
    const [read] = await this.#db.getMany([artifacts])
    return read?.state === 'ok'
      ? [...parts, ...listIn({ cid: artifacts, bytes: read.bytes })]
      : parts
  }
}

function listIn(block: Block): readonly CidText[] {
  const form = formOf(block)
  return form === undefined ? [] : (findArtifacts(form) ?? [])
}

/** Returns the form of a block, or undefined when it is not canonical. */
export function formOf(block: Block): JsonMap | undefined {
  if (block instanceof CanonicalBlock) return block.decode()
  try {
    return decodeForm(block.bytes).form
  } catch (error) {
    if (error instanceof HstoreError) return undefined
    throw error
  }
}
