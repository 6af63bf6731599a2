import { statSync } from 'node:fs'
import path from 'node:path'
import { HandoffError } from '../errors.ts'
import { whyOf } from '../kernel/errno.ts'
import type { Store } from '../open-store.ts'
import type { StoreChoice } from '../store-options.ts'
import { readGiven } from './input.ts'
import type { Io } from './io.ts'
import { UsageError } from './io.ts'
import type { GlobalOptions } from './program.ts'
import { plain } from './render.ts'

/** Returns the folder of keys: --keys, HSTORE_KEYS, or the user's data folder. */
export function keysFolder(io: Io, options: GlobalOptions): string {
  const folder = foundKeysFolder(io, options)
  io.assertKeys?.(folder)
  return folder
}

function foundKeysFolder(io: Io, { keys }: GlobalOptions): string {
  const named = keys ?? set(io.env['HSTORE_KEYS'])
  if (named !== undefined) return assertNoFile(path.resolve(io.cwd, named))
  const data = set(io.env['XDG_DATA_HOME'])
  const home = set(io.env['HOME']) ?? set(io.env['USERPROFILE'])
  if (data === undefined && home === undefined) {
    throw new UsageError('no home folder: name the folder of keys with --keys or HSTORE_KEYS')
  }
  return path.join(data ?? path.join(home ?? '', '.local', 'share'), 'hstore', 'keys')
}

function assertNoFile(folder: string): string {
  if (!isOther(folder)) return folder
  throw new UsageError(`${folder} is no folder: --keys and HSTORE_KEYS name the folder of keys`)
}

/** What can't be looked at is told where it is used. */
function isOther(folder: string): boolean {
  try {
    return !statSync(folder).isDirectory()
  } catch {
    return false
  }
}

/** Returns the agent that acts, where one is named. */
export function namedAgent(io: Io, { as }: GlobalOptions): string | undefined {
  return as ?? set(io.env['HSTORE_AGENT'])
}

/** Returns the named store, where one is. */
export function namedStore(io: Io, { store }: GlobalOptions): string | undefined {
  return store ?? set(io.env['HSTORE_STORE'])
}

/** Returns how long to wait for another process, in ms. */
export function waitMs({ wait }: GlobalOptions): number {
  const seconds = wait === undefined ? 30 : Number(wait)
  if (wait?.trim() !== '' && Number.isFinite(seconds) && seconds >= 0 && seconds <= 86_400)
    return seconds * 1000
  throw new UsageError(`--wait takes seconds from 0 to 86400, not ${JSON.stringify(wait)}`)
}

/** Returns the socket of ssh-agent, where there is one. */
export function sshAgentOf(io: Io): string | undefined {
  return set(io.env['SSH_AUTH_SOCK'])
}

/** Returns what gives the passphrase: --passphrase-file, HSTORE_PASSPHRASE, or the terminal. */
export function passphraseOf(
  io: Io,
  { passphraseFile }: GlobalOptions,
): () => Promise<string | undefined> {
  return async () => {
    if (passphraseFile !== undefined) return readPassphrase(io, passphraseFile)
    return set(io.env['HSTORE_PASSPHRASE']) ?? (await io.askSecret('Passphrase: '))
  }
}

/** Returns what gives the passphrase of a new key file: on a terminal it is asked for twice. */
export function newPassphraseOf(io: Io, options: GlobalOptions): () => Promise<string | undefined> {
  return async () => {
    const isGiven =
      options.passphraseFile !== undefined || set(io.env['HSTORE_PASSPHRASE']) !== undefined
    if (isGiven) return passphraseOf(io, options)()
    const first = await io.askSecret('Passphrase for the new key: ')
    if (first === undefined || first === '') return first
    if ((await io.askSecret('The same again: ')) === first) return first
    throw new UsageError('the two passphrases differ: nothing was made')
  }
}

/** Returns which store the options, the environment or the working directory name, and whose trust counts. */
export function openOptions(
  io: Io,
  options: GlobalOptions,
): Pick<StoreChoice, 'cwd' | 'genesis' | 'keys' | 'open' | 'store' | 'waitMs'> {
  return {
    store: namedStore(io, options),
    cwd: io.cwd,
    keys: keysFolder(io, options),
    waitMs: waitMs(options),
    genesis: options.genesis,
    open: io.openDatabase,
  }
}

