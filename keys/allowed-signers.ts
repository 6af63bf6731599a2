import { asBuffer } from '../src/kernel/bytes.ts'
import { KeyError } from './errors.ts'
import { formatOpenSSHPublicKey } from './openssh-public.ts'
import { parseBase64 } from './pem.ts'
import { SSH_ED25519, SshReader } from './ssh-wire.ts'

/** One line of an allowed_signers file that an Ed25519 key can be allowed by. Texts hold a byte a character. */
export interface AllowedSigner {
  readonly line: number
  /** Patterns with commas between them, as the line has them. */
  readonly principals: string
  /** Patterns too; any namespace when absent. */
  readonly namespaces?: string
  /** The first moment that counts, in ms since 1970. */
  readonly validAfterMs?: number
  /** The last moment that counts, in ms since 1970. */
  readonly validBeforeMs?: number
  readonly publicKey: Uint8Array
}

/** What an allowed_signers file holds. */
export interface AllowedSigners {
  readonly signers: readonly AllowedSigner[]
  /** Lines that were not understood and allow nobody; what is wrong, in words. */
  readonly problems: readonly { readonly line: number; readonly problem: string }[]
}

const FILE_LIMIT = 1_048_576

const LINE =
  /^(?:"([^"]+)"|([^ \t"]+))[ \t]+(?:(?!ssh-|ecdsa-|sk-)([^ \t"]+(?:"[^"]*"[^ \t"]*)*)[ \t]+)?((?:ssh|ecdsa|sk)-[^ \t]+)[ \t]+([^ \t]+)(?:[ \t].*)?$/
const OPTION = /^([a-z-]+)(?:="([^"\\]*)")?(?:,|$)/i
const TIME = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(Z?)$/

/**
 * Returns the lines of an allowed_signers file. Never more lax than OpenSSH: a line of another form, with an option
 * that is not known, given twice or without its quotes, allows nobody. Lines of other key types and certificate
 * authorities are passed over: they allow no plain Ed25519 key.
 *
 * @param file - At most 1 MiB.
 * @throws {KeyError} `HSTORE_KEY_INVALID` when it is larger.
 * @see ssh-keygen(1), «ALLOWED SIGNERS»
 */
export function parseAllowedSigners(file: Uint8Array): AllowedSigners {
  if (file.length > FILE_LIMIT) {
    throw new KeyError(
      'HSTORE_KEY_INVALID',
      `the file of signers has more than ${FILE_LIMIT} bytes`,
    )
  }
  const signers: AllowedSigner[] = []
  const problems: { line: number; problem: string }[] = []
  for (const [i, text] of asBuffer(file).toString('latin1').split('\n').entries()) {
    const line = i + 1
    try {
      const signer = readLine(line, text.replace(/^[ \t\r]+/, '').replace(/\r$/, ''))
      if (signer !== undefined) signers.push(signer)
    } catch (error) {
      if (!(error instanceof KeyError)) throw error
      problems.push({ line, problem: error.message })
    }
  }
  return { signers, problems }
}

/**
 * Returns the line of an allowed_signers file that allows a key to sign as any of `names`, with its line end.
 *
 * @param publicKey - 32 bytes.
 * @throws {KeyError} `HSTORE_KEY_INVALID` when a name would be a pattern, or can't stand in such a file.
 */
export function formatAllowedSigner(
  names: readonly string[],
  publicKey: Uint8Array,
  comment: string,
): string {
  for (const name of names) {
    if (isPrincipal(name)) continue
    const why = 'with , * ? ! " or control characters in it, or over 1000 bytes, it is no principal'
    throw new KeyError('HSTORE_KEY_INVALID', `${JSON.stringify(name)} can't be written: ${why}`)
  }
  const list = names.join(',')
  const isPlain = /^[\w@.:/+=][\w@.:/+=,-]*$/.test(list)
  return `${isPlain ? list : `"${list}"`} ${formatOpenSSHPublicKey(publicKey, comment)}`
}

/** Returns whether `text` fits a list of patterns: one that fits, and none behind a `!` that does. As OpenSSH does it. */
export function fitsPatterns(text: string, patterns: string): boolean {
  let fits = false
  for (const pattern of patterns.split(',')) {
    const isNegated = pattern.startsWith('!')
    if (!fitsPattern(text, isNegated ? pattern.slice(1) : pattern)) continue
    if (isNegated) return false
    fits = true
  }
  return fits
}

function isPrincipal(name: string): boolean {
  const size = Buffer.byteLength(name)
  return size > 0 && size <= 1000 && !/[,*?!"\p{Control}]/u.test(name)
}

/** In time of text by pattern, however many stars: only the last one is ever tried again. */
function fitsPattern(text: string, pattern: string): boolean {
  let [at, from, star, resume] = [0, 0, -1, 0]
  while (at < text.length) {
    if (pattern[from] === '*') {
      star = from++
      resume = at
    } else if (from < pattern.length && (pattern[from] === '?' || pattern[from] === text[at])) {
      at += 1
      from += 1
    } else if (star >= 0) {
      from = star + 1
      at = ++resume
    } else return false
  }
  while (pattern[from] === '*') from += 1
  return from === pattern.length
}

function readLine(line: number, text: string): AllowedSigner | undefined {
  if (text === '' || text.startsWith('#')) return undefined
  if (hasControl(text)) throw bad('has control characters')
  const [, quoted, plain, options, type, base64 = ''] = LINE.exec(text) ?? []
  const principals = quoted ?? plain
  if (principals === undefined) throw bad('is no line of principals, options and a key')
  const { isAuthority, ...limits } = readOptions(options ?? '')
  if (isAuthority || type !== SSH_ED25519) return undefined
  const bytes = parseBase64(base64)
  if (bytes === undefined) throw bad('has a key that is not clean base64')
  const reader = new SshReader(bytes, 'has a key that')
  reader.expectEd25519()
  const publicKey = reader.publicKey()
  reader.expectEnd()
  return { line, principals, ...limits, publicKey }
}

/** Of ASCII only: the bytes of a name in UTF-8 may look like the others. */
function hasControl(text: string): boolean {
  for (const character of text) {
    if ((character < ' ' && character !== '\t') || character === '\x7f') return true
  }
  return false
}

type Limits = Pick<AllowedSigner, 'namespaces' | 'validAfterMs' | 'validBeforeMs'>

function readOptions(text: string): Limits & { readonly isAuthority: boolean } {
  const given = splitOptions(text)
  for (const [option, value] of given) assertOption(option, value)
  const namespaces = given.get('namespaces')
  const [after, before] = [given.get('valid-after'), given.get('valid-before')]
  const [validAfterMs, validBeforeMs] = [timeOf(after), timeOf(before)]
  if ((validBeforeMs ?? Infinity) <= (validAfterMs ?? 0)) throw bad('ends before it begins')
  return {
    isAuthority: given.has('cert-authority'),
    ...(namespaces === undefined ? {} : { namespaces }),
    ...(validAfterMs === undefined ? {} : { validAfterMs }),
    ...(validBeforeMs === undefined ? {} : { validBeforeMs }),
  }
}

function splitOptions(text: string): ReadonlyMap<string, string | undefined> {
  const given = new Map<string, string | undefined>()
  let rest = text
  while (rest !== '') {
    const [whole, name = '', value] = OPTION.exec(rest) ?? []
    if (whole === undefined || (whole === rest && whole.endsWith(','))) {
      throw bad('has options of another form')
    }
    const option = name.toLowerCase()
    if (given.has(option)) throw bad(`has the option ${option} twice`)
    given.set(option, value)
    rest = rest.slice(whole.length)
  }
  return given
}

function assertOption(option: string, value: string | undefined): void {
  const isKnown = ['cert-authority', 'namespaces', 'valid-after', 'valid-before'].includes(option)
  if (!isKnown) throw bad('has an option that is not known')
  if ((value === undefined) === (option === 'cert-authority')) return
  throw bad(`has the option ${option} ${value === undefined ? 'without' : 'with'} a value`)
}

/** A time without Z is one of this machine's zone, as OpenSSH has it. */
function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const parts = TIME.exec(text)
  if (parts === null) throw bad('has a date of another form than YYYYMMDD[HHMM[SS]][Z]')
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  const isUtc = parts[7] === 'Z'
  const utcMs = Date.UTC(year, month - 1, day, hour, minute, second)
  const shown = new Date(utcMs).toISOString().replaceAll(/[-:T]|\..*/g, '')
  if (!shown.startsWith(text.replace('Z', ''))) throw bad('has a date that no calendar has')
  const ms = isUtc ? utcMs : new Date(year, month - 1, day, hour, minute, second).getTime()
  if (!(ms > 0)) throw bad('has a date before 1970')
  return ms
}

function bad(problem: string): KeyError {
  return new KeyError('HSTORE_KEY_INVALID', problem)
}
