import { copyFile, readFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { openStore } from '../../src/open-store.ts'
import { envelopeOf, writeEnvelope } from '../support/envelope.ts'
import { amendRoster, forge } from '../support/forge.ts'
import { historyBundle, historyFiles, historyWorkspace } from '../support/history.ts'
import { entriesIn, payloadIn, readRaw } from '../support/raw-blocks.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  digestOf,
  json,
  makeSharedFolder,
  makeTestStore,
  ok,
  putHistory,
} from '../support/store.ts'

interface Put {
  readonly cid: string
  readonly body: string
  readonly new: boolean
  readonly parents: readonly string[]
  readonly shallow: readonly string[]
  readonly seq: number
  readonly artifacts: readonly { readonly path: string; readonly size: number }[]
}
interface Heads {
  readonly heads: readonly {
    readonly stream: string
    readonly cid: string
    readonly revision: string
  }[]
}

const shared = await makeSharedFolder()
const [r1, r2a, r2b, r3] = historyFiles.map(({ file }) => file) as [string, string, string, string]
let empty: TestStore
let copies = 0

beforeAll(async () => {
  empty = await makeTestStore(path.join(shared, 'empty'))
})

const fresh = (): Promise<TestStore> => copyStore(empty, path.join(shared, `copy-${copies++}`))

async function put(store: TestStore, file: string, agent: string, ...more: string[]): Promise<Put> {
  return json<Put>(await ok(store.run('put', file, '--as', agent, '--json', ...more)))
}

async function headsOf(store: TestStore): Promise<Heads['heads']> {
  const { heads } = json<Heads>(await ok(store.run('heads', '--json')))
  return heads.filter(({ stream }) => stream === `csag:${historyWorkspace}`)
}

describe('put', () => {
  it('gives the entry that is there when the document comes again, however it is spelt', async () => {
    const store = await fresh()
    const first = await put(store, r1, agents.a)
    const before = await digestOf(store.store)
    const again = await put(store, r1, agents.a)
    expect(again).toEqual({ ...first, new: false })
    const document = JSON.parse(await readFile(r1, 'utf8')) as Record<string, unknown>
    const turned = Object.fromEntries(Object.entries(document).toReversed())
    const spelt = await store.runWith(
      { stdin: JSON.stringify(turned, null, 7) },
      'put',
      '-',
      '--bundle',
      historyBundle,
      '--as',
      agents.a,
      '--json',
    )
    expect(json(spelt)).toEqual({ ...first, new: false })
    expect(await digestOf(store.store)).toBe(before)
  })

  it('gives the same entry to all of one process that put the same at once', async () => {
    const { store, keys, root } = await fresh()
    await using open = await openStore({ store, keys, agent: agents.merger })
    const document = envelopeOf({ workspace: 'w', revision: 'R1', author: agents.merger })
    const reports = await Promise.all(Array.from({ length: 20 }, () => open.put(document)))
    expect(new Set(reports.map(({ cid }) => cid)).size).toBe(1)
    expect(reports.filter((report) => report.new)).toHaveLength(1)
    const others = Array.from({ length: 20 }, (_, i) =>
      open.put(envelopeOf({ workspace: `w${i % 4}`, revision: `S${i}`, author: agents.merger })),
    )
    await Promise.all(others)
    await open.close()
    const { exit } = await empty.runWith(
      { cwd: root, env: { HSTORE_STORE: store, HSTORE_KEYS: keys } },
      'verify',
      '--all',
    )
    expect(exit).toBe(0)
  })

  it('shows a fork as two heads and the merge as one', async () => {
    const store = await fresh()
    const cids = await putHistory(store)
    expect((await headsOf(store)).map(({ cid }) => cid)).toEqual([cids[3]])
    const forked = await fresh()
    const first = await put(forked, r1, agents.a)
    await put(forked, r2a, agents.a)
    const moved = await forked.run('put', r2b, '--as', agents.b, '--json')
    expect(moved.exit).toBe(6)
    expect(JSON.parse(moved.err)).toMatchObject({ code: 'HSTORE_HEADS_MOVED' })
    expect(await headsOf(forked)).toHaveLength(1)
    await put(forked, r2b, agents.b, '--parent', first.cid)
    expect(await headsOf(forked)).toHaveLength(2)
    expect((await forked.run('resume', `csag:${historyWorkspace}`)).exit).toBe(2)
    await put(forked, r3, agents.merger)
    expect(await headsOf(forked)).toHaveLength(1)
  })

  it('lets a document without parents in beside the heads', async () => {
    const store = await fresh()
    await put(store, r1, agents.a)
    const other = await writeEnvelope(path.join(store.root, 'other'), {
      workspace: historyWorkspace,
      revision: 'X',
      author: agents.b,
    })
    await put(store, other, agents.b)
    expect(await headsOf(store)).toHaveLength(2)
  })

  it('names the certificate of its author on the very parents, and no other', async () => {
    const store = await fresh()
    await put(store, r1, agents.a)
    const resumed = await ok(
      store.run('resume', `csag:${historyWorkspace}`, '--as', agents.a, '--json'),
    )
    const { certificate } = json<{ certificate: string }>(resumed)
    const own = await put(store, r2a, agents.a)
    const other = await put(store, r2b, agents.b, '--parent', own.parents[0]!)
    const { blocks } = await readRaw(store)
    const refs = (cid: string): unknown =>
      (payloadIn(blocks.get(cid)!) as unknown as { refs?: unknown }).refs
    expect(refs(own.cid)).toEqual([{ '/': certificate }])
    expect(refs(other.cid)).toBeUndefined()
  })

  it('keeps one chain for each signer and stream', async () => {
    const store = await fresh()
    const cids = await putHistory(store)
    const raw = await readRaw(store)
    const seqs = cids.map(
      (cid) => (payloadIn(raw.blocks.get(cid)!) as unknown as { seq: number }).seq,
    )
    expect(seqs).toEqual([1, 2, 1, 1])
    expect(entriesIn(raw, ({ kind }) => kind === 'envelope')).toHaveLength(4)
  })
})

