import path from 'node:path'
import { mkdir } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { bytesOf, writeEnvelope } from '../support/envelope.ts'
import { forge } from '../support/forge.ts'
import { historyWorkspace } from '../support/history.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  json,
  makeSharedFolder,
  makeTestStore,
  ok,
  putHistory,
  withLevel,
} from '../support/store.ts'

const shared = await makeSharedFolder()
let ground: TestStore
let cids: readonly string[]
let copies = 0

interface Status {
  readonly streams: readonly { stream: string; heads: readonly { cid: string }[] }[]
  readonly forks: readonly string[]
  readonly held: readonly { cid: string }[]
  readonly rejected: readonly { cid: string; why: string }[]
  readonly elsewhere: readonly { cid: string }[]
  readonly damage: readonly { code: string; cid: string }[]
  readonly kept: readonly string[]
}

beforeAll(async () => {
  ground = await makeTestStore(path.join(shared, 'ground'))
  cids = await putHistory(ground)
})

const fresh = (): Promise<TestStore> => copyStore(ground, path.join(shared, `copy-${copies++}`))
const document = { id: 'w', revision: 'w/revision/R' }

async function statusOf(store: TestStore, exit = 0): Promise<Status> {
  const ran = await store.run('status', '--json')
  expect(ran.exit).toBe(exit)
  return json<Status>(ran)
}

describe('status', () => {
  it('of a sound store has its heads and nothing that asks for attention', async () => {
    const status = await statusOf(ground)
    expect(status.streams).toMatchObject([
      { stream: `csag:${historyWorkspace}`, heads: [{ cid: cids[3]! }] },
    ])
    const empty = { forks: [], held: [], rejected: [], elsewhere: [], damage: [], kept: [] }
    expect(status).toMatchObject(empty)
    const { out } = await ok(ground.run('status'))
    expect(out).toContain(`csag:${historyWorkspace} ${cids[3]!}`)
  })

  it('names forks, entries that were made elsewhere and entries that do not count', async () => {
    const store = await fresh()
    const one = await forge(store, agents.a, document)
    const two = await forge(store, agents.b, { ...document, note: 2 })
    await ok(store.run('key', 'new', 'bot:x', '--no-passphrase'))
    const unknown = await forge(store, 'bot:x', { ...document, id: 'x' })
    const status = await statusOf(store)
    expect(status.forks).toEqual(['csag:w'])
    expect(status.elsewhere.map(({ cid }) => cid).sort()).toEqual(
      [one.cid, two.cid, unknown.cid].sort(),
    )
    expect([...status.held, ...status.rejected].map(({ cid }) => cid)).toEqual([unknown.cid])
    const { out } = await ok(store.run('status'))
    for (const said of ['csag:w is forked, ', 'made elsewhere: 3 entries']) {
      expect(out).toContain(said)
    }
  })

  it('names entries that are gone or damaged, and exits with 5', async () => {
    for (const [bytes, code] of [
      [undefined, 'HS1001'],
      [Buffer.from('x'), 'HS1002'],
    ] as const) {
      const store = await fresh()
      const cid = cids[1]!
      await withLevel(store.store, (level) =>
        bytes === undefined ? level.del(`!blocks!${cid}`) : level.put(`!blocks!${cid}`, bytes),
      )
      expect((await statusOf(store, 5)).damage).toMatchObject([{ code, cid }])
    }
  })

  it('names the databases that rebuilds have kept', async () => {
    const store = await fresh()
    await mkdir(path.join(store.store, 'damaged-1'))
    await mkdir(path.join(store.store, 'damaged-10'))
    await mkdir(path.join(store.store, 'damaged-2'))
    expect((await statusOf(store)).kept).toEqual(['damaged-1', 'damaged-2', 'damaged-10'])
  })
})

describe('stats', () => {
  it('counts what is there, by kind and by place', async () => {
    const store = await fresh()
    const files = { 'large.bin': bytesOf('l', 1_100_000), 'small.bin': bytesOf('s', 1000) }
    const small = { workspace: 'w', revision: 'R', author: agents.merger, files }
    const before = json(await ok(store.run('stats', '--json')))
    expect(before).toMatchObject({
      kinds: { envelope: 4, roster: 3 },
      entries: { count: 7 },
      streams: 2,
      largeFiles: { count: 0, sizeBytes: 0 },
      temporary: { count: 0, sizeBytes: 0 },
    })
    await ok(store.run('put', await writeEnvelope(path.join(store.root, 'b'), small)))
    const after = json<{ smallFiles: { count: number } }>(await ok(store.run('stats', '--json')))
    expect(after).toMatchObject({
      kinds: { envelope: 5, roster: 3 },
      entries: { count: 8 },
      streams: 3,
      largeFiles: { count: 1, sizeBytes: 1_100_000 },
    })
    // the small file and the file as given
    const { smallFiles } = before as typeof after
    expect(after.smallFiles.count).toBe(smallFiles.count + 2)
  })
})
