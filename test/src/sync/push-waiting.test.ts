import path from 'node:path'
import { expect, it } from 'vitest'
import { Quarantine } from '../../../src/sync/quarantine.ts'
import type { CidText } from '../../../store/cid-text.ts'
import { writeEnvelope } from '../../support/envelope.ts'
import { openBelow } from '../../support/forge.ts'
import type { TestStore } from '../../support/store.ts'
import {
  agents,
  copyStore,
  json,
  makeSharedFolder,
  makeTestStore,
  ok,
} from '../../support/store.ts'

const shared = await makeSharedFolder()

it('what waits at the remote in a later stream gets what it lacks when its stream is pushed', async () => {
  const here = await makeTestStore(path.join(shared, 'here'))
  const there = await copyStore(here, path.join(shared, 'there'))
  const made: CidText[] = []
  for (const name of ['a', 'b']) {
    const files = { 'f.txt': `file of ${name}` }
    const workspace = `csag:handoff/${name}`
    const small = { workspace, revision: 'R1', author: agents.merger, files }
    const file = await writeEnvelope(path.join(here.root, name), small)
    made.push((await ok(here.run('put', file))).out.trim() as CidText)
  }
  // as after a cut: the entry came, its body and file did not
  const cid = made[1]!
  await leaveWaiting(here, there, cid)
  const report = json(await ok(here.run('sync', there.store, '--json')))
  expect(report).toMatchObject({ pushed: 2, untaken: [], ahead: 0 })
  for (const one of made) await ok(there.run('get', one, '--entry'))
})

async function leaveWaiting(from: TestStore, there: TestStore, cid: CidText): Promise<void> {
  await using context = await openBelow(from)
  const quarantine = await Quarantine.open(there.store, 'from owner')
  quarantine.arrivals.add({ cid, bytes: await context.db.get(cid) })
  await quarantine.close()
}
