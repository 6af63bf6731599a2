import type { Did } from '../../keys/did-key.ts'
import type { CidTable } from '../../store/cid-table.ts'
import type { CidText } from '../../store/cid-text.ts'
import { Numbers } from '../kernel/numbers.ts'
import type { PackedReader } from '../kernel/packed-bytes.ts'
import { PackedBytes } from '../kernel/packed-bytes.ts'
import { TextNumbers } from '../kernel/text-numbers.ts'
import type { Entry, VerifiedEntry } from './entry.ts'

/** What a row holds, one number each. */
const cidAt = 0
const bodyAt = 1
const kindAt = 2
const authorAt = 3
const signerAt = 4
const streamAt = 5
const storeAt = 6
const rosterAt = 7
const restAt = 8
const wordsEach = 9

/** Beside the kind: whether what most entries lack is there. */
const isWitness = 1
const isNamed = 2
const hasRefs = 4
const hasMore = 8
const isChained = 16
const flagBits = 5

const none: readonly never[] = []

/** The fields of entries as rows of numbers and packed bytes, outside of the heap. */
export class EntryRows {
  readonly #cids: CidTable
  readonly #words = new Numbers()
  // the one number of an entry that may be larger than a word
  #seqs = new Float64Array(64)
  readonly #rest = new PackedBytes()
  readonly #texts = new TextNumbers()
  #size = 0

  /** @param cids - Where CIDs have their numbers. */
  constructor(cids: CidTable) {
    this.#cids = cids
  }

  /** How many rows there are. */
  get size(): number {
    return this.#size
  }

