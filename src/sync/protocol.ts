import { bytesForm, findBytes, findLink, linkForm } from '../../store/canonical.ts'
import type { JsonForm, JsonMap } from '../../store/canonical.ts'
import type { CidText, Codec } from '../../store/cid-text.ts'
import { cidTextOfDigest, digestOf } from '../../store/cid-text.ts'
import type { IncomingMessage, Message } from '../../store/wire.ts'
import { HandoffError } from '../errors.ts'
import { bounded } from '../kernel/shown.ts'

// One client asks, one server answers; each answer stands for itself: docs/sync.md, «The protocol», has every message.

/** Version of the protocol. */
export const protocolVersion = 1

/** Nodes that one `compare` asks for, at most. */
export const maxNodes = 1024

/** Entries that one `want` asks for, at most. */
export const maxWanted = 4096

/** Entries that one `order` sorts, at most: so many digests have room in a control block. */
export const maxOrdered = 40_000

/** About how many bytes of blocks an answer carries; a larger block goes alone. */
export const answerBytes: number = 4 * 1024 * 1024

/** Asks a remote and returns what it answers; ends with `HSTORE_REMOTE_FAILED` where it does not. */
export interface Transport extends AsyncDisposable {
  /** How the remote is called in messages. */
  readonly name: string
  /** Whether a question may be asked before the answer to the one before is read to its end. */
  readonly mayOverlap?: boolean
  /** About how many bytes of blocks a request is to carry now, so that a slow way is not cut with much under way. */
  readonly carryBytes?: number
  ask(request: Message): Promise<IncomingMessage>
}

/** Returns digests as one value: CIDs of dag-json blocks, 32 bytes each. */
export function packCids(cids: readonly CidText[]): JsonForm {
  return bytesForm(Buffer.concat(cids.map(digestOf)))
}

/** Reads the fields of a control block that somebody else wrote. */
export class Fields {
  readonly #form: JsonMap
  readonly #who: string

  /** @param who - Whom a fault is laid to. */
  constructor(form: JsonMap, who: string) {
    this.#form = form
    this.#who = who
  }

  get is(): string {
    return this.text('is')
  }

  text(key: string): string {
    const value = this.#own(key)
    return typeof value === 'string' && value.length <= 4096 ? value : this.fail(key)
  }

  optionalText(key: string): string | undefined {
    return Object.hasOwn(this.#form, key) ? this.text(key) : undefined
  }

  count(key: string): number {
    const value = this.#own(key)
    return typeof value === 'number' && value >= 0 ? value : this.fail(key)
  }

  optionalCount(key: string): number | undefined {
    return Object.hasOwn(this.#form, key) ? this.count(key) : undefined
  }

  flag(key: string): boolean {
    const value = this.#own(key)
    return typeof value === 'boolean' ? value : this.fail(key)
  }

  link(key: string): CidText {
    return findLink(this.#own(key)) ?? this.fail(key)
  }

  optionalLink(key: string): CidText | undefined {
    return Object.hasOwn(this.#form, key) ? this.link(key) : undefined
  }

  list(key: string, most: number): readonly JsonForm[] {
    const value = this.#own(key)
    return Array.isArray(value) && value.length <= most ? value : this.fail(key)
  }

  cids(key: string, most: number, codec: Codec): readonly CidText[] {
    return unpackCids(this.#own(key), most, codec) ?? this.fail(key)
  }

  /** Returns the rows of a list, each a list of its own read by `read`. */
  rows<T>(key: string, most: number, read: (row: Row) => T): readonly T[] {
    return this.list(key, most).map((row) => {
      if (!Array.isArray(row)) return this.fail(key)
      return read(new Row(row, () => this.fail(key)))
    })
  }

  fail(key: string): never {
    throw new HandoffError(
      'HSTORE_REMOTE_INVALID',
      `${this.#who} does not keep to the protocol: ${bounded(key)} is not what it should be`,
    )
  }

  #own(key: string): JsonForm | undefined {
    return Object.hasOwn(this.#form, key) ? this.#form[key] : undefined
  }
}

/** One row of a list. */
export class Row {
  readonly #row: readonly JsonForm[]
  readonly #fail: () => never

  constructor(row: readonly JsonForm[], fail: () => never) {
    this.#row = row
    this.#fail = fail
  }

  text(at: number): string {
    const value = this.#row[at]
    return typeof value === 'string' && value.length <= 4096 ? value : this.#fail()
  }

  count(at: number): number {
    const value = this.#row[at]
    return typeof value === 'number' && value >= 0 ? value : this.#fail()
  }

  link(at: number): CidText {
    return findLink(this.#row[at]) ?? this.#fail()
  }

  links(at: number, most: number): readonly CidText[] {
    const value = this.#row[at]
    if (!Array.isArray(value) || value.length > most) return this.#fail()
    return value.map((item) => findLink(item) ?? this.#fail())
  }

  cids(at: number, most: number): readonly CidText[] {
    return unpackCids(this.#row[at], most) ?? this.#fail()
  }
}

/** Returns the CIDs of dag-json blocks that a value packs, or undefined when it is none of at most `most`. */
export function unpackCids(
  form: JsonForm | undefined,
  most: number,
  codec: Codec = 'dag-json',
): readonly CidText[] | undefined {
  const bytes = findBytes(form)
  if (bytes === undefined || bytes.length % 32 !== 0 || bytes.length > most * 32) return undefined
  const cids: CidText[] = []
  for (let at = 0; at < bytes.length; at += 32)
    cids.push(cidTextOfDigest(bytes.subarray(at, at + 32), codec))
  return cids
}

/** Returns links as a value. */
export function linkForms(cids: readonly CidText[]): JsonForm[] {
  return cids.map(linkForm)
}
