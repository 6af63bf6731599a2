import { ArgumentError } from '../src/kernel/errors.ts'
import { asBuffer } from '../src/kernel/bytes.ts'
import { publicKeyOf } from './ed25519.ts'
import { parseJwk } from './jwk.ts'
import { parseOpenSSHKey } from './openssh.ts'
import type { ImportedKey } from './openssh.ts'
import { parsePem } from './pem.ts'
import { parsePkcs8, unlockPkcs8 } from './pkcs8.ts'

/**
 * Returns the Ed25519 key in a private key file of any of the three forms: OpenSSH, or PKCS#8 and JWK, which have no
 * comment. A JWK is never under a passphrase.
 *
 * @param text - The file, at most 64 KiB.
 * @throws {KeyError} `HSTORE_KEY_INVALID` for any other file, `HSTORE_PASSPHRASE_NEEDED` when it is under a
 * passphrase and none is given, `HSTORE_PASSPHRASE_WRONG` when that does not open it.
 * @throws {ArgumentError} `HSTORE_ARGUMENT_INVALID` when `text` is of another type.
 */
export function parsePrivateKey(text: string | Uint8Array, passphrase?: string): ImportedKey {
  if (typeof text !== 'string' && !(text instanceof Uint8Array)) {
    throw new ArgumentError('text: wanted a string or a Uint8Array')
  }
  if (isObject(text)) return bare(parseJwk(text))
  if (parsePem(text).label === 'OPENSSH PRIVATE KEY') return parseOpenSSHKey(text, passphrase)
  const file = parsePkcs8(text)
  return bare('seed' in file ? file.seed : unlockPkcs8(file.locked, passphrase))
}

function bare(seed: Uint8Array): ImportedKey {
  return { seed, publicKey: publicKeyOf(seed), comment: '' }
}

/** A JSON object begins with a brace, which no line of PEM does. */
function isObject(text: string | Uint8Array): boolean {
  const start =
    typeof text === 'string' ? text.slice(0, 1024) : asBuffer(text).toString('latin1', 0, 1024)
  return /^[ \t\r\n]*\{/.test(start)
}
