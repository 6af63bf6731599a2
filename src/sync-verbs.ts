import type { ContextOptions } from './context.ts'
import { streamPattern } from './graph/stream-names.ts'
import { assertArgument } from './kernel/errors.ts'
import { folderOf, lookAtAddress, readConfig } from './store-folder.ts'
import type { OpenStoreOptions } from './store-options.ts'
import type { Signer } from './keyring.ts'
import { hasKey, openKey } from './keyring.ts'
import type { OpenDatabase } from '../store/database.ts'
import { KeptDatabase } from '../store/kept-database.ts'
import type { Asker } from './resident/asker.ts'
import type { LocalServer } from './resident/listen.ts'
import { serveLocally } from './resident/listen.ts'
import { KeptOpen } from './sync/kept-open.ts'
import type { Peer } from './sync/peer.ts'
import { openOwn } from './sync/peer.ts'
import type { Remote } from './sync/remotes.ts'
import { Remotes } from './sync/remotes.ts'
import type { SessionOptions } from './sync/session.ts'
import type { SyncReport } from './sync/sync-with.ts'
import { syncWith } from './sync/sync-with.ts'
import type { HttpServeOptions, HttpServer } from './sync/http-listen.ts'
import { serveHttp } from './sync/serve-http.ts'
import type { Pipes } from './sync/serve-stdio.ts'
import { serveStdio } from './sync/serve-stdio.ts'
import type { TransportOptions } from './sync/transport.ts'
import { absoluteUrl, assertAddress, assertNoScp } from './sync/transport.ts'
import { tipsIn } from './sync/trees.ts'
import { fitsPattern } from './trust/roster.ts'

export { cloneStore } from './sync/clone.ts'
export type { CloneOptions, CloneReport } from './sync/clone.ts'
export type { ProgressState } from './sync/progress.ts'
export type { Remote } from './sync/remotes.ts'
export type { HttpServeOptions, HttpServer } from './sync/http-listen.ts'
export type { Pipes } from './sync/serve-stdio.ts'
export type { SyncReport } from './sync/sync-with.ts'

/** Which store, and whose trust. No `Store` of this process may hold it. */
export type ClosedStoreOptions = Pick<
  OpenStoreOptions,
  'cwd' | 'genesis' | 'keys' | 'store' | 'waitMs'
>

/** How a store is synced: both ways unless `pull` or `push` is false. */
export type SyncStoreOptions = ClosedStoreOptions &
  SessionOptions &
  Pick<OpenStoreOptions, 'agent' | 'passphrase' | 'sshAgent'> &
  Pick<TransportOptions, 'ssh'>

/** Syncs a store with a remote, by its name or address: see `syncWith`. */
export async function syncStore(
  remote: string | undefined,
  options: SyncStoreOptions,
): Promise<SyncReport> {
  const cwd = options.cwd ?? '.'
  const context = await contextOptionsOf(options)
  const agent = options.agent ?? readConfig(context.folder).agent
  const signer = signerOf({ ...options, agent })
  return syncWith(remote, { ...options, ...context, cwd, signer, agent })
}

/** Returns this user's remotes of a store. */
export async function listRemotes(options: ClosedStoreOptions): Promise<readonly Remote[]> {
  return (await remotesOf(options)).list()
}

/** Adds a remote; a folder is kept by its absolute path. Throws `HSTORE_REMOTE_EXISTS`, `HSTORE_USAGE`. */
export async function addRemote(
  name: string,
  url: string,
  options: ClosedStoreOptions,
): Promise<Remote> {
  assertArgument('name', name, 'string')
  assertArgument('url', url, 'string')
  await assertNoScp(url, options.cwd ?? '.')
  const remote = { name, url: absoluteUrl(url, options.cwd ?? '.') }
  await assertAddress(remote.url)
  await (await remotesOf(options)).add(remote)
  return remote
}

/** Removes a remote; throws `HSTORE_REMOTE_UNKNOWN`. */
export async function removeRemote(name: string, options: ClosedStoreOptions): Promise<void> {
  await (await remotesOf(options)).remove(name)
}

