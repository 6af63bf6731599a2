import { parseDidKey } from '../../keys/did-key.ts'
import { verify, verifyInBackground } from '../../keys/ed25519.ts'
import { pae } from '../../keys/pae.ts'
import type { Entry, VerifiedEntry } from './entry.ts'
import { entryPayloadType } from './entry.ts'

/**
 * Returns the entry as verified when its signature stands: Ed25519 over DSSE's encoding of the payload's bytes as
 * they stand in the block. Says nothing of the signer's rights; the roster does (`src/trust/standing.ts`).
 */
export function findVerified(entry: Entry): VerifiedEntry | undefined {
  const stands = verify(entry.sig, signedBytes(entry), parseDidKey(entry.signer))
  return stands ? (entry as VerifiedEntry) : undefined
}

/** Returns what `findVerified` does, reached on another thread: for many entries at once. */
export async function findVerifiedInBackground(entry: Entry): Promise<VerifiedEntry | undefined> {
  const stands = await verifyInBackground(entry.sig, signedBytes(entry), parseDidKey(entry.signer))
  return stands ? (entry as VerifiedEntry) : undefined
}

function signedBytes(entry: Entry): Uint8Array {
  return pae(entryPayloadType, entry.payloadBytes)
}
