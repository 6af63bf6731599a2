import type { JsonForm } from '../store/canonical.ts'
import { encodeForm } from '../store/canonical.ts'

/**
 * Returns the canonical bytes of a document that was given as a value.
 *
 * @throws {StoreError} `HSTORE_BLOCK_INVALID` when the value holds more than plain JSON data within the limits.
 */
export function readDocument(document: object): Uint8Array {
  return encodeForm(document as JsonForm)
}
