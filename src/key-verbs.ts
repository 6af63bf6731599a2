import { readKeyFile } from '../keys/key-file.ts'
import type { KeyEntry } from '../keys/key-ring.ts'
import { findKey, keyPath, listKeys } from '../keys/key-ring.ts'
import { KeyError } from '../keys/errors.ts'
import { formatOpenSSHKey } from '../keys/openssh.ts'
import { formatOpenSSHPublicKey } from '../keys/openssh-public.ts'
import { parseDidKey } from '../keys/did-key.ts'
import type { ImportedKey } from '../keys/openssh.ts'
import { parsePrivateKey } from '../keys/private-key.ts'
import { assertAgent } from './init.ts'
import { newPassphrase } from './init-verb.ts'
import { givenPassphrase, makeKey } from './keyring.ts'

/** A key as `key` reports it. */
export interface KeyReport {
  readonly agent: string
  readonly did: string
  readonly level: 'file' | 'agent'
  readonly path: string
  readonly comment?: string
  /** What is wrong with the file; the key can't be used then. */
  readonly problem?: string
}

type Passphrase = () => Promise<string | undefined>

/** Makes a key for an agent; see `newPassphrase` and `makeKey` for what it throws. */
export async function newKeyFor(
  keys: string,
  agent: string,
  noPassphrase: boolean,
  passphrase: Passphrase,
): Promise<KeyReport> {
  assertAgent(agent)
  await assertNone(keys, agent)
  await makeKey(keys, agent, await newPassphrase(noPassphrase, passphrase))
  return showKey(keys, agent)
}

/**
 * Takes over a private key from another tool; the passphrase that opens it protects it here too.
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
  await assertNone(keys, agent)
  const { key, opened } = await unlock(bytes, passphrase)
  const { seed, comment } = key
  const kept = comment === '' ? { seed } : { seed, comment }
  const given = opened === undefined ? ask : async (): Promise<string> => opened
  await makeKey(keys, agent, await newPassphrase(noPassphrase, given), kept)
  return showKey(keys, agent)
}

/** Returns every key in the folder, sorted by agent. */
export async function allKeys(keys: string): Promise<readonly KeyReport[]> {
  return (await listKeys(keys)).map(reportOf)
}

/** Returns one agent's key. Throws `HSTORE_KEY_NOT_FOUND`. */
export async function showKey(keys: string, agent: string): Promise<KeyReport> {
  const entry = await findKey(keys, agent)
  if (entry !== undefined) return reportOf(entry)
  throw new KeyError(
    'HSTORE_KEY_NOT_FOUND',
    `${agent} has no key in ${keys}: make one with hstore key new`,
  )
}

/** Returns an agent's public key as OpenSSH writes it. */
export async function publicKeyText(keys: string, agent: string): Promise<string> {
  const { did, comment, problem } = await showKey(keys, agent)
  if (did === '')
    throw new KeyError('HSTORE_KEY_INVALID', problem ?? `the key of ${agent} can't be read`)
  return formatOpenSSHPublicKey(parseDidKey(did), comment ?? agent)
}

/** Returns an agent's private key in OpenSSH's form, unencrypted. */
export async function privateKeyText(
  keys: string,
  agent: string,
  passphrase: Passphrase,
): Promise<string> {
  const { path, comment } = await showKey(keys, agent)
  const isLocked = (await findKey(keys, agent))?.encrypted === true
  const given = isLocked ? await givenPassphrase(`the key of ${agent}`, passphrase) : undefined
  const { seed } = await readKeyFile(path, given)
  return formatOpenSSHKey(seed, comment ?? agent)
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
  if ((await findKey(keys, agent)) === undefined) return
  throw new KeyError(
    'HSTORE_KEY_EXISTS',
    `${agent} has a key on this machine already (${keyPath(keys, agent)}): nothing was changed`,
  )
}

function reportOf({ agent, did, level, path, comment, problem }: KeyEntry): KeyReport {
  return {
    agent,
    did: did ?? '',
    level,
    path,
    ...(comment === undefined ? {} : { comment }),
    ...(problem === undefined ? {} : { problem }),
  }
}
