import { crc32c, maskedCrc } from './crc32c.ts'

/*
 * The form that LevelDB gives its logs and its MANIFEST: pieces that never cross a block of 32 KiB, each with a masked
 * CRC-32C (4 bytes), a length (2) and a type (1), then its bytes. A record is one piece of type 1, or one of type 2, any
 * of type 3 and one of type 4.
 */

const blockBytes = 32 * 1024
const headerBytes = 7
const whole = 1
const first = 2
const last = 4

/**
 * Returns whether a log holds records that can't be read, though not only where it breaks off: a process or a machine
 * that dies leaves an end that is cut or zeros, and nothing that was acknowledged lies there. LevelDB leaves out both,
 * some of the damage without a word.
 */
export function isDamagedLog(log: Uint8Array): boolean {
  let isBad = false
  for (let at = 0; at < log.length;) {
    at = startOfPiece(at)
    const end = findEnd(log, at)
    if (end !== undefined) {
      if (isBad) return true
      at = end
    } else {
      if (isCut(log, at)) break
      isBad = true
      at = (Math.floor(at / blockBytes) + 1) * blockBytes
    }
  }
  return isBad && log.at(-1) !== 0
}

/** Returns the records of a log, up to the first that can't be read. */
export function readRecords(log: Uint8Array): readonly Uint8Array[] {
  const records: Uint8Array[] = []
  let pieces: Uint8Array[] = []
  for (let at = 0; ;) {
    at = startOfPiece(at)
    const end = findEnd(log, at)
    if (end === undefined) return records
    const type = log[at + 6]
    if (type === whole || type === first) pieces = []
    pieces.push(log.subarray(at + headerBytes, end))
    if (type === whole || type === last) records.push(new Uint8Array(Buffer.concat(pieces)))
    at = end
  }
}

/** Too few bytes for a header at the end of a block stay unused. */
function startOfPiece(at: number): number {
  const left = blockBytes - (at % blockBytes)
  return left < headerBytes ? at + left : at
}

/** Returns where a sound piece ends; undefined for any other. */
function findEnd(log: Uint8Array, at: number): number | undefined {
  if (at + headerBytes > log.length) return undefined
  const view = new DataView(log.buffer, log.byteOffset + at)
  const end = at + headerBytes + view.getUint16(4, true)
  const type = log[at + 6] ?? 0
  const isOdd = type < whole || type > last || end > log.length
  if (isOdd || (at % blockBytes) + (end - at) > blockBytes) return undefined
  return maskedCrc(crc32c(log, at + 6, end)) === view.getUint32(0, true) ? end : undefined
}

/** Whether the file ends before the piece does. */
function isCut(log: Uint8Array, at: number): boolean {
  if (at + headerBytes > log.length) return true
  const length = (log[at + 4] ?? 0) + 256 * (log[at + 5] ?? 0)
  return at + headerBytes + length > log.length
}
