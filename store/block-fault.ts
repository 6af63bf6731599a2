import { bounded } from '../src/kernel/shown.ts'
import { StoreError } from './errors.ts'

/** Why bytes or a value are no block: stable names, shown as `details.reason`. See docs/format.md, «Canonical DAG-JSON». */
export type BlockReason =
  | 'byte-order-mark'
  | 'duplicate-key'
  | 'escape-form'
  | 'fraction'
  | 'invalid-bytes'
  | 'invalid-link'
  | 'lone-surrogate'
  | 'negative-zero'
  | 'not-json'
  | 'not-plain-data'
  | 'not-utf8'
  | 'number-form'
  | 'root-not-map'
  | 'slash-key'
  | 'too-deep'
  | 'too-large'
  | 'unsafe-integer'
  | 'unsorted-key'
  | 'white-space'

/** Where a block is at fault; `offset` is in bytes, `pointer` a JSON pointer (RFC 6901). */
export interface BlockPlace {
  readonly offset?: number
  readonly pointer?: string
}

/**
 * Returns the error for a block that is refused.
 *
 * @param what - What is wrong, naming the key, number or text; long ones are cut.
 */
export function blockInvalid(
  reason: BlockReason,
  what: string,
  place: BlockPlace = {},
): StoreError {
  const { offset, pointer } = place
  const at = [
    ...(pointer === undefined ? [] : [pointer === '' ? 'the root' : bounded(pointer)]),
    ...(offset === undefined ? [] : [`byte ${offset}`]),
  ]
  const where = at.length > 0 ? ` at ${at.join(', ')}` : ''
  return new StoreError('HSTORE_BLOCK_INVALID', `no valid block: ${what}${where}`, {
    details: { reason, ...place },
  })
}

/** Returns the JSON pointer (RFC 6901) of a path of keys and indexes. */
export function formatPointer(path: readonly (number | string)[]): string {
  return path
    .map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('')
}
