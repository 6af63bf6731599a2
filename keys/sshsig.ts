import { createHash } from 'node:crypto'
import { verify } from './ed25519.ts'
import { KeyError } from './errors.ts'
import { parsePem } from './pem.ts'
import { SshReader, sshString } from './ssh-wire.ts'

/** A signature as `ssh-keygen -Y sign` makes it, by an Ed25519 key. Whose key it is, it does not say. */
export interface SshSignature {
  /** 32 bytes; a claim until the signature stands and somebody trusted names the key. */
  readonly publicKey: Uint8Array
  /** What the signature is for; never empty. */
  readonly namespace: string
  /** What the signed bytes hold beside the file's hash. */
  readonly reserved: Uint8Array
  readonly hash: 'sha256' | 'sha512'
  readonly signature: Uint8Array
}

const LABEL = 'SSH SIGNATURE'
const MAGIC = Buffer.from('SSHSIG')
const WHAT = 'the SSH signature'

/**
 * Returns the signature in an armored file. Strict, as key files are: nothing around it, canonical base64, no bytes to
 * spare, version 1, SHA-256 or SHA-512.
 *
 * @param file - At most 64 KiB.
 * @throws {KeyError} `HSTORE_SIGNATURE_INVALID` for anything else.
 * @see https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.sshsig
 */
export function parseSshSignature(file: Uint8Array): SshSignature {
  try {
    const { label, bytes } = parsePem(file, WHAT)
    if (label !== LABEL) throw invalid(`is a file of ${label}`)
    return readSignature(new SshReader(bytes, WHAT))
  } catch (cause) {
    if (!(cause instanceof KeyError)) throw cause
    throw new KeyError('HSTORE_SIGNATURE_INVALID', cause.message, { cause })
  }
}

/** Returns whether a signature stands over `message`, by the one strict verdict; says nothing of whose key it is. */
export function isSshSigned(
  { publicKey, namespace, reserved, hash, signature }: SshSignature,
  message: Uint8Array,
): boolean {
  const digest = createHash(hash).update(message).digest()
  const parts = [Buffer.from(namespace, 'latin1'), reserved, Buffer.from(hash), digest]
  const signed = Buffer.concat([MAGIC, ...parts.map((part) => sshString(part))])
  return verify(signature, signed, publicKey)
}

function readSignature(reader: SshReader): SshSignature {
  if (!MAGIC.equals(reader.bytes(MAGIC.length))) throw invalid('does not start as one')
  const version = reader.uint32()
  if (version !== 1) throw invalid(`is of version ${version}, where 1 is read`)
  const key = new SshReader(reader.string(), WHAT)
  key.expectEd25519()
  const publicKey = key.publicKey()
  key.expectEnd()
  const namespace = reader.text()
  const reserved = reader.string()
  const hash = reader.text()
  const inner = new SshReader(reader.string(), WHAT)
  reader.expectEnd()
  inner.expectEd25519()
  const signature = Uint8Array.from(inner.string())
  inner.expectEnd()
  if (namespace === '') throw invalid('has no namespace')
  if (hash !== 'sha256' && hash !== 'sha512') throw invalid('uses neither sha256 nor sha512')
  if (signature.length !== 64) throw invalid(`has ${signature.length} bytes, not 64`)
  return { publicKey, namespace, reserved, hash, signature }
}

function invalid(fault: string): KeyError {
  return new KeyError('HSTORE_SIGNATURE_INVALID', `${WHAT} ${fault}`)
}
