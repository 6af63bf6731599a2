import { Budget } from './budget.ts'
import { crc32c, maskedCrc } from './crc32c.ts'
import type { FileRow } from './table-rows.ts'
import { uint32At } from './table-entries.ts'
import { readVarint } from './varint.ts'

/*
 * LevelDB reads no more of a block of its log (32 KiB) after a header that is damaged, and nothing of the batch that it
 * is in. Here the bytes after it count as a part of the batch all the same, so that what follows stands where it should:
 * up to the next header whose checksum fits, else to the end of the block. See level-log.ts for the form.
 */

const blockBytes = 32 * 1024
const headerBytes = 7
const whole = 1
const first = 2
const middle = 3
const last = 4
const batchHeaderBytes = 12
const firstUnits = 64 * 1024 * 1024
const unitsPerByte = 16

interface Piece {
  readonly type: number
  readonly end: number
  readonly sound: boolean
}

/**
 * Yields the rows that can be read out of a log of LevelDB, whatever is damaged in it, in the order in which they were
 * written. Deletions are left out, though not what they deleted. Never throws.
 *
 * @param bytes - Of the file; not to be changed while the rows are in use.
 * @see https://github.com/google/leveldb/blob/main/doc/log_format.md
 */
export function* readLogRows(bytes: Uint8Array): Generator<FileRow> {
  const budget = new Budget(firstUnits + unitsPerByte * bytes.length)
  let parts: Uint8Array[] = []
  let sound = true
  for (let at = 0; at + headerBytes <= bytes.length;) {
    const blockEnd = Math.min(bytes.length, at - (at % blockBytes) + blockBytes)
    if (blockEnd - at < headerBytes) {
      at = blockEnd
      continue
    }
    const piece = pieceAt(bytes, at, blockEnd, budget)
    if (piece.type <= first) {
      yield* rowsOfBatch(parts, false)
      parts = []
      sound = true
    }
    parts.push(bytes.subarray(at + headerBytes, piece.end))
    sound &&= piece.sound
    if (piece.type === whole || piece.type === last) {
      yield* rowsOfBatch(parts, sound)
      parts = []
      sound = true
    }
    at = piece.end
  }
  yield* rowsOfBatch(parts, false)
}

function pieceAt(log: Uint8Array, at: number, blockEnd: number, budget: Budget): Piece {
  const type = log[at + 6]!
  const end = endOfPiece(log, at, blockEnd)
  if (end !== undefined) return { type, end, sound: isSound(log, at, end) }
  for (let next = at + headerBytes; next + headerBytes <= blockEnd; next++) {
    const nextEnd = endOfPiece(log, next, blockEnd)
    if (nextEnd === undefined) continue
    if (!budget.spend(nextEnd - next)) break
    if (isSound(log, next, nextEnd)) return { type: last, end: next, sound: false }
  }
  return { type: middle, end: blockEnd, sound: false }
}

/** Returns where a piece ends, where its header can be one. */
function endOfPiece(log: Uint8Array, at: number, blockEnd: number): number | undefined {
  const type = log[at + 6]!
  if (type < whole || type > last) return undefined
  const end = at + headerBytes + log[at + 4]! + 256 * log[at + 5]!
  return end <= blockEnd ? end : undefined
}

function isSound(log: Uint8Array, at: number, end: number): boolean {
  return maskedCrc(crc32c(log, at + 6, end)) === uint32At(log, at)
}

function* rowsOfBatch(parts: readonly Uint8Array[], sound: boolean): Generator<FileRow> {
  if (parts.length === 0) return
  const batch = parts.length === 1 ? parts[0]! : new Uint8Array(Buffer.concat(parts))
  for (let at = batchHeaderBytes; at < batch.length;) {
    const isValue = batch[at] === 1
    if (!isValue && batch[at] !== 0) return
    const key = bytesAt(batch, at + 1)
    const value = isValue && key ? bytesAt(batch, key.end) : key
    if (key === undefined || value === undefined) return
    if (isValue) yield { key: key.bytes, value: value.bytes, sound }
    at = value.end
  }
}

/** Returns the bytes at `at`, whose length stands before them. */
function bytesAt(
  batch: Uint8Array,
  at: number,
): { readonly bytes: Uint8Array; readonly end: number } | undefined {
  const length = readVarint(batch, at)
  if (typeof length === 'string') return undefined
  const start = at + length.size
  const end = start + length.value
  return end <= batch.length ? { bytes: batch.subarray(start, end), end } : undefined
}
