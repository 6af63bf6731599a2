import { asBuffer } from '../kernel/bytes.ts'
import { decodeForm } from '../../store/canonical.ts'
import type { JsonForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { HandoffError } from '../errors.ts'
import { bounded } from '../kernel/shown.ts'
import type { Fault } from './assert.ts'
import { readEntryForm } from './assert.ts'
import type { SignedEntry } from './entry.ts'
import { maxEntryBytes } from './entry.ts'

/** Length of what stands before the payload in a block: `{"payload":`. */
export const headLength = 11
/** Length of what stands behind it: `,"sig":{"/":{"bytes":"<86 characters>"}}}`. */
export const tailLength = 112

/** Of more faults the message is no line for a person any more; `details` has all. */
const toldFaults = 20

/**
 * Returns the entry in a block whose bytes are known to hash to `cid`.
 *
 * @throws {StoreError} `HSTORE_BLOCK_INVALID` when the bytes are not canonical or over 64 KiB.
 * @throws {HandoffError} `HSTORE_ENTRY_INVALID` with all faults when the block is no entry; `HSTORE_VERSION_NEWER` when
 * a newer hstore made it.
 */
export function decodeEntry(cid: CidText, bytes: Uint8Array): SignedEntry {
  return entryOfForm(cid, bytes, decodeForm(bytes, maxEntryBytes).form)
}

/** Returns the entry in a decoded block; throws as `decodeEntry`. */
export function entryOfForm(
  cid: CidText,
  bytes: Uint8Array,
  form: { readonly [key: string]: JsonForm },
): SignedEntry {
  if (bytes.length > maxEntryBytes) throw invalid(cid, [{ pointer: '', message: 'is over 64 KiB' }])
  const door = readEntryForm(form)
  if ('faults' in door) throw invalid(cid, door.faults)
  if ('newer' in door) {
    throw new HandoffError(
      'HSTORE_VERSION_NEWER',
      `${cid} has entry version ${String(door.newer)}, made by a newer hstore: update hstore to read it`,
      { details: { cid } },
    )
  }
  const payloadBytes = bytes.subarray(headLength, bytes.length - tailLength)
  return { ...door.payload, cid, payloadBytes, sig: door.sig }
}

/** Returns whether a decoded block is meant as an entry, well-formed or not. */
export function looksLikeEntry(form: { readonly [key: string]: JsonForm }): boolean {
  return Object.hasOwn(form, 'payload') || Object.hasOwn(form, 'sig')
}

const entryKeys = ['"payload":', '"sig":'].map((text) => Buffer.from(text))

/** Returns false for a canonical block that `looksLikeEntry` is false for as well, without decoding it. */
export function mayBeEntry(bytes: Uint8Array): boolean {
  const buffer = asBuffer(bytes)
  return entryKeys.some((key) => buffer.includes(key))
}

function invalid(cid: CidText, faults: readonly Fault[]): HandoffError {
  const told = faults.slice(0, toldFaults).map(({ pointer, message }) => {
    const place = pointer === '' ? 'the block' : bounded(pointer)
    return `${place} ${message}`
  })
  if (faults.length > toldFaults) told.push(`and ${faults.length - toldFaults} more`)
  return new HandoffError('HSTORE_ENTRY_INVALID', `${cid} is no entry: ${told.join('; ')}`, {
    details: { cid, faults },
  })
}
