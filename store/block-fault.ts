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

const SHOWN = 120

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

/** Returns `text` in quotes, bounded and printable, for a message. */
export function quoted(text: string): string {
  return printable(JSON.stringify(cut(text)))
}

/** Returns `text`, bounded and printable, for a message. */
export function bounded(text: string): string {
  return printable(cut(text))
}

/** Controls, line separators and what turns the direction of text: a message is one line that shows what it says. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

function printable(text: string): string {
  return text.replaceAll(unprintable, (character) => {
    const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
  })
}

function cut(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}

/** Returns the JSON pointer (RFC 6901) of a path of keys and indexes. */
export function formatPointer(path: readonly (number | string)[]): string {
  return path
    .map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('')
}
