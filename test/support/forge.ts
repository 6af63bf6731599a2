import { keyPath } from '../../keys/key-ring.ts'
import type { Signer } from '../../keys/signer.ts'
import { openSigner } from '../../keys/signer.ts'
import { encodeForm } from '../../store/canonical.ts'
import type { JsonForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Block } from '../../store/block.ts'
import { HashedBlock } from '../../store/block.ts'
import { planRows } from '../../store/indexes.ts'
import type { Context } from '../../src/context.ts'
import { openContext } from '../../src/context.ts'
import type { Payload, VerifiedEntry } from '../../src/entry/entry.ts'
import { seal } from '../../src/entry/seal.ts'
import { rosterDraft } from '../../src/init.ts'
import { rowOf } from '../../src/entry/row.ts'
import { append } from '../../src/put/append.ts'
import { rosterEntries } from '../../src/trust/load.ts'
import type { Roster } from '../../src/trust/roster.ts'
import { rosterForm } from '../../src/trust/roster.ts'
import type { TestStore } from './store.ts'

/** Returns the signer of an agent of a test store. */
export function signerOf({ keys }: TestStore, agent: string): Promise<Signer> {
  return openSigner(keyPath(keys, agent), undefined)
}

/** Opens a test store below its verbs. */
export function openBelow({ store, keys }: TestStore): Promise<Context> {
  return openContext({ folder: store, keysFolder: keys, waitMs: 5000 })
}

/** Returns a document as a body block. */
export function bodyOf(document: object): Block {
  return HashedBlock.of(encodeForm(document as JsonForm & object), 'dag-json')
}

/**
 * Puts an entry into a store past all that `put` would refuse, as another store's sync could bring it: well-signed, and
 * in all indexes.
 *
 * @param change - What differs from an envelope without parents that begins its signer's chain.
 * @param by - Who signs it; the agent unless said.
 */
export async function forge(
  store: TestStore,
  agent: string,
  document: object,
  change: Partial<Payload> = {},
  by?: Signer,
): Promise<VerifiedEntry> {
  const signer = by ?? (await signerOf(store, agent))
  await using context = await openBelow(store)
  const { id, revision } = document as { id?: string; revision?: string }
  const body = bodyOf(document)
  const { entry, block } = seal(
    {
      artifacts: undefined,
      author: agent,
      body: body.cid,
      kind: 'envelope',
      name: revision,
      parents: [],
      prev: [],
      refs: [],
      roster: context.trust.rosterBody,
      seq: 1,
      shallow: [],
      signer: signer.did,
      source: undefined,
      store: context.trust.genesis,
      stream: `csag:${id ?? ''}`,
      witness: false,
      ...change,
    },
    signer,
  )
  await context.db.commit({
    blocks: [block, body],
    rows: planRows((index, key) => context.db.readRow(index, key), rowOf(entry)),
  })
  return entry
}

/** Makes the next version of the roster, signed by the merger and accepted, and returns its body's CID. */
export async function amendRoster(
  store: TestStore,
  amend: (roster: Roster) => Partial<Roster>,
  cuts: readonly Block[] = [],
): Promise<CidText> {
  const signer = await signerOf(store, 'csag:agent/merger')
  const before = await openBelow(store)
  const body = await signRoster(before, signer, amend, cuts)
  await before.db.close()
  await using context = await openBelow(store)
  if (context.trust.rosterBody === body) return body
  throw new Error('the roster was not accepted')
}

/** Makes two next versions of the roster, both signed by the merger, as two clones would, and returns their entries. */
export async function forkRoster(store: TestStore): Promise<readonly CidText[]> {
  const signer = await signerOf(store, 'csag:agent/merger')
  await using context = await openBelow(store)
  for (const machine of ['one', 'two']) {
    await signRoster(context, signer, ({ agents }) => ({
      agents: agents.map((agent) => ({
        ...agent,
        keys: agent.keys.map((key) => ({ ...key, machine })),
      })),
    }))
  }
  return (await rosterEntries(context.db)).slice(-2)
}

/** Signs a next version of the roster past all that verbs would refuse, and returns its body's CID. */
export async function signRoster(
  context: Context,
  signer: Signer,
  amend: (roster: Roster) => Partial<Roster>,
  cuts: readonly Block[] = [],
): Promise<CidText> {
  const { roster, rosterBody } = context.trust
  const base = { ...roster, nonce: undefined, prev: rosterBody, version: roster.version + 1 }
  const body = HashedBlock.of(encodeForm(rosterForm({ ...base, ...amend(base) })), 'dag-json')
  const parents = (context.db.readRow('bodies', rosterBody) ?? []) as CidText[]
  const draft = rosterDraft(signer, body, base.version, parents, cuts)
  await append(context, draft, signer)
  return body.cid
}
