import { ArgumentError } from '../src/kernel/errors.ts'
import { CID } from 'multiformats/cid'
import { equalBytes } from '../src/kernel/bytes.ts'
import { quoted } from '../src/kernel/shown.ts'
import { readCid } from './cid-bytes.ts'
import { cidTextOf, isCidText } from './cid-text.ts'
import type { CidText, Codec } from './cid-text.ts'
import { StoreError } from './errors.ts'

/**
 * Returns the CID that `text` spells.
 *
 * @param text - CIDv1 in base32 lower case, codec dag-json or raw, sha2-256; nothing else, and no other spelling.
 * @throws {StoreError} `HSTORE_CID_INVALID` for all other texts.
 * @see docs/format.md, «CIDs»
 */
export function parseCid(text: string): CID {
  if (typeof text !== 'string') throw new ArgumentError(`text: wanted a string, got ${typeof text}`)
  if (isCidText(text)) return cidOfText(text)
  throw new StoreError(
    'HSTORE_CID_INVALID',
    `no CID that hstore admits: ${quoted(text)} ${hint(text)}; wanted CIDv1, base32 lower case, dag-json or raw, sha2-256`,
  )
}

/**
 * Returns the CID of a block's bytes.
 *
 * @throws {ArgumentError} `HSTORE_ARGUMENT_INVALID` for a codec that hstore does not know.
 */
export function cidOf(bytes: Uint8Array, codec: Codec): CID {
  if (!(bytes instanceof Uint8Array)) {
    throw new ArgumentError(`bytes: wanted a Uint8Array, got ${typeof bytes}`)
  }
  if (codec !== 'dag-json' && codec !== 'raw') {
    throw new ArgumentError(`codec: wanted dag-json or raw, got ${String(codec)}`)
  }
  return cidOfText(cidTextOf(bytes, codec))
}

/** Returns the CID object of a text that is known to be one. */
export function cidOfText(text: CidText): CID {
  return CID.parse(text)
}

/**
 * Returns the text of a CID object, derived from its bytes alone, or in words why hstore does not admit it: a CID object
 * may keep the spelling it was parsed from, and its parts may disagree.
 */
export function textOfCid(cid: CID): { readonly text: CidText } | string {
  const { bytes, code, multihash, version } = Object(cid) as CID
  if (!(bytes instanceof Uint8Array)) return 'no bytes in the CID object'
  const read = readCid(bytes)
  if (typeof read === 'string') return read
  if (bytes.length > read.size) return 'bytes after the CID'
  const clean = cidOfText(read.cid)
  const agrees = version === 1 && code === clean.code && sameDigest(multihash, clean.multihash)
  return agrees ? { text: read.cid } : 'the parts of the CID object disagree'
}

function sameDigest(a: CID['multihash'] | undefined, b: CID['multihash']): boolean {
  return (
    a?.code === b.code &&
    a.size === b.size &&
    sameBytes(a.bytes, b.bytes) &&
    sameBytes(a.digest, b.digest)
  )
}

function sameBytes(a: unknown, b: Uint8Array): boolean {
  return a instanceof Uint8Array && equalBytes(a, b)
}

function hint(text: string): string {
  if (text === '') return 'is empty'
  if (text.includes('=')) return 'has padding'
  if (text.startsWith('Qm')) return 'is a CIDv0'
  if (/^b[a-z2-7]+$/i.test(text)) {
    return /[A-Z]/.test(text) ? 'has upper case' : 'has another codec, hash or length'
  }
  return 'is not base32'
}
