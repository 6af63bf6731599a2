import { assertBytes } from '../src/kernel/errors.ts'
import { KeyError } from './errors.ts'
import { isPublicKey, spkiOf } from './ed25519.ts'
import { formatPem } from './pem.ts'

/**
 * Returns a 32-byte public key as a PEM file of SubjectPublicKeyInfo, label `PUBLIC KEY` (RFC 8410 section 4).
 *
 * @throws {KeyError} `HSTORE_KEY_INVALID` when the key is of another length, weak, not canonical or not on the curve.
 * @throws {ArgumentError} `HSTORE_ARGUMENT_INVALID` when it is no Uint8Array.
 */
export function formatSpki(publicKey: Uint8Array): string {
  assertBytes('publicKey', publicKey)
  if (isPublicKey(publicKey)) return formatPem('PUBLIC KEY', spkiOf(publicKey))
  throw new KeyError('HSTORE_KEY_INVALID', 'these bytes are no safe Ed25519 public key')
}
