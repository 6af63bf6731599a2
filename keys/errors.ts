import { HstoreError } from '../src/kernel/errors.ts'

/** Codes of what can go wrong with keys. Listed in docs/cli.md. */
export type KeyErrorCode =
  | 'HSTORE_DID_INVALID'
  | 'HSTORE_KEY_EXISTS'
  | 'HSTORE_KEY_EXPOSED'
  | 'HSTORE_KEY_INVALID'
  | 'HSTORE_KEY_NOT_FOUND'
  | 'HSTORE_PASSPHRASE_NEEDED'
  | 'HSTORE_PASSPHRASE_WRONG'
  | 'HSTORE_SIGNATURE_INVALID'
  | 'HSTORE_SSH_AGENT_MISSING'
  | 'HSTORE_SSH_AGENT_REFUSED'

/** Whatever the keys room refuses. */
export class KeyError extends HstoreError<KeyErrorCode> {
  override readonly name = 'KeyError'
}
