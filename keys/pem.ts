import { asBuffer } from '../src/kernel/bytes.ts'
import { KeyError } from './errors.ts'

/** The most bytes that a key file may have. */
export const KEY_FILE_LIMIT = 65_536

/** One PEM block: what stands after BEGIN, and the bytes. */
export interface Pem {
  readonly label: string
  readonly bytes: Uint8Array
}

const BEGIN = /^-----BEGIN ([A-Z0-9 ]{1,64})-----$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/**
 * Returns the one PEM block that `text` is. Strict: nothing before it, nothing but line ends after it, canonical
 * base64; lines may end in LF or CRLF, the last one in nothing.
 *
 * @param text - At most 64 KiB.
 * @param what - What the text is, for messages.
 * @throws {KeyError} `HSTORE_KEY_INVALID` for anything else.
 */
export function parsePem(text: string | Uint8Array, what: string = 'the key file'): Pem {
  const invalid = (fault: string): KeyError =>
    new KeyError('HSTORE_KEY_INVALID', `${what} ${fault}`)
  if (text.length > KEY_FILE_LIMIT) throw invalid(`has more than ${KEY_FILE_LIMIT} bytes`)
  const lines = linesOf(text)
  const label = BEGIN.exec(lines[0] ?? '')?.[1]
  if (label === undefined) throw invalid(wordsOnStart(lines[0] ?? ''))
  const end = lines.indexOf(`-----END ${label}-----`)
  if (end < 0) throw invalid(`has no line -----END ${label}-----: it is cut off`)
  if (end !== lines.length - 1) throw invalid('has something after its end: give one key only')
  const body = lines.slice(1, end)
  const bytes = body.includes('') ? undefined : parseBase64(body.join(''))
  if (bytes === undefined) throw invalid('is not clean base64 between BEGIN and END')
  return { label, bytes }
}

/** Returns one PEM block as text, 64 characters a line. */
export function formatPem(label: string, bytes: Uint8Array): string {
  const lines =
    asBuffer(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}

/** Returns the bytes of canonical, padded base64, or undefined: node skips what it can't read. */
export function parseBase64(text: string): Uint8Array | undefined {
  if (!BASE64.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? Uint8Array.from(bytes) : undefined
}

function linesOf(text: string | Uint8Array): string[] {
  const characters = typeof text === 'string' ? text : asBuffer(text).toString('latin1')
  const lines = characters.split(/\r?\n/)
  while (lines.length > 1 && lines.at(-1) === '') lines.pop()
  return lines
}

function wordsOnStart(line: string): string {
  if (/^(?:ssh-|ecdsa-|sk-)/.test(line)) return 'is a public key: give the file without .pub'
  return 'does not start with a line -----BEGIN …-----: give the file as it was made'
}
