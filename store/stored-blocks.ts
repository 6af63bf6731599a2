import { asBytes } from '../src/kernel/bytes.ts'
import type { ByteSource } from './byte-source.ts'

/*
 * Raw deflate (RFC 1951) may hold blocks of bytes as they are (3.2.4). Large files that are packed already go in such
 * blocks, and are read without zlib, each chunk of which is a way to another thread and back.
 */

const headBytes = 5
/** With its head, as much as is sent at a time; a block may have 65,535 bytes. */
const mostStored = 64 * 1024 - headBytes
/** So far a block that is packed may look back. */
const windowBytes = 32 * 1024
const finalBit = 1
const typeBits = 6

/** Yields bytes as raw deflate that packs nothing. */
export function* storeBytes(chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  for (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += mostStored)
      yield block(0, chunk.subarray(at, at + mostStored))
  yield block(finalBit, new Uint8Array(0))
}

function block(first: number, bytes: Uint8Array): Uint8Array {
  const head = Buffer.alloc(headBytes)
  head[0] = first
  head.writeUInt16LE(bytes.length, 1)
  head.writeUInt16LE(bytes.length ^ 0xffff, 3)
  return asBytes(Buffer.concat([head, bytes]))
}

/** How the blocks that are stored ended: at one that is packed, with what it may look back to, at the last one, or not. */
export type StoredEnd =
  | { readonly end: 'packed'; readonly window: Uint8Array }
  | { readonly end: 'last' | 'broken' }

/** Yields what blocks hold up to the first one that is packed: there the source goes on. */
export async function* readStored(
  source: ByteSource,
): AsyncGenerator<Uint8Array, StoredEnd, undefined> {
  const window = new Window()
  for (;;) {
    const first = await source.peekByte()
    if (first !== undefined && (first & typeBits) !== 0)
      return { end: 'packed', window: window.bytes() }
    let left = await lengthOf(source)
    while (left !== undefined && left > 0) {
      const part = await source.takeSome(left)
      if (part === undefined) return { end: 'broken' }
      window.add(part)
      yield part
      left -= part.length
    }
    if (left === undefined) return { end: 'broken' }
    if ((first! & finalBit) !== 0) return { end: 'last' }
  }
}

/** Returns what the head of a block says twice. */
async function lengthOf(source: ByteSource): Promise<number | undefined> {
  const head = Buffer.from(await source.take(headBytes))
  if (head.length < headBytes) return undefined
  const length = head.readUInt16LE(1)
  return (head.readUInt16LE(3) ^ 0xffff) === length ? length : undefined
}

/** The bytes that came last. */
class Window {
  readonly #parts: Uint8Array[] = []
  #sizeBytes = 0

  add(part: Uint8Array): void {
    this.#parts.push(part)
    this.#sizeBytes += part.length
    while (this.#sizeBytes - this.#parts[0]!.length >= windowBytes)
      this.#sizeBytes -= this.#parts.shift()!.length
  }

  bytes(): Uint8Array {
    return asBytes(Buffer.concat(this.#parts).subarray(-windowBytes))
  }
}
