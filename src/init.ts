import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import type { Signer } from '../keys/signer.ts'
import { encodeForm } from '../store/canonical.ts'
import type { CidText } from '../store/cid-text.ts'
import { cidTextOf } from '../store/cid-text.ts'
import { openDatabase } from '../store/database.ts'
import { isAgentId } from './entry/text.ts'
import { makeContext } from './context.ts'
import { HandoffError } from './errors.ts'
import { append } from './put/append.ts'
import type { Draft } from './put/draft.ts'
import { hasConfig, readConfig, writeConfig } from './store-folder.ts'
import { readMarkSecret, writePins } from './trust/pin-file.ts'
import type { AgentKey, Roster } from './trust/roster.ts'
import { rosterForm } from './trust/roster.ts'
import { Trust } from './trust/standing.ts'

/** How a store is made. */
export interface InitOptions {
  /** The `.hstore` folder to make. */
  readonly folder: string
  readonly keysFolder: string
  readonly agent: string
  readonly signer: Signer
  /** The name of this machine, for the roster. */
  readonly machine: string
  readonly waitMs: number
}

/** A new store. */
export interface Made {
  readonly genesis: CidText
}

/**
 * Makes a store whose one root is `agent`: version 0 of the roster, signed, and its genesis accepted by this user.
 * The configuration is written last, so that a crash before leaves no half store.
 *
 * @throws {HandoffError} `HSTORE_STORE_EXISTS` when the folder is a store already: nothing is changed;
 * `HSTORE_USAGE` when `agent` is no agent id.
 */
export async function initStore(options: InitOptions): Promise<Made> {
  const { folder, keysFolder, agent, signer, machine, waitMs } = options
  assertAgent(agent)
  await assertNoStore(folder)
  const roster: Roster = {
    agents: [{ id: agent, aliases: [], read: ['*'], keys: [newKey(signer, machine)] }],
    format: 1,
    nonce: randomBytes(16),
    prev: undefined,
    roots: [{ did: signer.did, holder: agent }],
    threshold: 1,
    version: 0,
  }
  const bytes = encodeForm(rosterForm(roster))
  const genesis = cidTextOf(bytes, 'dag-json')
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw new HandoffError(
      'HSTORE_OUTPUT_UNWRITABLE',
      `${folder} can't be made: ${(cause as Error).message}`,
      { cause },
    )
  })
  await using db = await openDatabase(folder, { waitMs, create: true })
  await assertNoStore(folder) // another init may have been quicker
  const secret = await readMarkSecret(keysFolder)
  const config = { format: 1, genesis, agent } as const
  const trust = new Trust(genesis, { path: [{ body: genesis, roster }], fork: [] })
  const context = makeContext({ folder, keysFolder, config, db, secret, trust })
  await append(context, rosterDraft(signer, { cid: genesis, bytes }, 0, []), signer)
  await writePins(keysFolder, genesis, { path: [genesis] })
  await writeConfig(folder, config)
  return { genesis }
}

/** Returns a key with the grants that `init` and `roster add` give: everything. */
export function newKey(
  signer: { readonly did: string; readonly level: 'file' | 'agent' },
  machine: string,
): AgentKey {
  return {
    did: signer.did,
    level: signer.level,
    machine,
    grants: [{ kinds: ['*'], streams: ['*'], until: undefined }],
  }
}

/** Returns the draft of a roster entry. */
export function rosterDraft(
  signer: Signer,
  body: { readonly cid: CidText; readonly bytes: Uint8Array },
  version: number,
  parents: readonly CidText[],
): Draft {
  return {
    kind: 'roster',
    stream: 'roster',
    author: signer.did,
    body,
    name: String(version),
    parentNames: [],
    parents,
    shallow: [],
    refs: [],
    artifacts: undefined,
    source: undefined,
    witness: false,
    blocks: [],
  }
}

/** Throws `HSTORE_USAGE` when `agent` can't be an agent's id. */
export function assertAgent(agent: string): void {
  if (!isAgentId(agent))
    throw new HandoffError(
      'HSTORE_USAGE',
      `${JSON.stringify(String(agent).slice(0, 80))} is no agent id: 1 to 1024 bytes without control characters`,
    )
}

async function assertNoStore(folder: string): Promise<void> {
  if (!(await hasConfig(folder))) return
  const { genesis } = await readConfig(folder)
  throw new HandoffError(
    'HSTORE_STORE_EXISTS',
    `${folder} is a store already (genesis ${genesis}): nothing was changed`,
    {
      details: { genesis },
    },
  )
}
