import type { CanonicalValue } from '../../store/canonical-value.ts'
import { encodeValue } from '../../store/canonical-value.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { copyBytes } from '../kernel/bytes.ts'
import { SerialQueue } from '../kernel/serial-queue.ts'
import { resolveEntry } from '../graph/ref.ts'
import type { Signer } from '../keyring.ts'
import { openSourceBundle } from '../source-bundle.ts'
import type { BegunPut, PutOptions, PutResult } from './put.ts'
import { beginPut, beginPutNow } from './put.ts'
import type { PutInput, PutItem } from './put-all.ts'
import { putAll } from './put-all.ts'
import { findCanonical } from './read-input.ts'

/** Who puts, and where: found once for all puts. */
export interface Putter {
  readonly agent: string
  readonly signer: Signer
  readonly context: Context
}

/**
 * Takes puts one after the other, so that a document never overtakes the parent that was put before it; the waits for
 * the disk run side by side. What is canonical and names no local files goes through without a wait once the putter is
 * known.
 */
export class PutQueue {
  readonly #find: () => Promise<Putter>
  #putter: Putter | undefined
  readonly #queue = new SerialQueue()

  /** @param find - Unlocks the key and opens the store, in this order. */
  constructor(find: () => Promise<Putter>) {
    this.#find = find
  }

  /** Puts an envelope; throws what `beginPut` throws. */
  async put(input: Uint8Array | object, options: PutInput): Promise<PutResult> {
    const { written, result } = await this.#beginOf(input, options)
    await written
    return result
  }

  /** Puts envelopes as `putAll` does; throws what `beginPut` throws. */
  all(items: AsyncIterable<PutItem> | Iterable<PutItem>): AsyncGenerator<PutResult> {
    return putAll(async ({ input, options = {} }) => this.#beginOf(input, options), items)
  }

  /** Does something while no put is under way and none begins. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.run(work)
  }

  /** Resolves when no put is under way. */
  async settled(): Promise<void> {
    await this.#queue.settled()
  }

  /** Apart from the wait for the disk, through which the copy of the document would be held else. */
  #beginOf(input: Uint8Array | object, options: PutInput): BegunPut | Promise<BegunPut> {
    // read at once, since the caller may change its value or buffer while the put waits for its turn
    const given = input instanceof Uint8Array ? canonicalOf(copyBytes(input)) : encodeValue(input)
    return this.#putNow(given, options) ?? this.#putInTurn(given, options)
  }

  #putNow(given: Uint8Array | CanonicalValue, options: PutInput): BegunPut | undefined {
    if (this.#queue.size > 0 || this.#putter === undefined) return undefined
    if (options.parents !== undefined) return undefined
    if (given instanceof Uint8Array) return undefined
    return beginPutNow(this.#putter.context, given, optionsOf(this.#putter, options, []))
  }

  #putInTurn(given: Uint8Array | CanonicalValue, options: PutInput): Promise<BegunPut> {
    return this.#queue.run(() => this.#begin(given, options))
  }

  async #begin(given: Uint8Array | CanonicalValue, options: PutInput): Promise<BegunPut> {
    const bundle = await openSourceBundle(options.bundle)
    this.#putter ??= await this.#find()
    const { context } = this.#putter
    const parents: CidText[] = []
    for (const ref of options.parents ?? []) parents.push((await resolveEntry(context, ref)).cid)
    return beginPut(context, given, bundle, optionsOf(this.#putter, options, parents))
  }
}

/** A canonical file is a value at once. */
function canonicalOf(bytes: Uint8Array): Uint8Array | CanonicalValue {
  return findCanonical(bytes) ?? bytes
}

function optionsOf(
  { agent, signer }: Putter,
  { shallow }: PutInput,
  parents: readonly CidText[],
): PutOptions {
  const names = shallow === true ? 'absent' : shallow === false ? [] : (shallow ?? [])
  return { agent, signer, parents, shallow: names }
}
