import { readKeyFile } from '../keys/key-file.ts'
import type { KeyEntry } from '../keys/key-ring.ts'
import { findKey, listKeys } from '../keys/key-ring.ts'
import { KeyError } from '../keys/errors.ts'
import { privateJwk, publicJwk } from '../keys/jwk.ts'
import { formatOpenSSHKey } from '../keys/openssh.ts'
import { formatOpenSSHPublicKey, parseOpenSSHPublicKey } from '../keys/openssh-public.ts'
import { formatPkcs8 } from '../keys/pkcs8.ts'
import { formatSpki } from '../keys/spki.ts'
import { parseDidKey } from '../keys/did-key.ts'
import type { ImportedKey } from '../keys/openssh.ts'
import { parsePrivateKey } from '../keys/private-key.ts'
import { assertAgent } from './init.ts'
import { newPassphrase } from './init-verb.ts'
import { ArgumentError, assertArgument, assertBytes } from './kernel/errors.ts'
import { givenPassphrase, keepByAgent, keyNotFound, makeKey } from './keyring.ts'

/** A key as `key` reports it. */
export interface KeyReport {
  readonly agent: string
  readonly did: string
  readonly level: 'file' | 'agent'
  readonly path: string
  readonly comment?: string
  /** Whether the file is under a passphrase; absent where it does not show it or ssh-agent keeps the key. */
  readonly encrypted?: boolean
  /** What is wrong with the file; the key can't be used then. */
  readonly problem?: string
}

/** A form in which other tools read a key, public or private. */
export type KeyFormat = (typeof keyFormats)[number]

const keyFormats = ['openssh', 'pem', 'jwk'] as const

type Passphrase = () => Promise<string | undefined>

/** Makes a key for an agent; see `newPassphrase` and `makeKey` for what it throws. */
export async function newKeyFor(
  keys: string,
  agent: string,
  noPassphrase: boolean,
  passphrase: Passphrase,
): Promise<KeyReport> {
  assertDoor(keys, agent)
  assertAgent(agent)
  await assertNone(keys, agent)
  await makeKey(keys, agent, await newPassphrase(noPassphrase, passphrase))
  return showKey(keys, agent)
}

/**
 * Takes over a private key from another tool; the passphrase that opens it protects it here too.
 *
 * @param bytes - A file of OpenSSH, PKCS#8 (PEM) or a JSON Web Key.
 * @param ask - Asked for the passphrase of the new file when the given one has none; `passphrase` when absent.
 *
 * @throws {KeyError} `HSTORE_KEY_EXISTS`, `HSTORE_KEY_INVALID`, `HSTORE_PASSPHRASE_NEEDED`, `HSTORE_PASSPHRASE_WRONG`.
 */
export async function importKey(
  keys: string,
  agent: string,
  bytes: Uint8Array,
  noPassphrase: boolean,
  passphrase: Passphrase,
  ask: Passphrase = passphrase,
): Promise<KeyReport> {
  assertDoor(keys, agent)
  assertAgent(agent)
  await assertNone(keys, agent)
  const { key, opened } = await unlock(bytes, passphrase)
  const { seed, comment } = key
  const kept = comment === '' ? { seed } : { seed, comment }
  const given = opened === undefined ? ask : async (): Promise<string> => opened
  await makeKey(keys, agent, await newPassphrase(noPassphrase, given), kept)
  return showKey(keys, agent)
}

/**
 * Takes over a key that ssh-agent keeps: hstore writes down its public half and never reads the other one. ssh-agent
 * makes a trial signature first.
 *
 * @param bytes - The public key as OpenSSH writes it, one line.
 * @param sshAgent - The agent's socket, as SSH_AUTH_SOCK names it.
 * @throws {KeyError} `HSTORE_KEY_EXISTS`, `HSTORE_KEY_INVALID`, `HSTORE_SSH_AGENT_MISSING`,
 * `HSTORE_SSH_AGENT_REFUSED`.
 */
export async function importAgentKey(
  keys: string,
  agent: string,
  bytes: Uint8Array,
  sshAgent: string | undefined,
): Promise<KeyReport> {
  assertDoor(keys, agent)
  assertBytes('bytes', bytes)
  assertAgent(agent)
  await assertNone(keys, agent)
  await keepByAgent(keys, agent, parseOpenSSHPublicKey(bytes), sshAgent)
  return showKey(keys, agent)
}

