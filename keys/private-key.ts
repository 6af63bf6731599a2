import { publicKeyOf } from './ed25519.ts'
import { parseOpenSSHKey } from './openssh.ts'
import type { ImportedKey } from './openssh.ts'
import { parsePem } from './pem.ts'
import { parsePkcs8, unlockPkcs8 } from './pkcs8.ts'

/**
 * Returns the Ed25519 key in a private key file of either form: OpenSSH, or PKCS#8, which has no comment.
 *
 * @param text - The file, at most 64 KiB.
 * @throws {KeyError} `HSTORE_KEY_INVALID` for any other file, `HSTORE_PASSPHRASE_NEEDED` when it is under a
 * passphrase and none is given, `HSTORE_PASSPHRASE_WRONG` when that does not open it.
 */
export function parsePrivateKey(text: string | Uint8Array, passphrase?: string): ImportedKey {
  if (parsePem(text).label === 'OPENSSH PRIVATE KEY') return parseOpenSSHKey(text, passphrase)
  const file = parsePkcs8(text)
  const seed = 'seed' in file ? file.seed : unlockPkcs8(file.locked, passphrase)
  return { seed, publicKey: publicKeyOf(seed), comment: '' }
}
