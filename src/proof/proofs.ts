import type { Context } from '../context.ts'
import { HandoffError } from '../errors.ts'
import { assertArgument, assertBytes } from '../kernel/errors.ts'
import { quoted } from '../kernel/shown.ts'
import { proofsOf } from './find.ts'
import type { ProofReport } from './report.ts'
import { checkProof } from './report.ts'

/** Proofs that a name was given two meanings. */
export class Proofs {
  readonly #open: () => Promise<Context>

  /** @param open - Opens the store. */
  constructor(open: () => Promise<Context>) {
    this.#open = open
  }

  /** Returns what the store can prove against the name of an entry; throws what `proofsOf` throws. */
  async show(ref: string): Promise<readonly ProofReport[]> {
    assertArgument('ref', ref, 'string')
    return (await proofsOf(await this.#open(), ref)).map(({ report }) => report)
  }

  /**
   * Returns the file of the strongest proof against the name of an entry.
   *
   * @throws {HandoffError} `HSTORE_REF_NOT_FOUND` when there is none.
   */
  async export(ref: string): Promise<Uint8Array> {
    assertArgument('ref', ref, 'string')
    const [first] = await proofsOf(await this.#open(), ref)
    if (first !== undefined) return first.file
    throw new HandoffError(
      'HSTORE_REF_NOT_FOUND',
      `${quoted(ref)}: this store holds nothing that gives the name another meaning`,
    )
  }

  /** Checks a proof's file under this store's rosters; throws what `checkProof` throws. */
  async check(file: Uint8Array): Promise<ProofReport> {
    assertBytes('file', file)
    return checkProof(file, (await this.#open()).trust)
  }
}