/** Returns every key in the folder, sorted by agent. */
export async function allKeys(keys: string): Promise<readonly KeyReport[]> {
  assertArgument('keys', keys, 'string')
  return (await listKeys(keys)).map(reportOf)
}

/**
 * Returns one agent's key.
 *
 * @throws {KeyError} `HSTORE_KEY_NOT_FOUND`, with a hint where one known agent's id ends in `/` and this name.
 */
export async function showKey(keys: string, agent: string): Promise<KeyReport> {
  assertDoor(keys, agent)
  const entry = await findKey(keys, agent)
  if (entry !== undefined) return reportOf(entry)
  throw await keyNotFound(keys, agent)
}

/**
 * Returns an agent's public key as text: a line of OpenSSH, PEM (SubjectPublicKeyInfo), a JSON Web Key on one line, or
 * the did:key.
 *
 * @throws {KeyError} `HSTORE_KEY_NOT_FOUND`; `HSTORE_KEY_INVALID` when the file does not show it.
 */
export async function exportKey(
  keys: string,
  agent: string,
  format: KeyFormat | 'did' = 'openssh',
): Promise<string> {
  const { did, comment, problem } = await showKey(keys, agent)
  assertFormat(format, [...keyFormats, 'did'])
  if (did === '')
    throw new KeyError('HSTORE_KEY_INVALID', problem ?? `the key of ${agent} can't be read`)
  const publicKey = parseDidKey(did)
  if (format === 'did') return `${did}\n`
  if (format === 'pem') return formatSpki(publicKey)
  if (format === 'jwk') return `${JSON.stringify(publicJwk(publicKey))}\n`
  return formatOpenSSHPublicKey(publicKey, comment ?? agent)
}

/**
 * Returns an agent's private key as text, unencrypted: an OpenSSH file, PEM (PKCS#8) or a JSON Web Key on one line.
 *
 * @throws {KeyError} `HSTORE_KEY_NOT_FOUND`, `HSTORE_KEY_EXPOSED`, `HSTORE_KEY_INVALID`, `HSTORE_PASSPHRASE_NEEDED`,
 * `HSTORE_PASSPHRASE_WRONG`.
 */
export async function exportSecretKey(
  keys: string,
  agent: string,
  format: KeyFormat,
  passphrase: Passphrase,
): Promise<string> {
  const { path, comment, encrypted, level } = await showKey(keys, agent)
  assertFormat(format, keyFormats)
  if (level === 'agent') {
    const why = `ssh-agent keeps the key of ${agent}, and gives it to nobody`
    throw new KeyError('HSTORE_KEY_INVALID', why)
  }
  const isLocked = encrypted === true
  const given = isLocked ? await givenPassphrase(`the key of ${agent}`, passphrase) : undefined
  const { seed } = await readKeyFile(path, given)
  if (format === 'pem') return formatPkcs8(seed)
  if (format === 'jwk') return `${JSON.stringify(privateJwk(seed))}\n`
  return formatOpenSSHKey(seed, comment ?? agent)
}

function assertFormat(format: unknown, known: readonly string[]): void {
  if (known.includes(format as string)) return
  throw new ArgumentError(`format: wanted one of ${known.join(', ')}`)
}

function assertDoor(keys: unknown, agent: unknown): void {
  assertArgument('keys', keys, 'string')
  assertArgument('agent', agent, 'string')
}

/** A key out of a file, and the passphrase that opened it where one did. */
async function unlock(
  bytes: Uint8Array,
  passphrase: Passphrase,
): Promise<{ readonly key: ImportedKey; readonly opened: string | undefined }> {
  try {
    return { key: parsePrivateKey(bytes), opened: undefined }
  } catch (error) {
    const isLocked = error instanceof KeyError && error.code === 'HSTORE_PASSPHRASE_NEEDED'
    if (!isLocked) throw error
    const opened = await givenPassphrase('the private key', passphrase)
    return { key: parsePrivateKey(bytes, opened), opened }
  }
}

async function assertNone(keys: string, agent: string): Promise<void> {
  const entry = await findKey(keys, agent)
  if (entry === undefined) return
  throw new KeyError(
    'HSTORE_KEY_EXISTS',
    `${agent} has a key on this machine already (${entry.path}): nothing was changed`,
  )
}

function reportOf({ agent, did, level, path, comment, encrypted, problem }: KeyEntry): KeyReport {
  return {
    agent,
    did: did ?? '',
    level,
    path,
    ...(comment === undefined ? {} : { comment }),
    ...(problem !== undefined ? { problem } : level === 'file' ? { encrypted } : {}),
  }
}
