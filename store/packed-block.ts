import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { asBytes } from '../src/kernel/bytes.ts'
import { MAX_BLOCK_BYTES } from './canonical-write.ts'
import type { CidText } from './cid-text.ts'
import { codecOf } from './cid-text.ts'
import { dictionary1 } from './dictionary-1.ts'
import { encodeVarint, readVarint } from './varint.ts'

/*
 * How a block lies in the database. A dag-json block may be packed: the number of its dictionary, its length as a varint,
 * then a raw deflate stream. Any other value is the block as it is: a dag-json block begins with `{`, and raw blocks are
 * never packed. It saves two thirds of the disk, and most of what a write of many blocks costs.
 */

const dictionary = 1
// what is smaller lies in one piece of a table with its like, which LevelDB compresses
const smallBytes = 1024
// so much more than a packed block takes its bytes may take: what a hostile row costs is bounded by its size
const maxRatio = 32
// level 3 takes the time of 1 and leaves a tenth less
const deflating = { level: 3, dictionary: dictionary1, chunkSize: 4096 }
// a third of the memory, which is made ready anew for each block: more would not see further back in a short one
const deflatingShort = { ...deflating, windowBits: 13, memLevel: 7 }
const shortBytes = 8 * 1024

/** What Node gives with `info`; its types do not know it. */
interface Inflated {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}

/** Returns the value to store for a block: packed where that saves a quarter or more, else its bytes. */
export function packBlock(cid: CidText, bytes: Uint8Array): Uint8Array {
  if (bytes.length < smallBytes || codecOf(cid) !== 'dag-json') return bytes
  const stream = deflateRawSync(bytes, bytes.length > shortBytes ? deflating : deflatingShort)
  if (stream.length > bytes.length * 0.75 || bytes.length > stream.length * maxRatio) return bytes
  const length = encodeVarint(bytes.length)
  const value = new Uint8Array(1 + length.length + stream.length)
  value[0] = dictionary
  value.set(length, 1)
  value.set(stream, 1 + length.length)
  return value
}

/**
 * Returns the bytes that a stored value stands for, or undefined when it is packed and damaged: cut, longer than it says,
 * with bytes behind its end, or of a dictionary that this version does not have. Whether they are the block's, only their
 * hash says.
 */
export function unpackBlock(cid: CidText, value: Uint8Array): Uint8Array | undefined {
  if (value[0] !== dictionary || codecOf(cid) !== 'dag-json') return asBytes(value)
  const length = readVarint(value, 1)
  if (typeof length === 'string') return undefined
  const stream = value.subarray(1 + length.size)
  const limit = Math.min(MAX_BLOCK_BYTES, stream.length * maxRatio)
  return length.value > limit ? undefined : inflate(stream, length.value)
}

function inflate(stream: Uint8Array, length: number): Uint8Array | undefined {
  // one byte more, so that the stream's end is seen without a second piece of memory
  const maxOutputLength = length + 1
  const chunkSize = Math.max(64, maxOutputLength)
  try {
    // written out: over an object that was spread this takes a quarter longer
    const options = { maxOutputLength, chunkSize, dictionary: dictionary1, info: true }
    const { buffer, engine } = inflateRawSync(stream, options) as unknown as Inflated
    const isWhole = buffer.length === length && engine.bytesWritten === stream.length
    return isWhole ? asBytes(buffer) : undefined
  } catch {
    return undefined
  }
}
