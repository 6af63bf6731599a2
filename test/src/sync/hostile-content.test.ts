import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signerOfSeed } from '../../../keys/signer.ts'
import { HashedBlock } from '../../../store/block.ts'
import { cidTextOf } from '../../../store/cid-text.ts'
import { bytesOf, envelopeOf, writeEnvelope } from '../../support/envelope.ts'
import { forge, openBelow, signerOf } from '../../support/forge.ts'
import { HostileServer, runMeasured } from '../../support/hostile-server.ts'
import type { TestStore } from '../../support/store.ts'
import {
  agents,
  copyStore,
  digestOf,
  json,
  makeSharedFolder,
  makeTestStore,
  ok,
  putHistory,
} from '../../support/store.ts'

const shared = await makeSharedFolder()
const server = await HostileServer.start()
let here: TestStore
let copies = 0

const copyOf = (store: TestStore): Promise<TestStore> =>
  copyStore(store, path.join(shared, `copy-${copies++}`, 'root'))

beforeAll(async () => {
  here = await makeTestStore(path.join(shared, 'here'))
  await putHistory(here)
  const { did } = await signerOf(here, agents.b)
  await ok(here.run('roster', 'revoke', agents.b, did, '--as-of-head', '--yes'))
  // what is remembered of ranges is no change that a remote made
  await ok(here.run('sync', (await copyOf(here)).store))
}, 60_000)
afterAll(() => server[Symbol.asyncDispose]())

interface Report {
  readonly pulled: number
  readonly unstored: readonly { readonly cid: string; readonly fate: string }[]
  readonly vanished: readonly object[]
}

/** Syncs with a store whose answers are its own, in a process that is measured. */
async function sync(store: TestStore, remote: TestStore): Promise<Report & { exit: number }> {
  await server.serve(remote.store, (answered) => answered)
  const ran = await runMeasured(store, 60_000, 'sync', server.url, '--pull', '--json')
  expect(ran.signal).toBeNull()
  expect(ran.peakMib).toBeLessThanOrEqual(200)
  return { ...json<Report>(ran), exit: ran.exit }
}

const small = { workspace: 'csag:handoff/forged', revision: 'R1', author: agents.a }

const forgeries: readonly (readonly [string, string, (remote: TestStore) => Promise<string>])[] = [
  [
    'a signer that nobody knows',
    'parked',
    async (remote) => {
      const signer = signerOfSeed(bytesOf('nobody', 32))
      return (await forge(remote, agents.a, envelopeOf(small), {}, signer)).cid
    },
  ],
  [
    'a signer that was revoked',
    'parked',
    async (remote) => {
      const document = envelopeOf({ ...small, author: agents.b })
      return (await forge(remote, agents.b, document)).cid
    },
  ],
  [
    'a signer that speaks for another agent',
    'parked',
    async (remote) => {
      const signer = await signerOf(remote, agents.a)
      const document = envelopeOf({ ...small, author: agents.merger })
      return (await forge(remote, agents.merger, document, {}, signer)).cid
    },
  ],
  [
    'an entry of another store',
    'refused',
    async (remote) => {
      const genesis = cidTextOf(bytesOf('other', 9), 'dag-json')
      return (await forge(remote, agents.a, envelopeOf(small), { store: genesis })).cid
    },
  ],
  [
    'a file as given that says other things than the body',
    'refused',
    async (remote) => {
      const other = JSON.stringify(envelopeOf({ ...small, revision: 'R2' }), null, 1)
      const source = HashedBlock.of(new Uint8Array(Buffer.from(other)), 'raw')
      const { cid } = await forge(remote, agents.a, envelopeOf(small), { source: source.cid })
      await using context = await openBelow(remote)
      await context.db.commit({ blocks: [source], rows: [] })
      return cid
    },
  ],
]

describe('a hostile remote that has', () => {
  it.each(forgeries)('%s: it is %s, and the store as it was', async (_name, fate, make) => {
    const remote = await copyOf(here)
    const cid = await make(remote)
    const store = await copyOf(here)
    const before = await digestOf(store.store)
    const report = await sync(store, remote)
    expect(report).toMatchObject({ pulled: 0, exit: fate === 'parked' ? 0 : 9 })
    expect(report.unstored).toMatchObject([{ cid, fate }])
    expect(await digestOf(store.store)).toBe(before)
    expect((await store.run('get', cid)).exit).toBe(2)
  })

  it('lost what it had: it is named, and the store as it was', async () => {
    const store = await copyOf(here)
    const full = await copyOf(here)
    await ok(full.run('put', path.join(await written(full), 'R9.json'), '--as', agents.a))
    expect(await sync(store, full)).toMatchObject({ pulled: 1, exit: 0 })
    const before = await digestOf(store.store)
    const report = await sync(store, await copyOf(here))
    expect(report).toMatchObject({ pulled: 0, exit: 9 })
    expect(report.vanished).toHaveLength(1)
    expect(await digestOf(store.store)).toBe(before)
  })

  /** Some are plain names on this system, and lie in the folder then. */
  const names = [
    '../x',
    '/x',
    'a/../../x',
    String.raw`..\x`,
    'C:/x',
    'a\u0000b',
    'NUL',
    'a/./x',
    '~/x',
  ]

  it.each(names)('a file by the name of %j: nothing is written outside', async (name) => {
    const remote = await copyOf(here)
    const artifact = HashedBlock.of(bytesOf('evil', 20), 'raw')
    const document = envelopeOf({ ...small, files: { [name]: artifact.bytes } })
    const list = HashedBlock.of(
      new Uint8Array(Buffer.from(`{"artifacts":[{"/":"${artifact.cid}"}]}`)),
      'dag-json',
    )
    const { cid } = await forge(remote, agents.a, document, { artifacts: list.cid })
    {
      await using context = await openBelow(remote)
      await context.db.commit({ blocks: [list, artifact], rows: [] })
    }
    const store = await copyOf(here)
    await sync(store, remote)
    const places = [store.root, path.dirname(store.root), '/', process.cwd()]
    const listed = () => Promise.all(places.map(async (place) => (await readdir(place)).sort()))
    const before = await listed()
    const { out } = await ok(store.run('get', cid, '--out', path.join(store.root, 'out')))
    expect(out).toBe(`${path.join(store.root, 'out', 'handoff.json')}\n`)
    before[0] = [...before[0]!, 'out'].sort()
    expect(await listed()).toEqual(before)
  })
})

async function written(store: TestStore): Promise<string> {
  const folder = path.join(store.root, 'w')
  await writeEnvelope(folder, { ...small, revision: 'R9' })
  return folder
}
