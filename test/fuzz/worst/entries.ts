import { encodeForm } from '../../../store/canonical.ts'
import type { JsonForm } from '../../../store/canonical.ts'
import type { Shape } from './shapes.ts'

const sig = { '/': { bytes: 'A'.repeat(86) } }
const texts = (count: number, length: number): string[] =>
  Array.from({ length: count }, (_, i) => String(i).padStart(length, 'k'))

function entryWith(payload: { [key: string]: JsonForm }): Uint8Array {
  return encodeForm({ payload: { v: 1, ...payload }, sig })
}

/** Entries of 64 KiB that cost their reader most. */
export const entries: readonly Shape[] = [
  ['unknown keys', () => entryWith(Object.fromEntries(texts(7000, 4).map((key) => [key, 0])))],
  ['parents that are none', () => entryWith({ parents: texts(9000, 4) })],
  ['one long name', () => entryWith({ name: 'n'.repeat(65_000) })],
  ['one long key', () => entryWith({ ['~/'.repeat(32_000)]: 0 })],
]
