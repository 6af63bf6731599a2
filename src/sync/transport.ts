import { realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { HandoffError } from '../errors.ts'
import { bounded, quoted } from '../kernel/shown.ts'
import type { Signer } from '../keyring.ts'
import { folderOf } from '../store-folder.ts'
import { DirectoryTransport } from './directory-transport.ts'
import { assertHttpAddress, HttpTransport } from './http-transport.ts'
import type { Transport } from './protocol.ts'
import { assertSshAddress, SshTransport } from './ssh-transport.ts'

/** Where a remote is looked for. */
export interface TransportOptions {
  readonly cwd: string
  readonly waitMs: number
  /** The store that syncs, which can't be its own remote. */
  readonly own?: string | undefined
  /** The words that call ssh; the system's unless said. */
  readonly ssh?: readonly string[] | undefined
  /** Gives the key that requests over HTTP are signed with. */
  readonly signer?: (() => Promise<Signer | undefined>) | undefined
  /** The agent that `signer` looks for. */
  readonly agent?: string | undefined
}

const idleMs = 60_000

/** Returns a remote's address as it is kept: a folder as an absolute path. */
export function absoluteUrl(url: string, cwd: string): string {
  if (url.startsWith('file:')) return pathOf(url)
  return isFolder(url) ? path.resolve(cwd, url) : url
}

function pathOf(url: string): string {
  try {
    return fileURLToPath(url)
  } catch (cause) {
    const message = `${quoted(url)} is no file:///path of this machine`
    throw new HandoffError('HSTORE_USAGE', message, { cause })
  }
}

/**
 * Checks an address as `absoluteUrl` returns it, without contacting anybody: one that can never work is not to be kept.
 *
 * @throws {HandoffError} `HSTORE_USAGE`.
 */
export async function assertAddress(url: string): Promise<void> {
  if (/^ssh:/i.test(url)) assertSshAddress(url)
  else if (/^https?:/i.test(url)) assertHttpAddress(url)
  else if (!isFolder(url)) throw noAddress(url)
  else await assertNoFile(url)
}

/**
 * Checks that a word that nothing has the name of is not written as scp and git take it.
 *
 * @throws {HandoffError} `HSTORE_USAGE` with the address that is meant.
 */
export async function assertNoScp(given: string, cwd: string): Promise<void> {
  const [, host, folder = ''] = scpForm.exec(given) ?? []
  if (host === undefined) return
  if ((await stat(path.resolve(cwd, given)).catch(() => undefined)) !== undefined) return
  const place = folder.startsWith('/') ? folder : `/~/${folder.replace(/^~\//, '')}`
  const meant = `ssh://${host}${place}`
  const message = `there is no folder ${quoted(given)}: a store on another machine is ${bounded(meant)}`
  throw new HandoffError('HSTORE_USAGE', message)
}

/** `[user@]host:path`; one letter is no host but a drive. */
const scpForm = /^((?:[^/\\:@\s]+@)?[^/\\:@\s]{2,}):(?!\/\/)([^\s].*)$/

function noAddress(url: string): HandoffError {
  const kinds = 'a folder, ssh://host/path or https://host'
  const message = `${quoted(url)} is no address that hstore knows: name ${kinds}`
  return new HandoffError('HSTORE_USAGE', message)
}

async function assertNoFile(file: string): Promise<void> {
  const there = await stat(file).catch(() => undefined)
  if (there === undefined || there.isDirectory()) return
  const message = `${file} is a file, and a remote is a folder or an address: hstore import takes in a CAR file`
  throw new HandoffError('HSTORE_USAGE', message)
}

function isFolder(url: string): boolean {
  return !/^[a-z][a-z0-9+.-]*:\/\//i.test(url)
}

/**
 * Opens the way to a remote.
 *
 * @throws {HandoffError} `HSTORE_USAGE` for an address of no known kind, a file, or the store's own; `HSTORE_REMOTE_FAILED`
 * for a folder that is not there; `HSTORE_STORE_MISSING`.
 */
export async function openTransport(url: string, options: TransportOptions): Promise<Transport> {
  const { cwd, waitMs, own, ssh } = options
  const address = absoluteUrl(url, cwd)
  if (/^ssh:/i.test(address)) return new SshTransport(address, { command: ssh ?? ['ssh'], idleMs })
  if (/^https?:/i.test(address)) {
    const signer = await options.signer?.()
    return new HttpTransport(address, { signer, agent: options.agent, idleMs, clock: Date.now })
  }
  await assertAddress(address)
  if ((await stat(address).catch(() => undefined)) === undefined) {
    const message = `there is no folder ${address}: mount it, or name another`
    throw new HandoffError('HSTORE_REMOTE_FAILED', message)
  }
  const folder = folderOf({ store: address })
  if (own !== undefined && (await real(folder)) === (await real(own)))
    throw new HandoffError('HSTORE_USAGE', `${folder} is this very store: name another`)
  return new DirectoryTransport(folder, waitMs)
}

/** Two paths may lead to one folder. */
async function real(folder: string): Promise<string> {
  return realpath(folder).catch(() => folder)
}
