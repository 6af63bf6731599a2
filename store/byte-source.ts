import { asBytes } from '../src/kernel/bytes.ts'
import { ArgumentError } from '../src/kernel/errors.ts'

/** What bytes can be read from: one array, or chunks of any size. */
export type ByteChunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array> | Uint8Array

/** Reads chunks as one run of bytes, and holds no more than one chunk beyond what is asked for. */
export class ByteSource {
  private readonly iterator: AsyncIterator<Uint8Array> | Iterator<Uint8Array>
  private chunk: Uint8Array = new Uint8Array(0)
  private at = 0
  private read = 0

  constructor(chunks: ByteChunks) {
    this.iterator = iterate(chunks)
  }

  /** Bytes taken so far. */
  get offset(): number {
    return this.read
  }

  /** Returns the next byte, or undefined at the end. */
  async takeByte(): Promise<number | undefined> {
    if (this.at === this.chunk.length && !(await this.pull())) return undefined
    this.read += 1
    return this.chunk[this.at++]
  }

  /**
   * Returns a copy of the next bytes: fewer than `size` at the end.
   *
   * @param size - Checked by the caller against a limit; memory is taken as bytes arrive.
   */
  async take(size: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = []
    let missing = size
    while (missing > 0) {
      if (this.at === this.chunk.length && !(await this.pull())) break
      const part = this.chunk.subarray(this.at, this.at + missing)
      parts.push(part)
      this.at += part.length
      missing -= part.length
    }
    this.read += size - missing
    return asBytes(Buffer.concat(parts))
  }

  /** Returns the next byte, which stays the next one, or undefined at the end. */
  async peekByte(): Promise<number | undefined> {
    return this.at === this.chunk.length && !(await this.pull()) ? undefined : this.chunk[this.at]
  }

  /** Returns some of the next bytes, as they came, at most so many; undefined at the end. */
  async takeSome(most: number): Promise<Uint8Array | undefined> {
    if (this.at === this.chunk.length && !(await this.pull())) return undefined
    const part = this.chunk.subarray(this.at, this.at + most)
    this.at += part.length
    this.read += part.length
    return part
  }

  /** Yields all that is left, as it comes. */
  async *takeAll(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const part = await this.takeSome(Number.POSITIVE_INFINITY)
      if (part === undefined) return
      yield part
    }
  }

  /** Lets the source go, also when it was not read to its end. */
  async close(): Promise<void> {
    await this.iterator.return?.()
  }

  private async pull(): Promise<boolean> {
    for (;;) {
      const next = await this.iterator.next()
      if (next.done === true) return false
      const chunk: unknown = next.value
      if (!(chunk instanceof Uint8Array)) {
        throw new ArgumentError(`chunk: wanted a Uint8Array, got ${typeof chunk}`)
      }
      if (chunk.length > 0) {
        this.chunk = chunk
        this.at = 0
        return true
      }
    }
  }
}

function iterate(chunks: ByteChunks): AsyncIterator<Uint8Array> | Iterator<Uint8Array> {
  if (chunks instanceof Uint8Array) return [chunks].values()
  assertIterable('source', chunks)
  return Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]()
}

/** Throws `HSTORE_ARGUMENT_INVALID` for what can't be read one by one. */
export function assertIterable(name: string, value: unknown): void {
  const found = Object(value) as Partial<AsyncIterable<unknown> & Iterable<unknown>>
  const isIterable =
    typeof found[Symbol.asyncIterator] === 'function' ||
    typeof found[Symbol.iterator] === 'function'
  if (!isIterable || typeof value === 'string')
    throw new ArgumentError(`${name}: wanted an iterable, got ${typeof value}`)
}
