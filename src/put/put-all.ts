import type { BegunPut, PutResult } from './put.ts'

/** One envelope of several that are put in one go. */
export interface PutItem {
  /** The bytes of its file, or the document as a value. */
  readonly input: Uint8Array | object
  readonly options?: PutInput | undefined
}

/** How an envelope is put. */
export interface PutInput {
  /** The folder of the envelope's files; a document given as a value has none when absent. */
  readonly bundle?: string | undefined
  /** True: parents that the store does not hold stay names; or the very names. */
  readonly shallow?: boolean | readonly string[] | undefined
  /** REFs of parents to follow outright, children or not. */
  readonly parents?: readonly string[] | undefined
}

/** How many puts wait for the disk together, and of how many bytes. */
const most = 256
const mostBytes = 16 * 1024 * 1024

/**
 * Puts envelopes one after the other, and lets them wait for the disk together. Each result comes once it is on disk, in
 * the order given; the first that fails ends it, what was begun before is waited for, and nothing behind is begun.
 */
export async function* putAll(
  begin: (item: PutItem) => Promise<BegunPut>,
  items: AsyncIterable<PutItem> | Iterable<PutItem>,
): AsyncGenerator<PutResult> {
  const waiting = new Waiting()
  const source = iteratorOf(items)
  try {
    for (let next = nextOf(source); ; next = nextOf(source)) {
      while (waiting.size > 0 && (waiting.isFull || (await waiting.isWrittenBefore(next))))
        yield await waiting.first()
      const { done, value } = await next
      if (done === true) break
      waiting.add(value, await begin(value))
    }
  } catch (error) {
    while (waiting.size > 0) yield await waiting.first()
    throw error
  } finally {
    // not waited for: the source may itself wait for somebody
    Promise.resolve(source.return?.()).catch(() => undefined)
  }
  while (waiting.size > 0) yield await waiting.first()
}

type Source = AsyncIterator<PutItem> | Iterator<PutItem>

function iteratorOf(items: AsyncIterable<PutItem> | Iterable<PutItem>): Source {
  return Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]()
}

function nextOf(source: Source): Promise<IteratorResult<PutItem>> {
  const next = Promise.resolve().then(() => source.next())
  next.catch(() => undefined) // whoever awaits it is told
  return next
}

/** Puts that are begun and not given out yet, in their order. */
class Waiting {
  readonly #puts: (BegunPut & { readonly sizeBytes: number })[] = []
  #sizeBytes = 0

  get size(): number {
    return this.#puts.length
  }

  get isFull(): boolean {
    return this.size >= most || this.#sizeBytes > mostBytes
  }

  add({ input }: PutItem, put: BegunPut): void {
    put.written.catch(() => undefined) // whoever takes the result is told
    const given = input instanceof Uint8Array ? input.length : 0
    const sizeBytes = Math.max(given, put.result.bodyBytes)
    this.#puts.push({ ...put, sizeBytes })
    this.#sizeBytes += sizeBytes
  }

  /** Returns whether the first is on disk before something else has come: it is given out while that is waited for. */
  isWrittenBefore(other: Promise<unknown>): Promise<boolean> {
    return Promise.race([this.#puts[0]!.written.then(() => true), other.then(() => false)])
  }

  /** Returns the first result, once it is on disk. */
  async first(): Promise<PutResult> {
    const { written, result, sizeBytes } = this.#puts.shift()!
    this.#sizeBytes -= sizeBytes
    await written
    return result
  }
}
