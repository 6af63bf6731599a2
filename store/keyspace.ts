import { createHash } from 'node:crypto'
import type { CidText } from './cid-text.ts'

/**
 * The indexes of a store: every row but the blocks. All of them but the last four can be rebuilt from blocks; `ranges` is
 * a memory of what was computed, and may lack any row.
 *
 * | index | key | values |
 * | --- | --- | --- |
 * | entries | stream, seq, entry CID | the signer |
 * | heads | stream | CIDs of all entries of its head nodes, sorted |
 * | tips | stream, signer | CIDs of the tips of the signer's chain, sorted |
 * | names | stream, name | CIDs of the entries with that name, sorted |
 * | doubles | stream, name | the same as in `names`, where they are two or more |
 * | bodies | body CID | CIDs of the entries with that body, sorted |
 * | nodes | stream, entry CID | the node that the entry is part of, the body CID; absent where the entry is its own node |
 * | ranges | stream, the seq but for its last two digits | the fingerprint of the entries there |
 * | ranges | stream, number of a node, level from 1 on | the fingerprint of the node: see ranges.ts |
 * | collected | CID of a block that `gc` deleted | none |
 * | made | entry CID | what proves that this user made the entry here |
 * | marks, meta | the caller's | the caller's |
 */
export type IndexName =
  | 'bodies'
  | 'collected'
  | 'doubles'
  | 'entries'
  | 'heads'
  | 'made'
  | 'marks'
  | 'meta'
  | 'names'
  | 'nodes'
  | 'ranges'
  | 'tips'

/** A range of keys as bytes: from `gte` on, up to but not with `lt`. */
export interface KeyRange {
  readonly gte: Uint8Array
  readonly lt: Uint8Array
}

// Streams and signers hold no control characters, so this ends each part of a key but the last.
const separator = '\u0000'
const nameLimitBytes = 256
// 2^53 - 1 has 16 digits: with a fixed width, order by text is order by number.
const seqDigits = 16
const rangeDigits = 2

/** Returns the database key of a block; spelt as abstract-level spells a sublevel `blocks`. */
export function blockKey(cid: CidText): string {
  return `!blocks!${cid}`
}

/** Returns the database key of a row of an index. */
export function rowKey(index: IndexName, key: string): string {
  return `!${index}!${key}`
}

/** Returns the range of all block keys. */
export function blockRange(): KeyRange {
  return rangeFrom('!blocks!')
}

/** Returns the range of the rows of an index whose keys begin with `prefix`, and of no others. */
export function rowRange(index: IndexName, prefix: string): KeyRange {
  return rangeFrom(rowKey(index, prefix))
}

/** Returns the part of a database key after the sublevel. */
export function withoutSublevel(key: string): string {
  return key.slice(key.indexOf('!', 1) + 1)
}

/**
 * Returns the key of an entry in `entries`: in a stream by `seq`, then by CID.
 *
 * @param seq - 0 to 2^53 - 1.
 */
export function entryKey(stream: string, seq: number, cid: CidText): string {
  return entryPrefix(stream) + String(seq).padStart(seqDigits, '0') + separator + cid
}

/** Returns what the keys of all entries of a stream begin with. */
export function entryPrefix(stream: string): string {
  return stream + separator
}

/** Returns what the keys of the entries of a range begin with; it is the key of the range in `ranges`. */
export function rangeKey(stream: string, range: number): string {
  return entryPrefix(stream) + String(range).padStart(seqDigits - rangeDigits, '0')
}

/** Nodes of the tree of ranges that one node of the level above covers. */
export const rangeFan = 32

/** Returns the key in `ranges` of a node of the tree of ranges; those of level 0 are the ranges. */
export function rangeNodeKey(stream: string, level: number, index: number): string {
  const key = rangeKey(stream, index)
  return level === 0 ? key : key + separator + level
}

/** Returns stream, level and number of a key of `ranges`. */
export function parseRangeKey(key: string): { stream: string; level: number; index: number } {
  const [stream = '', index = '', level = '0'] = key.split(separator)
  return { stream, level: Number(level), index: Number(index) }
}

/** Returns the range that an entry is in: those of a hundred values of `seq`. */
export function rangeOf(seq: number): number {
  return Math.floor(seq / 10 ** rangeDigits)
}

/** Returns stream, seq and CID of a key of `entries`. */
export function parseEntryKey(key: string): { stream: string; seq: number; cid: CidText } {
  const [stream = '', seq = '', cid = ''] = key.split(separator)
  return { stream, seq: Number(seq), cid: cid as CidText }
}

/** Returns the entry that a database key of `entries` names; undefined for any other key. */
export function entryOfKey(key: string): CidText | undefined {
  if (!key.startsWith('!entries!')) return undefined
  return key.slice(key.lastIndexOf(separator) + 1) as CidText
}

/** Returns the key of a signer's chain tips in `tips`. */
export function tipKey(stream: string, signer: string): string {
  return tipPrefix(stream) + signer
}

/** Returns stream and signer of a key of `tips`. */
export function parseTipKey(key: string): { stream: string; signer: string } {
  const [stream = '', signer = ''] = key.split(separator)
  return { stream, signer }
}

/** Returns what the keys of all signers' tips in a stream begin with. */
export function tipPrefix(stream: string): string {
  return stream + separator
}

/** Returns the key of a name in `names`. A name longer than 256 bytes stands as its sha2-256. */
export function nameKey(stream: string, name: string): string {
  return namePrefix(stream) + spellName(name)
}

/** Returns what the keys of all names in a stream begin with. */
export function namePrefix(stream: string): string {
  return stream + separator
}

/** Returns the key of an entry in `nodes`. */
export function nodeKey(stream: string, cid: CidText): string {
  return stream + separator + cid
}

/** Returns a row's values as the text that is stored. */
export function encodeRow(values: readonly string[]): string {
  return JSON.stringify(values)
}

/** Returns the values of a stored row, or undefined when the text is no row. */
export function decodeRow(text: string): readonly string[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined
}

/** The first character keeps a short name apart from the digest of a long one. */
function spellName(name: string): string {
  if (name.length <= nameLimitBytes && Buffer.byteLength(name) <= nameLimitBytes) return `=${name}`
  return `#${createHash('sha256').update(name).digest('hex')}`
}

/** The last byte of UTF-8 text is never 0xff, so one more than it bounds the prefix from above. */
function rangeFrom(prefix: string): KeyRange {
  const gte = new TextEncoder().encode(prefix)
  const lt = gte.slice()
  lt[lt.length - 1] = (lt.at(-1) ?? 0) + 1
  return { gte, lt }
}
