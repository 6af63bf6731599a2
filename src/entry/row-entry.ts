import type { Did } from '../../keys/did-key.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Entry } from './entry.ts'
import type { EntryRows } from './entry-rows.ts'

/** One row as an entry: each field is read when it is asked for, what judges ask for most only once. */
export class RowEntry implements Entry {
  readonly #rows: EntryRows
  readonly #row: number
  #body: CidText | undefined
  #cid: CidText | undefined
  #parents: readonly CidText[] | undefined
  #prev: readonly CidText[] | undefined

  constructor(rows: EntryRows, row: number) {
    this.#rows = rows
    this.#row = row
  }

  /** Returns whether it is the one in a row. */
  isOf(row: number): boolean {
    return this.#row === row
  }

  get artifacts(): CidText | undefined {
    return this.#rows.moreOf(this.#row).artifacts
  }

  get author(): string {
    return this.#rows.authorOf(this.#row)
  }

  get body(): CidText {
    return (this.#body ??= this.#rows.bodyOf(this.#row))
  }

  get cid(): CidText {
    return (this.#cid ??= this.#rows.cidOf(this.#row))
  }

  get kind(): string {
    return this.#rows.kindOf(this.#row)
  }

  get name(): string | undefined {
    return this.#rows.nameOf(this.#row)
  }

  get parents(): readonly CidText[] {
    return (this.#parents ??= this.#rows.parentsOf(this.#row))
  }

  get prev(): readonly CidText[] {
    return (this.#prev ??= this.#rows.prevOf(this.#row))
  }

  get refs(): readonly CidText[] {
    return this.#rows.refsOf(this.#row)
  }

  get roster(): CidText {
    return this.#rows.rosterOf(this.#row)
  }

  get seq(): number {
    return this.#rows.seqOf(this.#row)
  }

  get shallow(): readonly string[] {
    return this.#rows.moreOf(this.#row).shallow
  }

  get signer(): Did {
    return this.#rows.signerOf(this.#row)
  }

  get source(): CidText | undefined {
    return this.#rows.moreOf(this.#row).source
  }

  get store(): CidText {
    return this.#rows.storeOf(this.#row)
  }

  get stream(): string {
    return this.#rows.streamOf(this.#row)
  }

  get witness(): boolean {
    return this.#rows.isWitness(this.#row)
  }
}