describe('put --shallow', () => {
  it('is grafted by the same file again, once the parents are there', async () => {
    const store = await fresh()
    const late = await put(store, r2a, agents.a, '--shallow')
    expect(late).toMatchObject({ parents: [], shallow: [`${historyWorkspace}/revision/R0001`] })
    expect(await headsOf(store)).toHaveLength(1)
    const partial = await store.run('resume', late.cid, '--as', agents.a, '--json')
    expect(partial.exit).toBe(1)
    expect(json(partial)).toMatchObject({ verdict: 'partial', history: 'shallow' })
    const first = await put(store, r1, agents.a)
    expect(await headsOf(store)).toHaveLength(2)
    const grafted = await put(store, r2a, agents.a)
    expect(grafted).toMatchObject({ new: true, parents: [first.cid], shallow: [], body: late.body })
    expect((await headsOf(store)).map(({ cid }) => cid)).toEqual([grafted.cid])
    for (const ref of [late.cid, grafted.cid, late.body, `csag:${historyWorkspace}`]) {
      const whole = await store.run('resume', ref, '--as', agents.a, '--json')
      expect(json(whole)).toMatchObject({ verdict: 'complete', history: 'full', missing: [] })
    }
    expect((await store.run('verify', '--all')).exit).toBe(0)
  })

  it('may be grafted when children are there already, and moves no head', async () => {
    const store = await fresh()
    await put(store, r2a, agents.a, '--shallow')
    await put(store, r2b, agents.b, '--shallow')
    const merge = await put(store, r3, agents.merger)
    expect((await headsOf(store)).map(({ cid }) => cid)).toEqual([merge.cid])
    expect((await store.run('resume', merge.cid)).exit).toBe(1)
    await put(store, r1, agents.a)
    expect(await headsOf(store)).toHaveLength(2)
    await put(store, r2a, agents.a)
    await put(store, r2b, agents.b)
    expect((await headsOf(store)).map(({ cid }) => cid)).toEqual([merge.cid])
    const whole = await store.run('resume', merge.cid, '--json')
    expect(json(whole)).toMatchObject({ verdict: 'complete', history: 'full' })
    expect((await store.run('verify', '--all')).exit).toBe(0)
  })

  it('is refused for a parent that the store holds', async () => {
    const store = await fresh()
    await put(store, r1, agents.a)
    const before = await digestOf(store.store)
    const refused = await store.run('put', r2a, '--as', agents.a, '--shallow', '--json')
    expect(refused.exit).toBe(2)
    expect(JSON.parse(refused.err)).toMatchObject({ code: 'HSTORE_SHALLOW_HELD' })
    expect(await digestOf(store.store)).toBe(before)
  })
})

