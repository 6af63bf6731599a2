import type { ContextOptions } from './context.ts'
import { HandoffError } from './errors.ts'

/** How a store is opened. */
export interface OpenStoreOptions {
  /** The store's folder, or one with a `.hstore` in it; found upward from `cwd` when absent. */
  readonly store?: string | undefined
  /** Where to look for a store. */
  readonly cwd?: string | undefined
  /** The folder of this user's keys; what the user trusts stands in it too. */
  readonly keys: string
  /** Who acts; the agent that `init` wrote when absent. */
  readonly agent?: string | undefined
  /** Asked when a key file is encrypted. */
  readonly passphrase?: (() => Promise<string | undefined>) | undefined
  /** The socket of ssh-agent, as SSH_AUTH_SOCK names it; asked for keys that it keeps. */
  readonly sshAgent?: string | undefined
  /** How long to wait for another process that holds the store, in ms; 30,000 when absent. */
  readonly waitMs?: number | undefined
  /** The genesis to accept at first contact. */
  readonly genesis?: string | undefined
}

/** How a store is opened by who does one verb after the other: with a database that may be kept open in between, or by one
 * that reads all of it. */
export interface StoreChoice extends OpenStoreOptions {
  readonly open?: ContextOptions['open']
  readonly scans?: ContextOptions['scans']
}

/** How a resume is asked. */
export interface ResumeInput {
  readonly acceptShallow?: readonly string[] | undefined
  readonly full?: boolean | undefined
  /** False: no certificate is signed and no key is needed. */
  readonly certificate?: boolean | undefined
  readonly out?: string | undefined
  /** When, in whole seconds since 1970: whether the offer of a lane can be delivered. None can when absent. */
  readonly now?: number | undefined
}

/** Returns the error for an act of nobody. */
export function agentNeeded(): HandoffError {
  return new HandoffError(
    'HSTORE_AGENT_NEEDED',
    'who acts? name the agent with --as AGENT or HSTORE_AGENT',
  )
}