/** Returns the words that call ssh: HSTORE_SSH, parted at spaces; undefined for the system's own. */
export function sshOf(io: Io): readonly string[] | undefined {
  return set(io.env['HSTORE_SSH'])
    ?.split(/\s+/)
    .filter((word) => word !== '')
}

/**
 * Opens the store that the options, the environment or the working directory name.
 *
 * @param how - `scans`: all of it is going to be read, in the order of the disk.
 */
export async function openNamed(
  io: Io,
  options: GlobalOptions,
  { scans = false }: Pick<StoreChoice, 'scans'> = {},
): Promise<Store> {
  const wanted: StoreChoice = {
    store: namedStore(io, options),
    cwd: io.cwd,
    keys: keysFolder(io, options),
    agent: namedAgent(io, options),
    passphrase: passphraseOf(io, options),
    sshAgent: sshAgentOf(io),
    waitMs: waitMs(options),
    genesis: options.genesis,
    open: io.openDatabase,
    scans,
  }
  // loaded only here: not every verb needs all that a store can do
  const { openStore } = await import('../open-store.ts')
  const store = await openStore(wanted)
  const agent = wanted.agent ?? store.config.agent
  if (agent !== undefined) await warnOfPassphraseFile(io, options, agent)
  return store
}

/** Says on stderr when --passphrase-file is given and the agent's key file is not encrypted, or ssh-agent keeps the key: nothing reads it then. */
export async function warnOfPassphraseFile(
  io: Io,
  options: GlobalOptions,
  agent: string,
): Promise<void> {
  if (options.passphraseFile === undefined) return
  const { showKey } = await import('../key-verbs.ts')
  const key = await showKey(keysFolder(io, options), agent).catch(() => undefined)
  if (key === undefined || (key.level === 'file' && key.encrypted !== false)) return
  const why = key.level === 'agent' ? 'kept by ssh-agent' : 'not encrypted'
  io.err(`hstore: warning: the key of ${plain(agent)} is ${why}: --passphrase-file was not used\n`)
}

/** Says on stderr that a new agent's id is not of the form that CSAG gives creators: nothing is wrong with it. */
export function hintOfForm(io: Io, agent: string): void {
  if (/^csag:agent\/./.test(agent)) return
  io.err(
    `hstore: hint: put wants ${plain(agent)} in an envelope's created_by; CSAG documents name their creators as csag:agent/NAME\n`,
  )
}

/** Says on stderr when an entry is shown that the roster does not stand behind. */
export async function warnOfStanding(io: Io, store: Store, ref: string): Promise<void> {
  const found = await store.standing(ref)
  if (found === undefined || found.standing === 'valid') return
  io.err(`hstore: warning: ${plain(ref)} is not valid: ${plain(found.why)}\n`)
}

/** Returns how many -n asks for; undefined for all. */
export function countOf(count: unknown): number | undefined {
  if (count === undefined) return undefined
  const number = Number(count)
  if (Number.isInteger(number) && number > 0) return number
  throw new UsageError(`-n takes a whole number from 1 on, not ${JSON.stringify(count)}`)
}

/** `--json` and `-z` are two forms of what is printed. */
export function assertOneForm(options: GlobalOptions & Readonly<Record<string, unknown>>): void {
  if (options.json === true && options['z'] === true) {
    throw new UsageError('--json and -z do not go together')
  }
}

async function readPassphrase(io: Io, file: string): Promise<string> {
  const bytes = await readGiven(io, file, 64 * 1024).catch((cause: unknown) => {
    if (cause instanceof UsageError) throw cause
    throw unreadPassphrase(file, whyOf(cause), cause)
  })
  const passphrase = new TextDecoder().decode(bytes).replace(/\r?\n$/, '')
  if (passphrase !== '') return passphrase
  throw unreadPassphrase(file, 'the passphrase in it is empty: put one in')
}

function unreadPassphrase(file: string, why: string, cause?: unknown): HandoffError {
  return new HandoffError('HSTORE_INPUT_UNREADABLE', `passphrase file ${file}: ${why}`, { cause })
}

/** An empty variable counts as none. */
function set(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}
