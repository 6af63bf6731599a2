import type { CidTable } from '../../store/cid-table.ts'
import type { CidText } from '../../store/cid-text.ts'
import { KnownRecords } from '../attribution/records.ts'
import { Numbers } from '../kernel/numbers.ts'
import type { PackedReader } from '../kernel/packed-bytes.ts'
import { PackedBytes } from '../kernel/packed-bytes.ts'
import type { EnvelopeFacts } from './body.ts'
import type { Bodies, BodyFacts } from './loaded.ts'

/** The place of a body of which nothing is known. */
const plain = 2 ** 32 - 1

/** Keeps what bodies say; of envelopes, the many, as packed bytes outside of the heap, and gives it anew each time. */
export class BodyTable implements Bodies {
  readonly #cids: CidTable
  /** The records of the envelopes. */
  readonly records: KnownRecords = new KnownRecords()
  /** By the number of a body's CID: 1 + where its facts lie, or `plain`; 0 for what is none. */
  readonly #places = new Numbers()
  readonly #bytes = new PackedBytes()
  /** What is not packed, by the number of the CID. */
  readonly #others = new Map<number, BodyFacts>()

  /** @param cids - Where CIDs have their numbers. */
  constructor(cids: CidTable) {
    this.#cids = cids
  }

  /** Keeps what a body says; an envelope's records are among those of this table. */
  set(cid: CidText, facts: BodyFacts): void {
    const number = this.#cids.add(cid)
    if (facts.kind === 'envelope') this.#places.set(number, 1 + this.#write(facts.facts))
    else if (facts.kind === 'other' && facts.fault === undefined) this.#places.set(number, plain)
    else this.#others.set(number, facts)
  }

  get(cid: CidText): BodyFacts | undefined {
    const number = this.#cids.find(cid)
    if (number === undefined) return undefined
    const place = this.#places.at(number)
    if (place === 0) return this.#others.get(number)
    if (place === plain) return { kind: 'other' }
    return { kind: 'envelope', facts: this.#read(this.#bytes.reader(place - 1)) }
  }

  has(cid: CidText): boolean {
    const number = this.#cids.find(cid)
    return number !== undefined && (this.#places.at(number) > 0 || this.#others.has(number))
  }

  /** Returns the bodies that are there, by the numbers of their CIDs. */
  *numbers(): Generator<number> {
    for (let number = 0; number < this.#places.size; number++)
      if (this.#places.at(number) > 0) yield number
    yield* this.#others.keys()
  }

  #write(facts: EnvelopeFacts): number {
    const bytes = this.#bytes
    bytes.writeName(facts.id, facts.id.length)
    bytes.writeName(facts.createdBy, facts.createdBy.length)
    bytes.writeName(facts.revision)
    for (const names of [facts.parents, facts.currentHeads]) {
      bytes.writeNumber(names.length)
      for (const name of names) bytes.writeName(name)
    }
    bytes.writeNumber(facts.records.place)
    return bytes.end()
  }

  #read(reader: PackedReader): EnvelopeFacts {
    const [id, createdBy, revision] = [reader.readName(), reader.readName(), reader.readName()]
    const names = (): string[] =>
      Array.from({ length: reader.readNumber() }, () => reader.readName())
    const [parents, currentHeads] = [names(), names()]
    const records = this.records.at(reader.readNumber())
    return { id, revision, createdBy, parents, currentHeads, records }
  }
}
