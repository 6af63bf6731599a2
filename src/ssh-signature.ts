import type { AllowedSigner } from '../keys/allowed-signers.ts'
import { fitsPatterns, formatAllowedSigner, parseAllowedSigners } from '../keys/allowed-signers.ts'
import { formatDidKey, parseDidKey } from '../keys/did-key.ts'
import { KeyError } from '../keys/errors.ts'
import type { SshSignature } from '../keys/sshsig.ts'
import { isSshSigned, parseSshSignature } from '../keys/sshsig.ts'
import { HandoffError } from './errors.ts'
import { equalBytes } from './kernel/bytes.ts'
import { ArgumentError, assertArgument, assertBytes } from './kernel/errors.ts'
import { quoted } from './kernel/shown.ts'

/** What of a roster says who may sign; `store.rosters.show()` gives it. */
export interface SshRoster {
  readonly agents: readonly {
    readonly id: string
    readonly aliases: readonly string[]
    readonly keys: readonly {
      readonly did: string
      readonly machine: string
      readonly grants: readonly { readonly until: string | undefined }[]
    }[]
  }[]
  readonly freezes: readonly { readonly key: string }[]
}

/** Who may sign: a roster, or an allowed_signers file and the time at which it is asked. */
export type SshSigners =
  | { readonly roster: SshRoster }
  | { readonly allowedSigners: Uint8Array; readonly nowMs: number }

/** A file and what is claimed of it. */
export interface SshSigned {
  readonly file: Uint8Array
  /** As `ssh-keygen -Y sign` makes it. */
  readonly signature: Uint8Array
  readonly principal: string
  readonly namespace: string
}

/** A signature that stands, by a key that may sign as the principal. */
export interface SshVerified {
  readonly principal: string
  readonly did: string
  readonly namespace: string
  /** Lines of the file that allow nobody, and dates that were looked at. */
  readonly warnings: readonly string[]
}

/**
 * Checks a file's SSH signature (`ssh-keygen -Y sign`), never more lax than OpenSSH. Dates in an allowed_signers file
 * can refuse and never allow; a roster has none.
 *
 * @throws {KeyError} `HSTORE_SIGNATURE_INVALID` when the signature is none, of another namespace or does not stand;
 * `HSTORE_KEY_INVALID` when the file of signers is above 1 MiB.
 * @throws {HandoffError} `HSTORE_SIGNER_UNKNOWN` when the key may not sign as the principal; the message names the
 * principal that it may sign as.
 */
export function verifySshSignature(signed: SshSigned, signers: SshSigners): SshVerified {
  assertDoor(signed, signers)
  const { file, principal, namespace } = signed
  const signature = parseSshSignature(signed.signature)
  const wanted = latin1(namespace)
  if (signature.namespace !== wanted || wanted === '') {
    const own = quoted(utf8(signature.namespace))
    throw invalid(`the signature is for the namespace ${own}, not for ${quoted(namespace)}`)
  }
  if (!isSshSigned(signature, file)) {
    throw invalid('the signature does not stand: the file is not what was signed')
  }
  const did = formatDidKey(signature.publicKey)
  const warnings =
    'roster' in signers
      ? assertInRoster(signers.roster, did, principal)
      : assertInFile(signers, signature, principal)
  return { principal, did, namespace, warnings }
}

/**
 * Returns the keys of a roster as an allowed_signers file: each key with an open grant and no freeze, under its agent's
 * id and aliases. An agent whose names can't stand there is a comment.
 */
export function formatRosterSigners({ agents, freezes }: SshRoster): string {
  const lines = agents.flatMap(({ id, aliases, keys }) =>
    keys
      .filter((key) => isOpen(key, freezes))
      .map(({ did, machine }) => {
        try {
          return formatAllowedSigner([id, ...aliases], parseDidKey(did), machine)
        } catch (error) {
          if (!(error instanceof KeyError)) throw error
          return `# ${quoted(error.message)}\n`
        }
      }),
  )
  return lines.join('')
}

type AgentKey = SshRoster['agents'][number]['keys'][number]

