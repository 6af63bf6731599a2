import path from 'node:path'
import { readdir } from 'node:fs/promises'
import { HandoffError } from './errors.ts'
import { whyUnwritten } from './kernel/errno.ts'
import { assertArgument } from './kernel/errors.ts'
import { assertAgent, initStore } from './init.ts'
import { KeyError } from '../keys/errors.ts'
import type { Signer } from './keyring.ts'
import { hasKey, makeKey, openKey } from './keyring.ts'
import { hasConfig, readConfig } from './store-folder.ts'

/** How a store is made with whatever it needs. */
export interface InitStoreOptions {
  /** The store's folder; `.hstore` in `cwd` when absent. */
  readonly store?: string | undefined
  readonly cwd: string
  readonly keys: string
  readonly agent: string
  readonly machine: string
  readonly waitMs: number
  /** Whether a new key file gets no passphrase. */
  readonly noPassphrase: boolean
  readonly passphrase: () => Promise<string | undefined>
  /** Asked for the passphrase of a new key file; `passphrase` when absent. */
  readonly newPassphrase?: (() => Promise<string | undefined>) | undefined
  /** The socket of ssh-agent, as SSH_AUTH_SOCK names it; asked where it keeps the agent's key. */
  readonly sshAgent?: string | undefined
}

/** What `init` gives. */
export interface InitReport {
  readonly store: string
  readonly genesis: string
  readonly agent: string
  readonly did: string
}

/**
 * Makes a store and, where the agent has none on this machine, its key.
 *
 * @throws {HandoffError} `HSTORE_STORE_EXISTS`, `HSTORE_OUTPUT_EXISTS` when the folder holds something else.
 * @throws {KeyError} `HSTORE_PASSPHRASE_NEEDED` when a key has to be made or opened and no passphrase is to be had.
 */
export async function init(options: InitStoreOptions): Promise<InitReport> {
  assertArgument('options', options, 'object')
  for (const name of ['agent', 'cwd', 'keys', 'machine'] as const)
    assertArgument(name, options[name], 'string')
  const { store, cwd, keys, agent, machine, waitMs } = options
  assertAgent(agent)
  const folder = path.resolve(cwd, store ?? '.hstore')
  await assertFree(folder)
  const signer = await keyOf(options)
  const { genesis } = await initStore({ folder, keysFolder: keys, agent, signer, machine, waitMs })
  return { store: folder, genesis, agent, did: signer.did }
}

async function keyOf(options: InitStoreOptions): Promise<Signer> {
  const { keys, agent, noPassphrase, passphrase, sshAgent } = options
  if (await hasKey(keys, agent)) return openKey(keys, agent, passphrase, sshAgent)
  return makeKey(
    keys,
    agent,
    await newPassphrase(noPassphrase, options.newPassphrase ?? passphrase),
  )
}

/**
 * Returns the passphrase for a new key file, undefined for none.
 *
 * @throws {KeyError} `HSTORE_PASSPHRASE_NEEDED` when one is wanted and not to be had.
 */
export async function newPassphrase(
  noPassphrase: boolean,
  passphrase: () => Promise<string | undefined>,
): Promise<string | undefined> {
  if (noPassphrase) return undefined
  const given = await passphrase()
  if (given !== undefined && given !== '') return given
  throw new KeyError(
    'HSTORE_PASSPHRASE_NEEDED',
    'a new key needs a passphrase: give --passphrase-file or HSTORE_PASSPHRASE, or --no-passphrase for an unattended agent',
  )
}

// What an init that was cut short leaves: the next one goes on from there.
const ours =
  /^(?:acknowledged|artifacts|closed|config\.json\..*|db|holder|kept-.*|lock|quarantine|remotes\.json|tmp|wanted)$/

/**
 * Throws `HSTORE_STORE_EXISTS`, `HSTORE_OUTPUT_EXISTS` when a folder can't be a new store's.
 *
 * @param advice - Told of a store that is there.
 */
export async function assertFree(folder: string, advice = ''): Promise<void> {
  if (hasConfig(folder)) {
    const { genesis } = readConfig(folder)
    throw new HandoffError(
      'HSTORE_STORE_EXISTS',
      `${folder} is a store already (genesis ${genesis}): nothing was changed${advice}`,
      {
        details: { genesis },
      },
    )
  }
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw new HandoffError(
      'HSTORE_OUTPUT_UNWRITABLE',
      `${folder} can't be a store: ${whyUnwritten(error)}`,
      { cause: error },
    )
  })
  const other = names.find((name) => !ours.test(name))
  if (other === undefined) return
  throw new HandoffError(
    'HSTORE_OUTPUT_EXISTS',
    `${folder} holds ${other}: name a new or empty folder for the store`,
  )
}
