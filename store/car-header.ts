import { asBuffer } from '../src/kernel/bytes.ts'
import { encodeCid, readCid } from './cid-bytes.ts'
import type { CidText } from './cid-text.ts'

/** Header of every CAR of version 2, before anything else is known of it. */
const v2Pragma = 'a16776657273696f6e02'
/** CBOR: a map of two, the key "roots". */
const start = Buffer.from('a265726f6f7473', 'hex')
/** CBOR: the key "version", the integer 1. */
const end = Buffer.from('6776657273696f6e01', 'hex')

/**
 * Returns the header of a CAR of version 1 in canonical DAG-CBOR, without its length.
 *
 * @see https://ipld.io/specs/transport/car/carv1/
 */
export function encodeCarHeader(roots: readonly CidText[]): Uint8Array {
  const links = roots.map((root) => {
    const cid = encodeCid(root)
    // Tag 42, a byte string of less than 256 bytes, the zero that binary CIDs have in CBOR.
    return Buffer.concat([Uint8Array.of(0xd8, 0x2a, 0x58, cid.length + 1, 0x00), cid])
  })
  return new Uint8Array(Buffer.concat([start, encodeListHead(roots.length), ...links, end]))
}

/**
 * Returns the roots that a CAR's header names, or in words why the header is refused: it has to be exactly what
 * {@link encodeCarHeader} gives.
 */
export function decodeCarHeader(header: Uint8Array): readonly CidText[] | string {
  const buffer = asBuffer(header)
  if (buffer.toString('hex', 0, 10) === v2Pragma) {
    return 'CAR version 2 is not supported, extract the version 1 data from it'
  }
  const list = start.equals(buffer.subarray(0, start.length)) ? readListHead(buffer) : undefined
  if (list === undefined) return 'the header is not {roots, version} in canonical DAG-CBOR'
  const roots: CidText[] = []
  let { at } = list
  for (let i = 0; i < list.count; i++) {
    const size = buffer[at + 3] ?? 0
    const root = readRoot(buffer.subarray(at, at + 4 + size))
    if (typeof root === 'string') return `root ${i}: ${root}`
    roots.push(root.cid)
    at += 4 + size
  }
  if (!end.equals(buffer.subarray(at))) return 'the header does not end in version 1'
  return new Set(roots).size === roots.length ? roots : 'a root is named twice'
}

function readRoot(link: Uint8Array): { readonly cid: CidText } | string {
  const [tag, tagged, bytes, size = 0, zero] = link
  const framed = tag === 0xd8 && tagged === 0x2a && bytes === 0x58 && zero === 0x00
  if (!framed || link.length !== 4 + size) return 'no link in canonical DAG-CBOR'
  const read = readCid(link.subarray(5))
  if (typeof read === 'string') return read
  return read.size === size - 1 ? read : 'bytes after the CID'
}

function encodeListHead(count: number): Uint8Array {
  if (count < 24) return Uint8Array.of(0x80 | count)
  if (count < 0x100) return Uint8Array.of(0x98, count)
  return Uint8Array.of(0x99, count >>> 8, count & 0xff)
}

/** A header of 1 MiB has room for less than 2^16 roots, so no longer count is ever right. */
function readListHead(buffer: Buffer): { readonly count: number; readonly at: number } | undefined {
  const at = start.length
  const first = buffer[at] ?? 0
  if (first >= 0x80 && first < 0x98) return { count: first - 0x80, at: at + 1 }
  const long = buffer.subarray(at + 1, at + 3)
  if (first === 0x98 && long.length > 0) {
    const count = long.readUInt8()
    return count < 24 ? undefined : { count, at: at + 2 }
  }
  if (first !== 0x99 || long.length < 2) return undefined
  const count = long.readUInt16BE()
  return count < 0x100 ? undefined : { count, at: at + 3 }
}
