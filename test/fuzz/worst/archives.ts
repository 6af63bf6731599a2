import { createHash } from 'node:crypto'
import { encodeCarHeader } from '../../../store/car-header.ts'
import { encodeCid } from '../../../store/cid-bytes.ts'
import { cidTextOf } from '../../../store/cid-text.ts'
import { encodeVarint } from '../../../store/varint.ts'
import type { Shape } from './shapes.ts'
import { size } from './shapes.ts'

const frame = (...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts)
  return Buffer.concat([encodeVarint(body.length), body])
}

const raw = (bytes: Uint8Array): Buffer => frame(encodeCid(cidTextOf(bytes, 'raw')), bytes)
const digest = (i: number): Uint8Array => createHash('sha256').update(String(i)).digest()
const bytesOf = (...parts: readonly Uint8Array[]): Uint8Array =>
  new Uint8Array(Buffer.concat(parts))
const head = frame(encodeCarHeader([]))

/** Archives that cost their reader most. */
export const archives: readonly Shape[] = [
  [
    '50,000 empty blocks',
    () => bytesOf(head, ...Array.from({ length: 50_000 }, () => raw(new Uint8Array(0)))),
  ],
  [
    '40,000 blocks',
    () => bytesOf(head, ...Array.from({ length: 40_000 }, (_, i) => raw(digest(i)))),
  ],
  [
    '25,000 roots',
    () =>
      bytesOf(
        frame(
          encodeCarHeader(Array.from({ length: 25_000 }, (_, i) => cidTextOf(digest(i), 'raw'))),
        ),
      ),
  ],
  ['one block of 2 MiB', () => bytesOf(head, raw(new Uint8Array(size - 50)))],
  ['a length past the end', () => bytesOf(head, encodeVarint(4 * 1024 * 1024), new Uint8Array(9))],
  ['a header past the end', () => bytesOf(encodeVarint(1024 * 1024), new Uint8Array(1000))],
]
