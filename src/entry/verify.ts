import { parseDidKey } from '../../keys/did-key.ts'
import { verify } from '../../keys/ed25519.ts'
import { pae } from '../../keys/pae.ts'
import type { Entry, VerifiedEntry } from './entry.ts'
import { entryPayloadType } from './entry.ts'

/**
 * Returns the entry as verified when its signature stands: Ed25519 over DSSE's encoding of the payload's bytes as
 * they stand in the block. Says nothing of the signer's rights; the roster does (`src/trust/standing.ts`).
 */
export function findVerified(entry: Entry): VerifiedEntry | undefined {
  const message = pae(entryPayloadType, entry.payloadBytes)
  return verify(entry.sig, message, parseDidKey(entry.signer))
    ? (entry as VerifiedEntry)
    : undefined
}
