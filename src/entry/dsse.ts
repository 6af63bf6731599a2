import { cidTextOf } from '../../store/cid-text.ts'
import { assertBytes } from '../kernel/errors.ts'
import { decodeEntry } from './decode.ts'
import { entryPayloadType } from './entry.ts'

/** A DSSE envelope as JSON has it. Base64 is the standard one, padded. */
export interface DsseEnvelope {
  /** The payload's bytes as they stand in the entry's block, in base64. */
  readonly payload: string
  readonly payloadType: string
  /** One: `keyid` is the signer's did:key, `sig` 64 bytes in base64. */
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[]
}

/**
 * Returns the entry in a block as a DSSE envelope, for verifiers of others: the same signature over the same bytes. It
 * is not checked here, and what the signer may say, only the roster tells.
 *
 * @param block - As `getEntryBlock` gives it.
 * @throws {StoreError} `HSTORE_BLOCK_INVALID` when the bytes are no block.
 * @throws {HandoffError} `HSTORE_ENTRY_INVALID` when the block is no entry; `HSTORE_VERSION_NEWER`.
 * @see https://github.com/secure-systems-lab/dsse/blob/master/envelope.md
 */
export function dsseOf(block: Uint8Array): DsseEnvelope {
  assertBytes('block', block)
  const { payloadBytes, sig, signer } = decodeEntry(cidTextOf(block, 'dag-json'), block)
  return {
    payload: Buffer.from(payloadBytes).toString('base64'),
    payloadType: entryPayloadType,
    signatures: [{ keyid: signer, sig: Buffer.from(sig).toString('base64') }],
  }
}
