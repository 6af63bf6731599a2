import type { Did } from '../../keys/did-key.ts'
import type { CidText } from '../../store/cid-text.ts'

/** What the author states. One closed form; see docs/format.md, «Entries». Absent lists are empty here. */
export interface Payload {
  readonly artifacts: CidText | undefined
  readonly author: string
  readonly body: CidText
  readonly kind: string
  readonly name: string | undefined
  readonly parents: readonly CidText[]
  readonly prev: readonly CidText[]
  readonly refs: readonly CidText[]
  readonly roster: CidText
  readonly seq: number
  readonly shallow: readonly string[]
  readonly signer: Did
  readonly source: CidText | undefined
  readonly store: CidText
  readonly stream: string
  readonly witness: boolean
}

/** An entry that has the right form. Says nothing of its signature or of its signer's rights. */
export interface Entry extends Payload {
  readonly cid: CidText
}

/** An entry with what proves it. */
export interface SignedEntry extends Entry {
  /** The bytes of `payload` as they stand in the block: what the signature covers. */
  readonly payloadBytes: Uint8Array
  /** 64 bytes. */
  readonly sig: Uint8Array
}

declare const verifiedBrand: unique symbol

/** An entry whose signature stands, without the bytes that showed it. Made by `src/entry/verify.ts` alone. */
export type VerifiedEntry = Entry & { readonly [verifiedBrand]: true }

/** The payload type of DSSE's pre-authentication encoding. */
export const entryPayloadType = 'application/vnd.hstore.entry.v1+dag-json'

/** Largest entry block, in bytes. */
export const maxEntryBytes: number = 64 * 1024

/** Largest file kept as `source`, in bytes. */
export const maxSourceBytes: number = 4 * 1024 * 1024

/** Most links in `parents` and in `refs`, and most names in `shallow`. */
export const maxLinks = 256

/** Most links in `prev`. */
export const maxPrev = 64
