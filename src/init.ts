import { quoted } from './kernel/shown.ts'
import { randomBytes } from 'node:crypto'
import { keyPath } from '../keys/key-ring.ts'
import type { Signer } from '../keys/signer.ts'
import { encodeForm } from '../store/canonical.ts'
import type { Block } from '../store/block.ts'
import type { CidText } from '../store/cid-text.ts'
import { cidTextOf } from '../store/cid-text.ts'
import type { Database } from '../store/database.ts'
import { openDatabase } from '../store/database.ts'
import { parseEntryKey } from '../store/keyspace.ts'
import { decodeEntry } from './entry/decode.ts'
import type { VerifiedEntry } from './entry/entry.ts'
import { findVerified } from './entry/verify.ts'
import { isAgentId } from './entry/text.ts'
import { makeContext } from './context.ts'
import { whyUnwritten } from './kernel/errno.ts'
import { makeFolder } from './kernel/files.ts'
import { HandoffError } from './errors.ts'
import { append } from './put/append.ts'
import type { Draft } from './put/draft.ts'
import { hasConfig, readConfig, writeConfig } from './store-folder.ts'
import { groundOf } from './trust/ground.ts'
import { readMarkSecret, unpinned, writePins } from './trust/pin-file.ts'
import { readRoster } from './trust/read-roster.ts'
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
  const { folder, keysFolder, agent, signer, waitMs } = options
  assertAgent(agent)
  await assertNoStore(folder)
  await makeFolder(folder, 0o700).catch((cause: unknown) => {
    throw new HandoffError(
      'HSTORE_OUTPUT_UNWRITABLE',
      `${folder} can't be made: ${whyUnwritten(cause)}`,
      {
        cause,
      },
    )
  })
  await using db = await openDatabase(folder, { waitMs, create: true })
  await assertNoStore(folder) // another init may have been quicker
  const secret = await readMarkSecret(keysFolder)
  const cutShort = await findCutShort(db, folder, signer)
  const genesis = cutShort ?? (await sealGenesis(options, db, secret))
  await writePins(keysFolder, genesis, unpinned(genesis))
  await writeConfig(folder, { format: 1, genesis, agent })
  return { genesis }
}

async function sealGenesis(
  { folder, keysFolder, agent, signer, machine }: InitOptions,
  db: Database,
  secret: Uint8Array,
): Promise<CidText> {
  const roster = firstRoster(agent, signer, machine)
  assertReadable(roster)
  const bytes = encodeForm(rosterForm(roster))
  const genesis = cidTextOf(bytes, 'dag-json')
  const config = { format: 1, genesis, agent } as const
  const trust = new Trust({
    genesis,
    path: [genesis],
    roster,
    fork: [],
    chosen: null,
    beside: [],
    freezes: [],
    ground: groundOf(db),
  })
  const context = makeContext({ folder, keysFolder, config, db, secret, trust })
  await append(context, rosterDraft(signer, { cid: genesis, bytes }, 0, []), signer)
  return genesis
}

function firstRoster(agent: string, signer: Signer, machine: string): Roster {
  return {
    agents: [{ id: agent, aliases: [], read: ['*'], keys: [newKey(signer, machine)] }],
    format: 1,
    nonce: randomBytes(16),
    prev: undefined,
    roots: [{ did: signer.did, holder: agent }],
    threshold: 1,
    version: 0,
  }
}

/** Returns the genesis that this key's earlier init signed, when a crash kept it from writing the configuration. */
async function findCutShort(
  db: Database,
  folder: string,
  signer: Signer,
): Promise<CidText | undefined> {
  const streams = new Set<string>()
  const entries: VerifiedEntry[] = []
  for await (const { key } of db.rows('entries', '')) {
    const { stream, cid } = parseEntryKey(key)
    streams.add(stream)
    const entry = findVerified(decodeEntry(cid, await db.get(cid)))
    if (entry?.signer === signer.did && entry.body === entry.store) entries.push(entry)
    if (streams.size > 1) break
  }
  if (streams.size === 0) return undefined
  const [entry] = entries
  if (streams.size === 1 && entries.length === 1 && entry !== undefined) return entry.body
  throw new HandoffError(
    'HSTORE_OUTPUT_EXISTS',
    `${folder} holds a database but no config.json: run hstore fsck --rebuild there, or name another folder`,
  )
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

/**
 * Returns the draft of a roster entry.
 *
 * @param cuts - The cuts that the roster is the first to name.
 */
export function rosterDraft(
  signer: Signer,
  body: { readonly cid: CidText; readonly bytes: Uint8Array },
  version: number,
  parents: readonly CidText[],
  cuts: readonly Block[] = [],
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
    blocks: cuts,
  }
}

/** Throws `HSTORE_USAGE` when a roster is one that its own reader refuses: the name of a machine may be no name. */
export function assertReadable(roster: Roster): void {
  try {
    readRoster(rosterForm(roster))
  } catch (cause) {
    throw new HandoffError('HSTORE_USAGE', (cause as Error).message, { cause })
  }
}

/** Throws `HSTORE_USAGE` when `agent` can't be a new agent's id, or no key file can be named after it. */
export function assertAgent(agent: string): void {
  if (!isAgentId(agent)) throw noAgent(agent, '1 to 1024 bytes without control characters')
  if (agent.includes(notUtf8)) {
    throw noAgent(agent, 'it holds U+FFFD, which stands for bytes that are no UTF-8')
  }
  try {
    keyPath('', agent)
  } catch (cause) {
    throw new HandoffError('HSTORE_USAGE', (cause as Error).message, { cause })
  }
}

function noAgent(agent: unknown, why: string): HandoffError {
  return new HandoffError('HSTORE_USAGE', `${quoted(String(agent))} is no agent id: ${why}`)
}

/** What decoders put for bytes that they can't read: two ids that differ in bytes would be one. */
const notUtf8 = '\u{fffd}'

async function assertNoStore(folder: string): Promise<void> {
  if (!hasConfig(folder)) return
  const { genesis } = readConfig(folder)
  throw new HandoffError(
    'HSTORE_STORE_EXISTS',
    `${folder} is a store already (genesis ${genesis}): nothing was changed`,
    {
      details: { genesis },
    },
  )
}
