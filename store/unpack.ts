import type { InflateRaw } from 'node:zlib'
import { createInflateRaw } from 'node:zlib'
import { ByteSource } from './byte-source.ts'
import { StoreError } from './errors.ts'
import type { StoredEnd } from './stored-blocks.ts'
import { readStored } from './stored-blocks.ts'

const stepBytes = 128 * 1024

/** Bounds for a message, in bytes: as it comes, and without its compression. */
export interface WireLimits {
  readonly packedBytes: number
  readonly sizeBytes: number
}

/**
 * Yields what raw deflate has packed, as it comes: where the source is cut or fails, all that came before is yielded
 * first.
 *
 * @throws {StoreError} `HSTORE_CAR_INVALID` past a limit, or for bytes that are no deflate stream, or more or less than one.
 */
export async function* unpack(
  packed: AsyncIterable<Uint8Array>,
  { packedBytes, sizeBytes }: WireLimits,
): AsyncGenerator<Uint8Array> {
  const source = new ByteSource(bounded(packed, packedBytes))
  try {
    const stored = readStored(source)
    let left = sizeBytes
    for (;;) {
      const { done, value } = await stored.next()
      if (done === true) return yield* endOf(value, source, left, sizeBytes)
      left -= value.length
      if (left < 0) throw tooLarge(sizeBytes)
      yield value
    }
  } finally {
    await source.close()
  }
}

/** Yields what zlib makes of the rest, where there is any. */
async function* endOf(
  stored: StoredEnd,
  source: ByteSource,
  left: number,
  sizeBytes: number,
): AsyncGenerator<Uint8Array> {
  if (stored.end === 'packed') yield* inflate(source.takeAll(), stored.window, left, sizeBytes)
  else if (stored.end === 'broken') throw cutOff()
  else if ((await source.peekByte()) !== undefined) throw refused('it has more behind its end')
}

async function* bounded(
  packed: AsyncIterable<Uint8Array>,
  packedBytes: number,
): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of packed) {
    size += chunk.length
    if (size > packedBytes) throw refused(`it has more than ${packedBytes} bytes`)
    yield chunk
  }
}

async function* inflate(
  packed: AsyncIterable<Uint8Array>,
  window: Uint8Array,
  left: number,
  sizeBytes: number,
): AsyncGenerator<Uint8Array> {
  const inflater = new Inflater(window, left, sizeBytes)
  try {
    for await (const chunk of gathered(packed)) if (chunk.length > 0) yield* inflater.next(chunk)
    yield* inflater.end()
  } finally {
    inflater.close()
  }
}

/** Each step is a way to another thread and back: much that comes in small pieces is taken in larger ones. */
async function* gathered(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  let cameBytes = 0
  try {
    for await (const chunk of chunks) {
      parts.push(chunk)
      size += chunk.length
      cameBytes += chunk.length
      if (size < stepBytes && cameBytes > stepBytes) continue
      yield Buffer.concat(parts.splice(0))
      size = 0
    }
  } catch (error) {
    // what came before a cut counts
    if (parts.length > 0) yield Buffer.concat(parts)
    throw error
  }
  if (parts.length > 0) yield Buffer.concat(parts)
}

/**
 * A pipeline would drop what is unpacked and not read yet when its source fails; this unpacks chunk by chunk, and no
 * further than it is read: a small chunk can become a thousand times as much.
 */
class Inflater {
  readonly #inflate: InflateRaw
  readonly #limitBytes: number
  #leftBytes: number
  #inBytes = 0
  #wake: () => void = () => undefined
  #isTaken = true
  #fault: StoreError | undefined

  /**
   * @param window - What came before.
   * @param leftBytes - How many bytes may come of `limitBytes` in all.
   */
  constructor(window: Uint8Array, leftBytes: number, limitBytes: number) {
    const dictionary = window.length === 0 ? {} : { dictionary: window }
    this.#inflate = createInflateRaw({ chunkSize: stepBytes, ...dictionary })
    this.#leftBytes = leftBytes
    this.#limitBytes = limitBytes
    this.#inflate.on('readable', () => this.#wake())
    this.#inflate.on('error', (error) => this.#take(error))
  }

  async *next(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
    this.#inBytes += chunk.length
    yield* this.#unpacked((taken) => this.#inflate.write(chunk, taken))
    if (this.#inflate.bytesWritten < this.#inBytes) throw refused('it has more behind its end')
  }

  async *end(): AsyncGenerator<Uint8Array> {
    // what is amiss with the end shows after it is written
    yield* this.#unpacked((taken) => this.#inflate.once('end', taken).end())
  }

  close(): void {
    this.#inflate.destroy()
  }

  /** Yields what one step makes: what came before a fault goes first. */
  async *#unpacked(
    step: (taken: (error?: Error | null) => void) => void,
  ): AsyncGenerator<Uint8Array> {
    this.#isTaken = false
    step((error) => this.#take(error))
    for (;;) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      const chunk = this.#inflate.read() as Uint8Array | null
      if (chunk !== null) yield this.#counted(chunk)
      else if (this.#isTaken) break
      else await woken
    }
    if (this.#fault !== undefined) throw this.#fault
  }

  #counted(chunk: Uint8Array): Uint8Array {
    this.#leftBytes -= chunk.length
    if (this.#leftBytes < 0) throw tooLarge(this.#limitBytes)
    return chunk
  }

  #take(error?: Error | null): void {
    this.#isTaken = true
    if (error !== undefined && error !== null) this.#fault ??= cutOff(error)
    this.#wake()
  }
}

function cutOff(cause?: unknown): StoreError {
  return refused('it is no deflate stream, or cut', cause)
}

function tooLarge(limitBytes: number): StoreError {
  return refused(`it unpacks to more than ${limitBytes} bytes`)
}

function refused(what: string, cause?: unknown): StoreError {
  return new StoreError('HSTORE_CAR_INVALID', `message refused: ${what}`, { cause })
}
