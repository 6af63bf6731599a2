import { assertArgument, assertBytes } from '../src/kernel/errors.ts'
import { asBuffer } from '../src/kernel/bytes.ts'
import { KeyError } from './errors.ts'
import { KEY_FILE_LIMIT, parseBase64 } from './pem.ts'
import { decodeComment, SSH_ED25519, sshPublicKey, SshReader } from './ssh-wire.ts'

/** A public key as OpenSSH writes it down. */
export interface OpenSSHPublicKey {
  readonly publicKey: Uint8Array
  readonly comment: string
}

const CONTROL = /[\p{Control}\u2028\u2029]/gu

/**
 * Returns the line of an OpenSSH public key file, with its line end: type, base64, comment. Control characters of the
 * comment are written as `\u001b`: a line end among them would make a second key.
 *
 * @param publicKey - 32 bytes.
 * @throws {KeyError} `HSTORE_KEY_INVALID` when it has another length.
 * @throws {ArgumentError} `HSTORE_ARGUMENT_INVALID` when an argument is of another type.
 */
export function formatOpenSSHPublicKey(publicKey: Uint8Array, comment: string): string {
  assertBytes('publicKey', publicKey)
  assertArgument('comment', comment, 'string')
  if (publicKey.length !== 32) {
    throw new KeyError('HSTORE_KEY_INVALID', `a public key has 32 bytes, not ${publicKey.length}`)
  }
  const base64 = asBuffer(sshPublicKey(publicKey)).toString('base64')
  const words = comment.replaceAll(CONTROL, escapeControl)
  return `${SSH_ED25519} ${base64}${words === '' ? '' : ' '}${words}\n`
}

/**
 * Returns the key and comment of a file that holds one line as `formatOpenSSHPublicKey` writes it.
 *
 * @param file - At most 64 KiB.
 * @throws {KeyError} `HSTORE_KEY_INVALID` for anything else.
 */
export function parseOpenSSHPublicKey(file: Uint8Array): OpenSSHPublicKey {
  const line = file.length > KEY_FILE_LIMIT ? '' : asBuffer(file).toString('latin1')
  // Line ends are looked for from where the line ends: from the end of the file, each would be tried with all behind it.
  const match = /^ssh-ed25519 ([A-Za-z0-9+/=]+)(?: ([^\r\n]*))?(?:\r?\n)*$/.exec(line)
  const bytes = match === null ? undefined : parseBase64(match[1]!)
  if (match === null || bytes === undefined) {
    throw new KeyError('HSTORE_KEY_INVALID', `the public half ${whyNoLine(line)}`)
  }
  const reader = new SshReader(bytes)
  reader.expectEd25519()
  const publicKey = reader.publicKey()
  reader.expectEnd()
  return { publicKey, comment: decodeComment(Buffer.from(match[2] ?? '', 'latin1')) }
}

/** Words for what people give most often instead. */
function whyNoLine(line: string): string {
  const type = /^((?:sk-)?(?:ssh|ecdsa)-[a-z0-9@.-]{1,64}) /.exec(line)?.[1]
  if (type?.startsWith('sk-') === true) {
    return `is of a FIDO key (${type}), which signs more than the bytes it is given: take an ordinary ${SSH_ED25519} key`
  }
  if (type?.includes('-cert-') === true) return `is a certificate (${type}): give the key itself`
  if (type !== undefined && type !== SSH_ED25519) {
    return `is of type ${type}: give an ${SSH_ED25519} key`
  }
  if (line.startsWith('-----BEGIN')) return 'is a private key: give the file that ends in .pub'
  return `is no line of ${SSH_ED25519}, or more than one`
}

function escapeControl(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
