import { quoted } from '../src/kernel/shown.ts'
import { asBuffer, equalBytes } from '../src/kernel/bytes.ts'
import { KeyError } from './errors.ts'

/** OpenSSH's name of an Ed25519 key. */
export const SSH_ED25519 = 'ssh-ed25519'

/** Returns four bytes, big-endian. */
export function sshUint32(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value)
}

/** Returns `content` behind its length of four bytes (RFC 4251 section 5). */
export function sshString(content: Uint8Array | string): Uint8Array {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  return Uint8Array.from(Buffer.concat([sshUint32(bytes.length), bytes]))
}

/** Returns the public key in the form that both kinds of OpenSSH file have (RFC 8709 section 4). */
export function sshPublicKey(publicKey: Uint8Array): Uint8Array {
  return Uint8Array.from(Buffer.concat([sshString(SSH_ED25519), sshString(publicKey)]))
}

/**
 * Returns a key's comment as text. Comments have no encoding of their own: bytes that are not UTF-8 are read as
 * Latin-1, which loses none and gives what was most likely meant.
 */
export function decodeComment(bytes: Uint8Array): string {
  const buffer = asBuffer(bytes)
  const text = buffer.toString('utf8')
  return equalBytes(Buffer.from(text), bytes) ? text : buffer.toString('latin1')
}

/**
 * Reads the fields of OpenSSH's binary forms. Each method throws {KeyError} `HSTORE_KEY_INVALID` where the bytes end
 * too early or say something else.
 */
export class SshReader {
  readonly #bytes: Uint8Array
  readonly #what: string
  #at = 0

  /** @param what - What the bytes are, for messages. */
  constructor(bytes: Uint8Array, what: string = 'the OpenSSH key') {
    this.#bytes = bytes
    this.#what = what
  }

  /** Returns `length` bytes. */
  bytes(length: number): Uint8Array {
    if (length > this.#bytes.length - this.#at) throw this.#invalid('is cut off')
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  /** Returns a whole number of four bytes. */
  uint32(): number {
    return asBuffer(this.bytes(4)).readUInt32BE()
  }

  /** Returns the bytes of a string. */
  string(): Uint8Array {
    return this.bytes(this.uint32())
  }

  /** Returns a string as text; for names, which are ASCII. */
  text(): string {
    return asBuffer(this.string()).toString('latin1')
  }

  /** Returns what is left. */
  rest(): Uint8Array {
    return this.bytes(this.#bytes.length - this.#at)
  }

  /** Throws unless all is read. */
  expectEnd(): void {
    if (this.#at < this.#bytes.length) throw this.#invalid('has bytes after its end')
  }

  /** Passes over the name of an Ed25519 key. */
  expectEd25519(): void {
    const type = this.text()
    if (type === SSH_ED25519) return
    throw this.#invalid(`is of type ${quoted(type.slice(0, 64))}: give an Ed25519 key`)
  }

  /** Returns the 32 bytes of a public key. */
  publicKey(): Uint8Array {
    const bytes = this.string()
    if (bytes.length !== 32) {
      throw this.#invalid(`has a public half of ${bytes.length} bytes, not 32`)
    }
    return Uint8Array.from(bytes)
  }

  #invalid(fault: string): KeyError {
    return new KeyError('HSTORE_KEY_INVALID', `${this.#what} ${fault}`)
  }
}
