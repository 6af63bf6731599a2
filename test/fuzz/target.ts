import { HstoreError } from '../../src/kernel/errors.ts'
import { exitOf } from '../../src/cli/exit-codes.ts'
import { mutateBytes } from './mutate-bytes.ts'
import { mutateJson } from './mutate-json.ts'
import { mutateTree } from './mutate-tree.ts'
import type { Dice } from './dice.ts'

/** One door that bytes of others come through. */
export interface Target {
  readonly name: string
  /** How many thousand mutants it gets in a whole run. */
  readonly share: number
  readonly seeds: readonly Uint8Array[]
  readonly mutate: Mutator
  /**
   * Gives the bytes to hstore and returns in a word what it said: a code, or `accepted`.
   *
   * @throws Whatever is a fault: another exception, or what was accepted and does not come out as it went in.
   */
  readonly run: (bytes: Uint8Array) => Promise<string> | string
}

/** Returns a mutant of `seed`; `other` is another seed to take pieces from. */
export type Mutator = (seed: Uint8Array, dice: Dice, other: Uint8Array) => Uint8Array

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Returns the bytes of a text; a lone surrogate becomes U+FFFD. */
export function bytesOfText(text: string): Uint8Array {
  return encoder.encode(text)
}

/** Returns bytes as text; what is no UTF-8 becomes U+FFFD. */
export function textOfBytes(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

/** Changes JSON at its tokens mostly, at its bytes now and then. */
export const jsonMutator: Mutator = (seed, dice, other) =>
  dice.isBelow(25)
    ? mutateBytes(seed, dice, other, seed.length + 4096)
    : bytesOfText(mutateJson(textOfBytes(seed), dice))

/** Changes bytes only. */
export const byteMutator: Mutator = (seed, dice, other) => mutateBytes(seed, dice, other)

/**
 * Changes a JSON document's tree and spells it again with `spell`, so that mutants pass the codec; its tokens or bytes
 * now and then. Values come from `values` and from the document itself.
 */
export function treeMutator(
  spell: (tree: object) => Uint8Array,
  values: readonly unknown[],
): Mutator {
  return (seed, dice, other) => {
    const tree = dice.isBelow(25) ? undefined : findTree(seed)
    if (tree === undefined) return jsonMutator(seed, dice, other)
    for (let left = dice.pick([1, 1, 2, 4]); left > 0; left--) {
      mutateTree(tree, [dice.below(1e6), dice.below(1e6), dice.below(60)], values)
    }
    try {
      return spell(tree)
    } catch {
      return bytesOfText(JSON.stringify(tree))
    }
  }
}

function findTree(seed: Uint8Array): object | undefined {
  try {
    return JSON.parse(textOfBytes(seed)) as object
  } catch {
    return undefined
  }
}

/** Returns the code of what `run` refuses by, or `accepted`; what is no refusal of hstore's goes on as a fault. */
export function verdictOf(run: () => void): string {
  try {
    run()
    return 'accepted'
  } catch (error) {
    return codeOf(error)
  }
}

/** Returns the code of an error that hstore throws on purpose and docs/cli.md lists; throws all others on. */
export function codeOf(error: unknown): string {
  const isKnown = error instanceof HstoreError && exitOf(error.code) !== undefined
  if (!isKnown) throw error
  const { message, code } = error
  if (/[\p{Cc}\u2028\u2029]/u.test(message) || message.length > 10_000) {
    throw new Error(`a message that is no short line: ${JSON.stringify(message.slice(0, 200))}`)
  }
  const { reason } = error.details
  return typeof reason === 'string' ? `${code} ${reason}` : code
}

/** Throws unless both are the same bytes. */
export function expectSame(what: string, got: Uint8Array, wanted: Uint8Array): void {
  if (Buffer.compare(got, wanted) !== 0) throw new Error(`${what}: comes out otherwise`)
}

/** Throws unless `holds`. */
export function expectThat(what: string, holds: boolean): void {
  if (!holds) throw new Error(what)
}
