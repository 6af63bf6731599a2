import path from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { openOwn } from '../../../src/sync/peer.ts'
import { packCids } from '../../../src/sync/protocol.ts'
import { Quarantine } from '../../../src/sync/quarantine.ts'
import { noMarks } from '../../../src/sync/remote-marks.ts'
import { syncSession } from '../../../src/sync/session.ts'
import { withOwnOf } from '../../../src/sync/sync-with.ts'
import { HstoreError } from '../../../src/kernel/errors.ts'
import type { JsonForm } from '../../../store/canonical.ts'
import { cidTextOf } from '../../../store/cid-text.ts'
import type { CidText } from '../../../store/cid-text.ts'
import { bytesOf, writeEnvelope } from '../../support/envelope.ts'
import { HostileTransport, withBlocks } from '../../support/hostile-transport.ts'
import type { TestStore } from '../../support/store.ts'
import {
  agents,
  copyStore,
  digestOf,
  makeSharedFolder,
  makeTestStore,
  ok,
} from '../../support/store.ts'

const shared = await makeSharedFolder()
const made: CidText[] = []
let here: TestStore
let full: TestStore
let copies = 0

beforeAll(async () => {
  here = await makeTestStore(path.join(shared, 'here'))
  full = await copyStore(here, path.join(shared, 'full'))
  for (let i = 0; i < 40; i++) {
    const small = { workspace: 'csag:handoff/long', revision: `R${i}`, author: agents.merger }
    const parents = i === 0 ? [] : [`R${i - 1}`]
    const file = await writeEnvelope(path.join(full.root, 'w'), { ...small, parents })
    made.push((await ok(full.run('put', file))).out.trim() as CidText)
  }
  await ok(here.run('sync', full.store, '--dry-run'))
}, 60_000)

const stranger = cidTextOf(bytesOf('stranger', 9), 'dag-json')
const packed = (cids: readonly CidText[]): JsonForm => packCids(cids)

/** The quarantine is small: what waits may fill it. */
const harmless = /^(?:told|HSTORE_QUARANTINE_FULL)$/

/** What a remote says of the order of entries, where it is asked for it. */
const orders: readonly (readonly [string, Record<string, JsonForm>, RegExp])[] = [
  ['a text', { closed: 'x' }, /^HSTORE_REMOTE_INVALID$/],
  ['half a digest', { closed: { '/': { bytes: 'AAAA' } } }, /^HSTORE_REMOTE_INVALID$/],
  ['links', { closed: [stranger] }, /^HSTORE_REMOTE_INVALID$/],
  ['a number that is open', { open: 1 }, /^HSTORE_REMOTE_INVALID$/],
  ['another kind of answer', { is: 'want', taken: 1 }, /^HSTORE_REMOTE_INVALID$/],
  ['nothing', { closed: packed([]), open: packed([]) }, harmless],
  ['strangers', { closed: packed([stranger]), open: packed([stranger]) }, harmless],
]

/** What it says of the entries themselves. */
const shuffles: readonly (readonly [string, () => Record<string, JsonForm>])[] = [
  ['all the wrong way round', () => ({ closed: packed(made.toReversed()), open: packed([]) })],
  ['that all are open', () => ({ closed: packed([]), open: packed(made) })],
  ['all of them twice', () => ({ closed: packed([...made, ...made]), open: packed(made) })],
]

it.each([
  ...orders.map(([name, change, code]) => [name, () => change, code] as const),
  ...shuffles.map(([name, change]) => [name, change, harmless] as const),
])('a remote that is asked for an order and says %s does no harm', async (_name, change, code) => {
  const store = await copyStore(here, path.join(shared, `copy-${copies++}`))
  const before = await digestOf(store.store)
  const context = { folder: store.store, keysFolder: store.keys, waitMs: 20_000 }
  // what comes waits for the first entry, which is not given: so the order is asked for
  const quarantine = await Quarantine.open(store.store, 'hostile', {
    sizeBytes: 2_000_000,
    blocks: 60,
  })
  let asked = 0
  await using wire = new HostileTransport(full.store, (answered, { control }) => {
    if (control['is'] === 'want')
      return withBlocks((blocks) => blocks.filter(({ cid }) => cid !== made[0]))(answered)
    if (control['is'] !== 'order') return answered
    asked += 1
    return { control: { ...answered.control, ...change() }, blocks: [] }
  })
  const options = { pull: true, push: false, dryRun: false, nowMs: 1 }
  const own = withOwnOf({ open: () => openOwn(context) })
  const ended = syncSession(own, wire, quarantine, noMarks, options).then(
    ({ report }) => (report.pulled === 0 ? 'told' : `pulled ${report.pulled}`),
    (error: unknown) => (error instanceof HstoreError ? error.code : error),
  )
  expect(await ended).toMatch(code)
  await quarantine.close()
  expect(asked).toBeGreaterThan(0)
  expect(await digestOf(store.store)).toBe(before)
  await ok(store.run('sync', full.store))
  expect((await store.run('heads')).out).toBe((await full.run('heads')).out)
})
