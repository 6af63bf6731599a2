import path from 'node:path'
import { expect, it } from 'vitest'
import { seal } from '../../../src/entry/seal.ts'
import { rowOf } from '../../../src/entry/row.ts'
import type { Payload } from '../../../src/entry/entry.ts'
import type { QuarantineLimits } from '../../../src/sync/arrivals.ts'
import { DirectoryTransport } from '../../../src/sync/directory-transport.ts'
import { Quarantine } from '../../../src/sync/quarantine.ts'
import { noMarks } from '../../../src/sync/remote-marks.ts'
import type { SessionReport } from '../../../src/sync/session.ts'
import { syncSession } from '../../../src/sync/session.ts'
import { openOwn } from '../../../src/sync/peer.ts'
import { withOwnOf } from '../../../src/sync/sync-with.ts'
import type { Block } from '../../../store/block.ts'
import type { CidText } from '../../../store/cid-text.ts'
import { planRows } from '../../../store/indexes.ts'
import type { RowChange } from '../../../store/commit.ts'
import { rowKey } from '../../../store/keyspace.ts'
import { envelopeOf } from '../../support/envelope.ts'
import { bodyOf, openBelow, signerOf } from '../../support/forge.ts'
import type { TestStore } from '../../support/store.ts'
import { agents, copyStore, makeSharedFolder, makeTestStore, ok } from '../../support/store.ts'

const shared = await makeSharedFolder()
const length = 800
const workspace = 'csag:handoff/far'

/**
 * Writes two chains into a store: what one signer states from its second entry on rests on the last that the other has
 * stated, so that in the order of seq all of it waits.
 */
async function putChains(store: TestStore): Promise<void> {
  await using context = await openBelow(store)
  const blocks: Block[] = []
  const rows = new Map<string, RowChange>()
  const chain = async (agent: string, rest: readonly CidText[]): Promise<CidText> => {
    const signer = await signerOf(store, agent)
    let last: CidText | undefined
    for (let seq = 1; seq <= length; seq++) {
      const parents = seq === 2 ? [...rest] : seq > 2 ? [last!] : []
      const name = `${agent.slice(-1)}${seq}`
      const named = parents.length === 0 ? [] : [names.get(parents[0]!)!]
      const document = envelopeOf({ workspace, revision: name, author: agent, parents: named })
      const body = bodyOf(document)
      const payload: Payload = {
        artifacts: undefined,
        author: agent,
        body: body.cid,
        kind: 'envelope',
        name: (document as { revision: string }).revision,
        parents,
        prev: last === undefined ? [] : [last],
        refs: [],
        roster: context.trust.rosterBody,
        seq,
        shallow: [],
        signer: signer.did,
        source: undefined,
        store: context.trust.genesis,
        stream: `csag:${workspace}`,
        witness: false,
      }
      const { entry, block } = seal(payload, signer)
      const read = (index: RowChange['index'], key: string): readonly string[] | undefined => {
        const planned = rows.get(rowKey(index, key))
        return planned === undefined ? context.db.readRow(index, key) : planned.values
      }
      for (const row of planRows(read, rowOf(entry))) rows.set(rowKey(row.index, row.key), row)
      blocks.push(block, body)
      last = entry.cid
      names.set(last, name)
    }
    return last!
  }
  const names = new Map<CidText, string>()
  const end = await chain(agents.b, [])
  await chain(agents.a, [end])
  await context.db.commit({ blocks, rows: [...rows.values()] })
}

async function pullInto(
  store: TestStore,
  remote: TestStore,
  limits: QuarantineLimits,
): Promise<SessionReport> {
  const context = { folder: store.store, keysFolder: store.keys, waitMs: 20_000 }
  const quarantine = await Quarantine.open(store.store, 'remote', limits)
  try {
    const options = { pull: true, push: false, dryRun: false, nowMs: 1 }
    const wire = new DirectoryTransport(remote.store, 20_000)
    return (
      await syncSession(
        withOwnOf({ open: () => openOwn(context) }),
        wire,
        quarantine,
        noMarks,
        options,
      )
    ).report
  } finally {
    await quarantine.close()
  }
}

it('two signers far ahead of each other do not fill the quarantine', async () => {
  const here = await makeTestStore(path.join(shared, 'here'))
  const there = await copyStore(here, path.join(shared, 'there'))
  await putChains(there)
  // a chain and a half would have to wait otherwise, and a file that only grows holds less than all
  const limits = { sizeBytes: 2_000_000, blocks: 1200 }
  const report = await pullInto(here, there, limits)
  expect(report).toMatchObject({ pulled: 2 * length, unstored: [], behind: 0 })
  expect((await here.run('heads')).out).toBe((await there.run('heads')).out)
  await ok(here.run('fsck'))
}, 120_000)
