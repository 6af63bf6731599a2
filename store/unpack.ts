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

/** A pipeline would drop what is unpacked and not read yet when its source fails; this unpacks chunk by chunk. */
class Inflater {
  readonly #inflate: InflateRaw
  readonly #leftBytes: number
  readonly #limitBytes: number
  readonly #out: Uint8Array[] = []
  #inBytes = 0
  #outBytes = 0
  #settle: () => void = () => undefined
  #fault: StoreError | undefined
  #isOver = false

  /**
   * @param window - What came before.
   * @param leftBytes - How many bytes may come of `limitBytes` in all.
   */
  constructor(window: Uint8Array, leftBytes: number, limitBytes: number) {
    const dictionary = window.length === 0 ? {} : { dictionary: window }
    this.#inflate = createInflateRaw({ chunkSize: stepBytes, ...dictionary })
    this.#leftBytes = leftBytes
    this.#limitBytes = limitBytes
    this.#inflate.on('data', (chunk: Uint8Array) => this.#add(chunk))
    this.#inflate.on('end', () => this.#end())
    this.#inflate.on('error', (error) => this.#fail(cutOff(error)))
  }

  async *next(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
    this.#inBytes += chunk.length
    if (this.#isOver) this.#end()
    else await this.#settled(() => this.#inflate.write(chunk, this.#settle))
    yield* this.#taken()
  }

  async *end(): AsyncGenerator<Uint8Array> {
    if (!this.#isOver) await this.#settled(() => this.#inflate.end())
    yield* this.#taken()
  }

  close(): void {
    this.#inflate.destroy()
  }

  #settled(start: () => void): Promise<void> {
    return new Promise((resolve) => {
      this.#settle = resolve
      start()
    })
  }

  /** What came before a fault goes first. */
  *#taken(): Generator<Uint8Array> {
    yield* this.#out.splice(0)
    if (this.#fault !== undefined) throw this.#fault
  }

  #add(chunk: Uint8Array): void {
    this.#outBytes += chunk.length
    if (this.#outBytes <= this.#leftBytes) this.#out.push(chunk)
    else {
      this.#fail(tooLarge(this.#limitBytes))
      this.#inflate.destroy()
    }
  }

  #end(): void {
    this.#isOver = true
    if (this.#inflate.bytesWritten < this.#inBytes)
      this.#fail(refused('it has more behind its end'))
    this.#settle()
  }

  #fail(fault: StoreError): void {
    this.#isOver = true
    this.#fault ??= fault
    this.#settle()
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