  /** Adds a row that holds an entry. */
  add(entry: VerifiedEntry): void {
    const row = this.#size++
    this.#setSeq(row, entry.seq)
    const words = this.#words
    words.push(this.#cids.add(entry.cid))
    words.push(this.#cids.add(entry.body))
    words.push((this.#texts.add(entry.kind) << flagBits) | flagsOf(entry))
    for (const text of [entry.author, entry.signer, entry.stream, entry.store, entry.roster])
      words.push(this.#texts.add(text))
    words.push(this.#writeRest(entry))
  }

  /** Returns the entry in a row, as an object of its own. */
  entryAt(row: number): VerifiedEntry {
    const reader = this.#restOf(row)
    const name = this.#has(row, isNamed) ? reader.readName() : undefined
    const parents = this.#readLinks(reader)
    const prev = this.#has(row, isChained) ? parents : this.#readLinks(reader)
    const refs = this.#has(row, hasRefs) ? this.#readLinks(reader) : none
    const { shallow, artifacts, source } = this.#has(row, hasMore) ? this.#readMore(reader) : noMore
    const entry: Entry = {
      artifacts,
      author: this.authorOf(row),
      body: this.bodyOf(row),
      cid: this.cidOf(row),
      kind: this.kindOf(row),
      name,
      parents,
      prev,
      refs,
      roster: this.rosterOf(row),
      seq: this.seqOf(row),
      shallow,
      signer: this.signerOf(row),
      source,
      store: this.storeOf(row),
      stream: this.streamOf(row),
      witness: this.isWitness(row),
    }
    // nothing is added that was not verified
    return entry as VerifiedEntry
  }

  /** Returns the CID of the entry in a row. */
  cidOf(row: number): CidText {
    return this.#cids.at(this.#word(row, cidAt))
  }

  /** Returns the CID of the body that the entry in a row names. */
  bodyOf(row: number): CidText {
    return this.#cids.at(this.#word(row, bodyAt))
  }

  /** Returns the kind of the entry in a row. */
  kindOf(row: number): string {
    return this.#texts.at(this.#word(row, kindAt) >>> flagBits)
  }

  /** Returns the author of the entry in a row. */
  authorOf(row: number): string {
    return this.#textOf(row, authorAt)
  }

  /** Returns the signer of the entry in a row. */
  signerOf(row: number): Did {
    return this.#textOf(row, signerAt) as Did
  }

  /** Returns the stream of the entry in a row. */
  streamOf(row: number): string {
    return this.#textOf(row, streamAt)
  }

  /** Returns the store that the entry in a row names. */
  storeOf(row: number): CidText {
    return this.#textOf(row, storeAt) as CidText
  }

  /** Returns the roster that the entry in a row names. */
  rosterOf(row: number): CidText {
    return this.#textOf(row, rosterAt) as CidText
  }

  /** Returns the place of the entry in a row in its signer's chain. */
  seqOf(row: number): number {
    return this.#seqs[row]!
  }

  /** Returns whether the entry in a row is a witness's. */
  isWitness(row: number): boolean {
    return this.#has(row, isWitness)
  }

  /** Returns what the entry in a row is called. */
  nameOf(row: number): string | undefined {
    return this.#has(row, isNamed) ? this.#restOf(row).readName() : undefined
  }

  /** Returns the parents of the entry in a row. */
  parentsOf(row: number): readonly CidText[] {
    return this.#readLinks(this.#behindName(row))
  }

  /** Returns what the entry in a row follows in its signer's chain. */
  prevOf(row: number): readonly CidText[] {
    const reader = this.#behindName(row)
    const parents = this.#readLinks(reader)
    return this.#has(row, isChained) ? parents : this.#readLinks(reader)
  }

  /** Returns what the entry in a row rests on. */
  refsOf(row: number): readonly CidText[] {
    return this.#has(row, hasRefs) ? this.#readLinks(this.#behindLinks(row)) : none
  }

  /** Returns what most entries do not have. */
  moreOf(row: number): More {
    if (!this.#has(row, hasMore)) return noMore
    const reader = this.#behindLinks(row)
    if (this.#has(row, hasRefs)) this.#readLinks(reader)
    return this.#readMore(reader)
  }

  #word(row: number, at: number): number {
    return this.#words.at(row * wordsEach + at)
  }

  #textOf(row: number, at: number): string {
    return this.#texts.at(this.#word(row, at))
  }

  #has(row: number, flag: number): boolean {
    return (this.#word(row, kindAt) & flag) !== 0
  }

  #setSeq(row: number, seq: number): void {
    if (row === this.#seqs.length) {
      const seqs = new Float64Array(2 * row)
      seqs.set(this.#seqs)
      this.#seqs = seqs
    }
    this.#seqs[row] = seq
  }

  #writeRest(entry: Entry): number {
    const { artifacts, name, parents, prev, refs, shallow, source } = entry
    const flags = flagsOf(entry)
    const rest = this.#rest
    if (name !== undefined) rest.writeName(name)
    this.#writeLinks(parents)
    if ((flags & isChained) === 0) this.#writeLinks(prev)
    if ((flags & hasRefs) !== 0) this.#writeLinks(refs)
    if ((flags & hasMore) === 0) return rest.end()
    rest.writeNumber(shallow.length)
    for (const one of shallow) rest.writeName(one)
    this.#writeLinks(artifacts === undefined ? none : [artifacts])
    this.#writeLinks(source === undefined ? none : [source])
    return rest.end()
  }

  #writeLinks(links: readonly CidText[]): void {
    this.#rest.writeNumber(links.length)
    for (const link of links) this.#rest.writeNumber(this.#cids.add(link))
  }

  #readLinks(reader: PackedReader): readonly CidText[] {
    const length = reader.readNumber()
    return length === 0 ? none : Array.from({ length }, () => this.#cids.at(reader.readNumber()))
  }

  #readMore(reader: PackedReader): More {
    const shallow = Array.from({ length: reader.readNumber() }, () => reader.readName())
    const [artifacts] = this.#readLinks(reader)
    const [source] = this.#readLinks(reader)
    return { shallow, artifacts, source }
  }

  #restOf(row: number): PackedReader {
    return this.#rest.reader(this.#word(row, restAt))
  }

  #behindName(row: number): PackedReader {
    const reader = this.#restOf(row)
    if (this.#has(row, isNamed)) reader.skipName()
    return reader
  }

  #behindLinks(row: number): PackedReader {
    const reader = this.#behindName(row)
    const lists = this.#has(row, isChained) ? 1 : 2
    for (let list = 0; list < lists; list++)
      for (let left = reader.readNumber(); left > 0; left--) reader.readNumber()
    return reader
  }
}

type More = Pick<Entry, 'artifacts' | 'shallow' | 'source'>

const noMore: More = { artifacts: undefined, shallow: none, source: undefined }

function flagsOf(entry: Entry): number {
  const { artifacts, name, parents, prev, refs, shallow, source, witness } = entry
  const isMore = shallow.length > 0 || artifacts !== undefined || source !== undefined
  const isSame = parents.length === prev.length && parents.every((cid, i) => cid === prev[i])
  return (
    (witness ? isWitness : 0) |
    (name === undefined ? 0 : isNamed) |
    (refs.length > 0 ? hasRefs : 0) |
    (isMore ? hasMore : 0) |
    (isSame ? isChained : 0)
  )
}
