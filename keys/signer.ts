import type { KeyObject } from 'node:crypto'
import { formatDidKey } from './did-key.ts'
import type { Did } from './did-key.ts'
import { privateKeyOf, publicKeyOf, sign } from './ed25519.ts'
import { readKeyFile } from './key-file.ts'

/**
 * Signs for one key. `level` tells what a signature proves: `file`, that somebody had the key file; `agent`, that an
 * ssh-agent held the key. It is never raised.
 */
export interface Signer {
  readonly did: Did
  readonly publicKey: Uint8Array
  readonly level: 'file' | 'agent'
  /** Returns the 64-byte signature of `message`. */
  sign(message: Uint8Array): Uint8Array
}

/**
 * Returns a signer for a key file.
 *
 * @param passphrase - Needed when the file is encrypted.
 * @throws {KeyError} as `readKeyFile`: `HSTORE_KEY_NOT_FOUND`, `HSTORE_KEY_EXPOSED`, `HSTORE_KEY_INVALID`,
 * `HSTORE_PASSPHRASE_NEEDED`, `HSTORE_PASSPHRASE_WRONG`.
 */
export async function openSigner(path: string, passphrase: string | undefined): Promise<Signer> {
  const { privateKey } = await readKeyFile(path, passphrase)
  return signerOf(privateKey)
}

/**
 * Returns a signer for a 32-byte seed.
 *
 * @throws {KeyError} `HSTORE_KEY_INVALID` when it has another length.
 */
export function signerOfSeed(seed: Uint8Array): Signer {
  return signerOf(privateKeyOf(seed))
}

function signerOf(privateKey: KeyObject): Signer {
  const publicKey = publicKeyOf(privateKey)
  return {
    did: formatDidKey(publicKey),
    publicKey,
    level: 'file',
    sign: (message) => sign(message, privateKey),
  }
}