function isOpen({ did, grants }: AgentKey, freezes: SshRoster['freezes']): boolean {
  const isFrozen = freezes.some(({ key }) => key === did)
  return !isFrozen && grants.some(({ until }) => until === undefined)
}

function assertInRoster(
  { agents, freezes }: SshRoster,
  did: string,
  principal: string,
): readonly string[] {
  const owner = agents.find(({ keys }) => keys.some((key) => key.did === did))
  const key = owner?.keys.find((one) => one.did === did)
  if (owner === undefined || key === undefined) throw unknown(`the roster does not know ${did}`)
  if (!isOpen(key, freezes)) {
    throw unknown(`${did} was a key of ${owner.id}: its grants are closed, or it is frozen`)
  }
  const names = [owner.id, ...owner.aliases]
  if (!names.includes(principal)) throw otherName(names.join(', '), principal)
  return []
}

function assertInFile(
  { allowedSigners, nowMs }: { readonly allowedSigners: Uint8Array; readonly nowMs: number },
  { publicKey, namespace }: SshSignature,
  principal: string,
): readonly string[] {
  const { signers, problems } = parseAllowedSigners(allowedSigners)
  const warnings = problems.map(
    ({ line, problem }) => `line ${line} of the signers ${problem}: it allows nobody`,
  )
  const known = signers.filter((signer) => equalBytes(signer.publicKey, publicKey))
  const [first] = known
  if (first === undefined) {
    throw unknown([`the signers do not name ${formatDidKey(publicKey)}`, ...warnings].join('; '))
  }
  const named = known.filter(({ principals }) => fitsPatterns(latin1(principal), principals))
  if (named.length === 0) throw otherName(utf8(first.principals), principal)
  const faults = named.map((signer) => faultOf(signer, namespace, nowMs))
  const allowing = named[faults.indexOf(undefined)]
  if (allowing === undefined) throw unknown(`${principal} may not sign this: ${faults.join('; ')}`)
  const isDated = allowing.validAfterMs !== undefined || allowing.validBeforeMs !== undefined
  const dated = `line ${allowing.line} of the signers has dates: they were held against today, and nobody can tell when the file was signed`
  return isDated ? [...warnings, dated] : warnings
}

function faultOf(signer: AllowedSigner, namespace: string, nowMs: number): string | undefined {
  const { line, namespaces, validAfterMs = -Infinity, validBeforeMs = Infinity } = signer
  if (namespaces !== undefined && !fitsPatterns(namespace, namespaces)) {
    return `line ${line} is for other namespaces`
  }
  // OpenSSH counts whole seconds
  const seconds = Math.floor(nowMs / 1000) * 1000
  if (seconds < validAfterMs) return `line ${line} does not hold yet`
  return seconds > validBeforeMs ? `line ${line} holds no more` : undefined
}

function assertDoor(signed: unknown, signers: unknown): void {
  assertArgument('signed', signed, 'object')
  assertArgument('signers', signers, 'object')
  const { file, signature, principal, namespace } = signed as Record<keyof SshSigned, unknown>
  assertBytes('file', file)
  assertBytes('signature', signature)
  assertArgument('principal', principal, 'string')
  assertArgument('namespace', namespace, 'string')
  if ('roster' in (signers as SshSigners)) return
  const { allowedSigners, nowMs } = signers as Record<string, unknown>
  assertBytes('allowedSigners', allowedSigners)
  if (!Number.isFinite(nowMs)) throw new ArgumentError('nowMs: wanted a time in ms')
}

function otherName(names: string, principal: string): HandoffError {
  return unknown(`the key is known, but as ${quoted(names)}, not ${quoted(principal)}`)
}

function unknown(message: string): HandoffError {
  return new HandoffError('HSTORE_SIGNER_UNKNOWN', message)
}

function invalid(message: string): KeyError {
  return new KeyError('HSTORE_SIGNATURE_INVALID', message)
}

/** OpenSSH compares bytes: a text with one character for each. */
function latin1(text: string): string {
  return Buffer.from(text).toString('latin1')
}

function utf8(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString()
}