describe('a parent that is not valid', () => {
  const child = envelopeOf({ workspace: 'w', revision: 'C', author: agents.a, parents: ['P'] })
  const parentOf = (author: string) => envelopeOf({ workspace: 'w', revision: 'P', author })
  const putChild = (store: TestStore, ...more: string[]) =>
    store.runWith({ stdin: JSON.stringify(child) }, 'put', '-', '--as', agents.a, '--json', ...more)

  it('is as good as absent', async () => {
    const store = await fresh()
    await ok(store.run('key', 'new', 'bot:stranger', '--no-passphrase'))
    const { cid } = await forge(store, 'bot:stranger', parentOf('bot:stranger'))
    const before = await digestOf(store.store)
    expect((await putChild(store)).exit).toBe(2)
    expect((await putChild(store, '--parent', cid)).exit).not.toBe(0)
    expect(await digestOf(store.store)).toBe(before)
    const shallow = json<Put>(await ok(putChild(store, '--shallow')))
    expect(shallow).toMatchObject({ parents: [], shallow: ['w/revision/P'] })
  })

  it('is not replaced by another of its name when it was named outright', async () => {
    const store = await fresh()
    await ok(store.run('key', 'new', 'bot:stranger', '--no-passphrase'))
    const { cid } = await forge(store, 'bot:stranger', parentOf('bot:stranger'))
    await ok(
      store.runWith({ stdin: JSON.stringify(parentOf(agents.b)) }, 'put', '-', '--as', agents.b),
    )
    const before = await digestOf(store.store)
    const refused = await putChild(store, '--parent', cid)
    expect(refused.exit).not.toBe(0)
    expect(await digestOf(store.store)).toBe(before)
  })

  it('does not stand in the way of the same document by its author', async () => {
    const store = await fresh()
    const agent = 'bot:late'
    const did = (await ok(store.run('key', 'new', agent, '--no-passphrase'))).out.trim()
    const { cid } = await forge(store, agent, parentOf(agents.a))
    await ok(store.run('roster', 'add', agent, did))
    const put = await store.runWith(
      { stdin: JSON.stringify(parentOf(agents.a)) },
      'put',
      '-',
      '--as',
      agents.a,
      '--json',
    )
    expect(json<Put>(put)).toMatchObject({ new: true })
    expect(json<Put>(put).cid).not.toBe(cid)
    expect((await store.run('resume', json<Put>(put).cid)).exit).toBe(0)
  })
})

describe('the author of a put', () => {
  it('is who the document says, by id or alias', async () => {
    const store = await fresh()
    const folder = path.join(store.root, 'alias')
    const file = await writeEnvelope(folder, { workspace: 'w', revision: 'R', author: 'bot:nick' })
    const before = await digestOf(store.store)
    const stranger = await store.run('put', file, '--as', agents.a, '--json')
    expect(stranger.exit).toBe(4)
    expect(JSON.parse(stranger.err)).toMatchObject({ code: 'HSTORE_AUTHOR_MISMATCH' })
    expect(await digestOf(store.store)).toBe(before)
    await amendRoster(store, ({ agents: all }) => ({
      agents: all.map((one) => (one.id === agents.a ? { ...one, aliases: ['bot:nick'] } : one)),
    }))
    const { cid } = await put(store, file, agents.a)
    expect(json(await store.run('resume', cid, '--json'))).toMatchObject({ verdict: 'complete' })
    expect((await store.run('put', file, '--as', agents.b)).exit).toBe(4)
    const { heads } = json<{ heads: { author: string }[] }>(await store.run('heads', '--json'))
    expect(heads.map(({ author }) => author)).toContain(agents.a)
  })
})

describe('what a store keeps', () => {
  it('holds neither secrets nor paths of the machine', async () => {
    const store = await fresh()
    const bundle = path.join(store.root, 'secret-place')
    const file = await writeEnvelope(bundle, {
      workspace: 'w',
      revision: 'R',
      author: agents.merger,
      files: { 'in/data.txt': 'data' },
    })
    await copyFile(file, path.join(bundle, 'again.json'))
    await put(store, file, agents.merger)
    await putHistory(store)
    await ok(store.run('resume', 'csag:w'))
    const pem = await readFile(path.join(store.keys, 'csag%3Aagent%2Fmerger.pem'), 'latin1')
    const secret = pem.split('\n').find((line) => line.length > 40 && !line.includes('-'))!
    const openssh = (await ok(store.run('key', 'export', agents.merger, '--secret'))).out
    const line = openssh.split('\n')[3]!
    const { blocks, rows } = await readRaw(store)
    const config = await readFile(path.join(store.store, 'config.json'), 'latin1')
    const all = [...blocks.values(), ...rows.values()].map((bytes) =>
      Buffer.from(bytes).toString('latin1'),
    )
    const text = [...all, ...rows.keys(), config].join('\n')
    for (const unwanted of [shared, 'secret-place', process.cwd(), secret, line, 'PRIVATE KEY']) {
      expect(text.includes(unwanted)).toBe(false)
    }
  })
})