/** Answers a client over a pair of pipes until they end; the store is open only while it is read or written. */
export async function serveOverPipes(options: ClosedStoreOptions, pipes: Pipes): Promise<void> {
  const context = await contextOptionsOf(options)
  readConfig(context.folder, lookAtAddress)
  await using kept = new KeptOpen(context.folder, () => openOwn(context))
  await serveStdio({ directory: context.folder, open: () => kept.open() }, pipes)
}

/**
 * Does verbs for other processes of this user, until the server is closed: see `serveLocally`.
 *
 * @param build - Which build this is.
 */
export async function serveOverSocket(
  options: ClosedStoreOptions,
  build: string,
  answer: (asker: Asker, open: OpenDatabase) => Promise<number | undefined>,
): Promise<LocalServer> {
  const context = await contextOptionsOf(options)
  // whose store it is has to be accepted before anything is done in it
  await (await openOwn(context))[Symbol.asyncDispose]()
  const kept = new KeptDatabase()
  const open: OpenDatabase = (...of) => kept.open(...of)
  const server = await serveLocally({
    ...context,
    build,
    answer: (asker) => answer(asker, open),
  })
  return {
    socket: server.socket,
    close: async () => {
      await server.close()
      await kept[Symbol.asyncDispose]()
    },
  }
}

/** Serves a store over HTTP until the server is closed: see `serveHttp`. Throws also `HSTORE_REF_AMBIGUOUS` for a public stream. */
export async function serveOverHttp(
  options: ClosedStoreOptions,
  listen: HttpServeOptions,
): Promise<HttpServer> {
  const context = await contextOptionsOf(options)
  // whose store it is has to be accepted before anybody is answered
  const kept = new KeptOpen(context.folder, () => openOwn(context))
  const publicStreams = await publicIn(kept, listen)
  const served = { directory: context.folder, open: () => kept.open() }
  const server = await serveHttp(served, { ...listen, publicStreams })
  return {
    url: server.url,
    close: async () => {
      await server.close()
      await kept[Symbol.asyncDispose]()
    },
  }
}

/** Names are looked up once: a stream that comes later changes nothing of what anybody may read. */
async function publicIn(
  store: { open(): Promise<Peer> },
  { onAbsent, publicStreams }: HttpServeOptions,
): Promise<readonly string[]> {
  await using own = await store.open()
  if (publicStreams.length === 0) return publicStreams
  const streams = [...(await tipsIn(own.db)).keys()]
  return publicStreams.map((text) => {
    const pattern = streamPattern(streams, text)
    if (!streams.some((stream) => fitsPattern([pattern], stream))) onAbsent?.(text)
    return pattern
  })
}

/** Returns what opens an agent's key, where it has one: a remote over HTTP wants to know who asks. */
export function signerOf({
  agent,
  keys,
  passphrase,
  sshAgent,
}: Pick<OpenStoreOptions, 'agent' | 'keys' | 'passphrase' | 'sshAgent'>): () => Promise<
  Signer | undefined
> {
  return async () => {
    if (agent === undefined || !(await hasKey(keys, agent))) return undefined
    return openKey(keys, agent, passphrase ?? (async () => undefined), sshAgent)
  }
}

async function remotesOf(options: ClosedStoreOptions): Promise<Remotes> {
  const context = await contextOptionsOf(options)
  const { genesis } = readConfig(context.folder)
  // whose store it is has to be accepted before anything is said of it
  await (await openOwn(context))[Symbol.asyncDispose]()
  return Remotes.open(context.folder, context.keysFolder, genesis)
}

async function contextOptionsOf(options: ClosedStoreOptions): Promise<ContextOptions> {
  assertArgument('options', options, 'object')
  assertArgument('keys', options.keys, 'string')
  const { genesis, keys: keysFolder, waitMs = 30_000 } = options
  return { folder: folderOf(options), keysFolder, waitMs, genesis }
}
