import { HashedBlock } from '../../../store/block.ts'
import { encodeForm } from '../../../store/canonical.ts'
import type { CidText } from '../../../store/cid-text.ts'
import { rosterDraft } from '../../../src/init.ts'
import { append } from '../../../src/put/append.ts'
import { rosterForm } from '../../../src/trust/roster.ts'
import { amendRoster, openBelow, signerOf } from '../../support/forge.ts'
import { agents } from '../../support/store.ts'
import type { TestStore } from '../../support/store.ts'

const { a, merger } = agents

/** Makes agent a a root beside the merger; from then on both have to sign. */
export async function twoRoots(of: TestStore): Promise<void> {
  await amendRoster(of, ({ agents: all, roots }) => ({
    roots: [...roots, { did: all.find(({ id }) => id === a)!.keys[0]!.did, holder: a }].sort(
      (x, y) => (x.did < y.did ? -1 : 1),
    ),
  }))
  await using context = await openBelow(of)
  const { roster, rosterBody } = context.trust
  const version = roster.version + 1
  const next = { ...roster, nonce: undefined, prev: rosterBody, version, threshold: 2 }
  const body = HashedBlock.of(encodeForm(rosterForm(next)), 'dag-json')
  const parents = (context.db.readRow('bodies', rosterBody) ?? []) as CidText[]
  for (const agent of [a, merger]) {
    const signer = await signerOf(of, agent)
    await append(context, rosterDraft(signer, body, version, parents), signer)
  }
}
