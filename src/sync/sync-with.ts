import type { ContextOptions } from '../context.ts'
import { readConfig } from '../store-folder.ts'
import { fitsPattern } from '../trust/roster.ts'
import { findRemote } from './find-remote.ts'
import { KeptOpen } from './kept-open.ts'
import type { Peer, SettledPeer } from './peer.ts'
import { openOwn } from './peer.ts'
import { Quarantine } from './quarantine.ts'
import type { WithOwn } from './reconcile.ts'
import { readMarks, writeMarks } from './remote-marks.ts'
import { Remotes } from './remotes.ts'
import type { SessionOptions, SessionReport, Vanished } from './session.ts'
import { syncSession } from './session.ts'
import type { TransportOptions } from './transport.ts'
import { openTransport } from './transport.ts'

/** How a store is synced. */
export interface SyncOptions
  extends ContextOptions, SessionOptions, Pick<TransportOptions, 'agent' | 'signer' | 'ssh'> {
  /** Where a remote's folder is looked for. */
  readonly cwd: string
}

/** What a sync with one remote did. */
export interface SyncReport extends SessionReport {
  /** The remote's name, or its address where it has none. */
  readonly remote: string
  readonly url: string
  /** 0, or 9 when the remote lost what it had, or gave what is lost or false. */
  readonly exit: 0 | 9
}

/**
 * Syncs a store with a remote, by its name or address; without one, with the only remote, or with `origin`. The database
 * is open only while something is read from it or written to it, never while the remote is waited for.
 *
 * @throws {HandoffError} `HSTORE_REMOTE_UNKNOWN`; what `syncSession` and `openContext` throw.
 */
export async function syncWith(
  remote: string | undefined,
  options: SyncOptions,
): Promise<SyncReport> {
  const { folder, keysFolder, cwd, waitMs, ssh, signer, agent } = options
  const { genesis } = readConfig(folder)
  await using kept = new KeptOpen(folder, () => openOwn(options))
  // the user's trust is asked for before anybody is contacted
  await (await kept.open())[Symbol.asyncDispose]()
  const remotes = await Remotes.open(folder, keysFolder, genesis)
  const { name, url } = await findRemote(await remotes.list(), remote, cwd)
  await using transport = await openTransport(url, { cwd, waitMs, own: folder, ssh, signer, agent })
  const quarantine = await Quarantine.open(folder, url)
  try {
    const marks = await readMarks(keysFolder, genesis, url)
    const done = await syncSession(withOwnOf(kept), transport, quarantine, marks, options)
    const vanished = await unshownLeftOut(kept, url, agent, done.report.vanished)
    // nothing is asked any more: both sides close while it is noted what they have
    await Promise.all([
      options.dryRun ? undefined : writeMarks(keysFolder, genesis, url, done.marks),
      kept[Symbol.asyncDispose](),
      transport[Symbol.asyncDispose](),
    ])
    const { unstored } = done.report
    const isFaulty = unstored.some(({ fate }) => fate !== 'parked')
    const exit = isFaulty || vanished.length > 0 ? 9 : 0
    return { remote: name, url, ...done.report, vanished, exit }
  } finally {
    await quarantine.close()
  }
}

/** Leaves out what is of streams that the roster lets the agent read no more: over HTTP they are not shown. */
async function unshownLeftOut(
  store: { open(): Promise<SettledPeer> },
  url: string,
  agent: string | undefined,
  vanished: readonly Vanished[],
): Promise<readonly Vanished[]> {
  if (vanished.length === 0 || !/^https?:/.test(url)) return vanished
  await using own = await store.open()
  const read = own.trust.roster.agents.find(({ id }) => id === agent)?.read
  return vanished.filter(
    ({ stream }) => read === undefined || stream === 'roster' || fitsPattern(read, stream),
  )
}

/** Returns what opens the store for one step at a time. */
export function withOwnOf(store: { open(): Promise<Peer> }): WithOwn {
  return async (use) => {
    await using own = await store.open()
    return await use(own)
  }
}
