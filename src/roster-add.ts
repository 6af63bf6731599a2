import { quoted } from './kernel/shown.ts'
import { isDidKey } from '../keys/did-key.ts'
import type { Signer } from '../keys/signer.ts'
import { encodeForm } from '../store/canonical.ts'
import type { CidText } from '../store/cid-text.ts'
import { cidTextOf } from '../store/cid-text.ts'
import type { Context } from './context.ts'
import { HandoffError } from './errors.ts'
import { assertAgent, assertReadable, newKey, rosterDraft } from './init.ts'
import { compareUtf8 } from './kernel/bytes.ts'
import { append, assertOneRoster } from './put/append.ts'
import { loadTrust } from './trust/load.ts'
import { findForgotten } from './trust/succession.ts'
import { unpinned, writePins } from './trust/pin-file.ts'
import type { Agent, Roster } from './trust/roster.ts'
import { rosterForm } from './trust/roster.ts'
import type { Trust } from './trust/standing.ts'

/**
 * Gives an agent a key, as the next roster version signed by the one root; the same key again changes nothing.
 *
 * @param machine - The name of the machine that the key is on.
 * @returns Whether a version was made.
 * @throws {HandoffError} `HSTORE_ROSTER_CONFLICT` when the key belongs to another agent, the name to another agent's
 * alias, or one signature is not enough; `HSTORE_SIGNER_UNKNOWN` when `signer` is no root; `HSTORE_USAGE` for a
 * malformed agent id or did.
 */
export async function addToRoster(
  context: Context,
  signer: Signer,
  {
    agent,
    did,
    machine,
  }: { readonly agent: string; readonly did: string; readonly machine: string },
): Promise<boolean> {
  assertAgent(agent)
  if (!isDidKey(did))
    throw new HandoffError(
      'HSTORE_USAGE',
      `${quoted(did)} is no did:key: hstore key show prints it`,
    )
  const { roster, rosterBody } = context.trust
  if (isThere(context.trust, agent, did)) return false
  assertRoot(context.trust, signer)
  const next: Roster = {
    ...roster,
    agents: withKey(roster.agents, agent, newKey({ did, level: 'file' }, machine)),
    nonce: undefined,
    prev: rosterBody,
    version: roster.version + 1,
  }
  assertFollows(roster, next)
  const bytes = encodeForm(rosterForm(next))
  const body = { cid: cidTextOf(bytes, 'dag-json'), bytes }
  const parents = (context.db.readRow('bodies', rosterBody) ?? []) as CidText[]
  await append(context, rosterDraft(signer, body, next.version, parents), signer)
  await accept(context)
  if (context.trust.rosterBody === body.cid) return true
  throw new HandoffError(
    'HSTORE_ROSTER_CONFLICT',
    `version ${next.version} was signed and is not accepted: another stands against it`,
  )
}

/** What a reader would refuse is never signed. */
function assertFollows(now: Roster, next: Roster): void {
  assertReadable(next)
  const forgotten = findForgotten(now, next)
  if (forgotten !== undefined) throw new HandoffError('HSTORE_ROSTER_CONFLICT', forgotten)
}

/** Takes over the path that the store's roster entries now give, and pins it beside the keys. */
async function accept(context: Context): Promise<void> {
  const { genesis, path } = context.trust
  const { trust, pins } = await loadTrust(context.db, genesis, { ...unpinned(genesis), path })
  context.trust = trust
  await writePins(context.keysFolder, genesis, pins)
}

function isThere(trust: Trust, agent: string, did: string): boolean {
  const holder = trust.findKey(did)
  if (holder !== undefined && holder.agent.id !== agent) {
    throw new HandoffError(
      'HSTORE_ROSTER_CONFLICT',
      `${did} is a key of ${holder.agent.id} and can't move to ${agent}`,
    )
  }
  const named = trust.roster.agents.find(({ aliases }) => aliases.includes(agent))
  if (named !== undefined) {
    throw new HandoffError(
      'HSTORE_ROSTER_CONFLICT',
      `${agent} is an alias of ${named.id}: add the key to ${named.id}`,
    )
  }
  return holder !== undefined
}

function assertRoot(trust: Trust, signer: Signer): void {
  assertOneRoster(trust)
  const { roster } = trust
  if (!roster.roots.some(({ did }) => did === signer.did)) {
    const roots = roster.roots.map(({ holder, did }) => `${holder} ${did}`).join(', ')
    throw new HandoffError(
      'HSTORE_SIGNER_UNKNOWN',
      `${signer.did} is no root: only ${roots} may change the roster`,
    )
  }
  if (roster.threshold > 1) {
    throw new HandoffError(
      'HSTORE_ROSTER_CONFLICT',
      `the roster needs ${roster.threshold} signatures; roster add makes one`,
    )
  }
}

function withKey(agents: readonly Agent[], id: string, key: Agent['keys'][number]): Agent[] {
  const found = agents.find((agent) => agent.id === id) ?? {
    id,
    aliases: [],
    read: ['*'],
    keys: [],
  }
  const changed = { ...found, keys: [...found.keys, key].sort((a, b) => compareUtf8(a.did, b.did)) }
  return [...agents.filter((agent) => agent.id !== id), changed].sort((a, b) =>
    compareUtf8(a.id, b.id),
  )
}
