import { randomBytes } from 'node:crypto'
import { KeyError } from '../keys/errors.ts'
import { createKeyFile } from '../keys/key-file.ts'
import { createKeyReference } from '../keys/key-reference.ts'
import { findAgentKey, findKey, keyPath, keyReferencePath, listKeys } from '../keys/key-ring.ts'
import type { OpenSSHPublicKey } from '../keys/openssh-public.ts'
import type { Signer } from '../keys/signer.ts'
import { openSigner } from '../keys/signer.ts'
import { openAgentSigner, tryAgentSigner } from '../keys/ssh-agent.ts'
import { HandoffError } from './errors.ts'
import { whyUnwritten } from './kernel/errno.ts'
import { assertAgent } from './init.ts'

export type { Signer } from '../keys/signer.ts'

/**
 * Makes a key file for an agent on this machine and returns its signer.
 *
 * @param passphrase - Undefined for a key file without one.
 * @throws {KeyError} `HSTORE_KEY_EXISTS` when the agent has a key here.
 * @throws {HandoffError} `HSTORE_OUTPUT_UNWRITABLE` when the folder can't be written.
 */
export async function makeKey(
  keysFolder: string,
  agent: string,
  passphrase: string | undefined,
  {
    seed = randomBytes(32),
    comment = agent,
  }: { readonly seed?: Uint8Array; readonly comment?: string } = {},
): Promise<Signer> {
  assertAgent(agent)
  const path = keyPath(keysFolder, agent)
  await written(path, createKeyFile(path, seed, passphrase, comment))
  return openSigner(path, passphrase)
}

/**
 * Writes down that ssh-agent keeps an agent's key, once ssh-agent has signed with it.
 *
 * @param sshAgent - As SSH_AUTH_SOCK names it.
 * @throws {KeyError} `HSTORE_KEY_EXISTS` when the agent has a key here; `HSTORE_SSH_AGENT_MISSING`,
 * `HSTORE_SSH_AGENT_REFUSED`.
 * @throws {HandoffError} `HSTORE_OUTPUT_UNWRITABLE` when the folder can't be written.
 */
export async function keepByAgent(
  keysFolder: string,
  agent: string,
  key: OpenSSHPublicKey,
  sshAgent: string | undefined,
): Promise<void> {
  assertAgent(agent)
  tryAgentSigner(openAgentSigner(key.publicKey, sshAgent))
  const path = keyReferencePath(keysFolder, agent)
  await written(path, createKeyReference(path, key))
}

async function written(path: string, work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (cause) {
    if (cause instanceof KeyError) throw cause
    throw new HandoffError(
      'HSTORE_OUTPUT_UNWRITABLE',
      `${path} can't be written: ${whyUnwritten(cause)}`,
      { cause },
    )
  }
}

/**
 * Opens an agent's key.
 *
 * @param passphrase - Asked for only when the key file is encrypted.
 * @param sshAgent - As SSH_AUTH_SOCK names it; asked only for a key that ssh-agent keeps.
 * @throws {KeyError} `HSTORE_KEY_NOT_FOUND`, `HSTORE_KEY_EXPOSED`, `HSTORE_KEY_INVALID`, `HSTORE_PASSPHRASE_NEEDED`,
 * `HSTORE_PASSPHRASE_WRONG`, `HSTORE_SSH_AGENT_MISSING`, `HSTORE_SSH_AGENT_REFUSED`.
 */
export async function openKey(
  keysFolder: string,
  agent: string,
  passphrase: () => Promise<string | undefined>,
  sshAgent: string | undefined,
): Promise<Signer> {
  const path = keyPath(keysFolder, agent)
  const kept = await findAgentKey(keysFolder, agent)
  if (kept !== undefined) return openAgentSigner(kept.publicKey, sshAgent)
  try {
    return await openSigner(path, undefined)
  } catch (cause) {
    if (!(cause instanceof KeyError)) throw cause
    if (cause.code === 'HSTORE_KEY_NOT_FOUND') {
      throw await keyNotFound(keysFolder, agent, cause)
    }
    if (cause.code !== 'HSTORE_PASSPHRASE_NEEDED') throw cause
    return openSigner(path, await givenPassphrase(`the key of ${agent}`, passphrase))
  }
}

/** Returns the error for an agent without a key; where it may be the end of one known agent's id, it names that one. */
export async function keyNotFound(
  keysFolder: string,
  agent: string,
  cause?: KeyError,
): Promise<KeyError> {
  const known = (await listKeys(keysFolder)).map((entry) => entry.agent)
  const [meant, ...more] = known.filter((id) => id.endsWith(`/${agent}`))
  const isOne = meant !== undefined && more.length === 0
  const hint = isOne ? `did you mean ${meant}? If not, make one` : 'make one'
  return new KeyError(
    'HSTORE_KEY_NOT_FOUND',
    `${agent} has no key in ${keysFolder}: ${hint} with hstore key new ${agent}`,
    { cause },
  )
}

/**
 * Returns the passphrase that a locked key needs.
 *
 * @throws {KeyError} `HSTORE_PASSPHRASE_NEEDED` when none is to be had.
 */
export async function givenPassphrase(
  what: string,
  passphrase: () => Promise<string | undefined>,
): Promise<string> {
  const given = await passphrase()
  if (given !== undefined) return given
  throw new KeyError(
    'HSTORE_PASSPHRASE_NEEDED',
    `${what} is under a passphrase: give it with --passphrase-file FILE or HSTORE_PASSPHRASE`,
  )
}

/** Returns whether an agent has a key in the folder. */
export async function hasKey(keysFolder: string, agent: string): Promise<boolean> {
  return (await findKey(keysFolder, agent)) !== undefined
}
