import { ByteSource } from './byte-source.ts'
import { StoreError } from './errors.ts'

/*
 * Messages over a pair of pipes: each a run of pieces, a length of four bytes before each, a length of zero at the end.
 */

const lengthBytes = 4
const maxPieceBytes = 1024 * 1024

/** Yields a message as pieces with their lengths. */
export async function* encodeFrames(
  message: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of message) {
    for (let at = 0; at < chunk.length; at += maxPieceBytes) {
      const piece = chunk.subarray(at, at + maxPieceBytes)
      yield lengthOf(piece.length)
      yield piece
    }
  }
  yield lengthOf(0)
}

function lengthOf(size: number): Uint8Array {
  const bytes = Buffer.alloc(lengthBytes)
  bytes.writeUInt32BE(size)
  return bytes
}

/** Reads messages one after the other from a pipe. */
export class FrameReader {
  readonly #source: ByteSource

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#source = new ByteSource(chunks)
  }

  /**
   * Returns the next message, to be read to its end before the one behind it; undefined where the pipe has ended.
   *
   * @throws {StoreError} `HSTORE_CAR_INVALID`, also while it is read, when a length is too large or the pipe ends in it.
   */
  async next(): Promise<AsyncIterable<Uint8Array> | undefined> {
    const head = await this.#source.take(lengthBytes)
    if (head.length === 0) return undefined
    return this.#pieces(head)
  }

  /** Lets the pipe go. */
  close(): Promise<void> {
    return this.#source.close()
  }

  async *#pieces(first: Uint8Array): AsyncGenerator<Uint8Array> {
    for (let head = first; ; head = await this.#source.take(lengthBytes)) {
      if (head.length < lengthBytes) throw refused('the pipe ended in a message')
      const size = Buffer.from(head).readUInt32BE()
      if (size === 0) return
      if (size > maxPieceBytes) throw refused(`a piece of ${size} bytes`)
      const piece = await this.#source.take(size)
      if (piece.length < size) throw refused('the pipe ended in a message')
      yield piece
    }
  }
}

function refused(what: string): StoreError {
  return new StoreError('HSTORE_CAR_INVALID', `message refused: ${what}`)
}
