import { readFileSync } from 'node:fs'
import { cp, rm } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { bytesOf, envelopeOf, writeEnvelope } from '../support/envelope.ts'
import { forge } from '../support/forge.ts'
import { historyWorkspace } from '../support/history.ts'
import { entriesIn, readRaw } from '../support/raw-blocks.ts'
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
  storeAt,
  withLevel,
} from '../support/store.ts'

const stream = `csag:${historyWorkspace}`
const shared = await makeSharedFolder()
let base: TestStore
let full: TestStore
let copies = 0

const place = (): string => path.join(shared, `copy-${copies++}`)
const copyOf = (store: TestStore): Promise<TestStore> => copyStore(store, place())
const heads = async (store: TestStore): Promise<string> => (await store.run('heads')).out

beforeAll(async () => {
  base = await makeTestStore(path.join(shared, 'base'))
  full = await copyOf(base)
  await putHistory(full)
})

async function clone(from: TestStore): Promise<TestStore> {
  const to = storeAt(place(), from.genesis)
  await cp(from.keys, to.keys, { recursive: true })
  await rm(path.join(to.keys, 'trust'), { recursive: true, force: true })
  await ok(to.run('clone', from.store, '--genesis', from.genesis))
  return to
}

async function putOne(
  store: TestStore,
  workspace: string,
  revision: string,
  parents: readonly string[] = [],
  files: Readonly<Record<string, Uint8Array | string>> = {},
): Promise<string> {
  const small = { workspace, revision, parents, author: agents.merger, files }
  const file = await writeEnvelope(path.join(store.root, 'w'), small)
  return (await ok(store.run('put', file, '--as', agents.merger))).out.trim()
}

describe('clone', () => {
  it('makes a store with the same entries and heads', async () => {
    const to = await clone(full)
    expect(await heads(to)).toBe(await heads(full))
    expect((await to.run('verify', '--all', '--full')).exit).toBe(0)
    expect((await to.run('fsck')).exit).toBe(0)
    expect((await to.run('resume', stream, '--as', agents.a, '--no-certificate')).exit).toBe(0)
    expect((await to.run('remote', 'list')).out).toBe(`origin ${full.store}\n`)
    const { exit, err } = await to.run('clone', full.store, '--genesis', full.genesis)
    expect({ exit, err }).toMatchObject({ exit: 6 })
  })

  it('wants to be told which store is meant', async () => {
    const to = storeAt(place(), full.genesis)
    const bare = await to.run('clone', full.store)
    expect(bare).toMatchObject({ exit: 4 })
    expect(bare.err).toContain(full.genesis)
    const other = await to.run(
      'clone',
      full.store,
      '--genesis',
      full.genesis.replace(/.{4}$/, 'aaaa'),
    )
    expect(other.exit).toBe(4)
    expect((await to.runWith({ typed: 'no' }, 'clone', full.store)).exit).toBe(4)
    expect((await to.runWith({ typed: 'yes' }, 'clone', full.store)).exit).toBe(0)
    expect(await heads(to)).toBe(await heads(full))
  })

  it('takes a CAR file', async () => {
    const car = path.join(shared, `${copies++}.car`)
    await ok(full.run('export', car))
    const to = storeAt(place(), full.genesis)
    expect((await to.run('clone', car)).exit).toBe(4)
    await ok(to.run('clone', car, '--genesis', full.genesis))
    expect(await heads(to)).toBe(await heads(full))
  })
})

describe('sync', () => {
  it('goes both ways in one go, and then has nothing to do', async () => {
    const a = await clone(full)
    const b = await clone(a)
    await putOne(a, 'csag:handoff/one', 'A1')
    await putOne(b, 'csag:handoff/two', 'B1')
    const dry = await ok(b.run('sync', '--dry-run'))
    expect(dry.out).toBe('1 entries would come from origin, 1 would go there\n')
    const ran = await ok(b.run('sync'))
    expect(ran.out).toBe('1 entries came from origin, 1 went there\n')
    expect(await heads(a)).toBe(await heads(b))
    const again = json(await ok(b.run('sync', '--json')))
    expect(again).toMatchObject({ pulled: 0, pushed: 0, behind: 0, ahead: 0, sizeBytes: 0 })
    for (const store of [a, b]) {
      expect((await store.run('verify', '--all', '--full')).exit).toBe(0)
      expect((await store.run('fsck')).exit).toBe(0)
    }
  })

  it('goes one way where told so', async () => {
    const a = await clone(full)
    const b = await clone(a)
    await putOne(a, 'csag:handoff/one', 'A1')
    await putOne(b, 'csag:handoff/two', 'B1')
    expect(json(await ok(b.run('sync', '--pull', '--json')))).toMatchObject({
      pulled: 1,
      pushed: 0,
      ahead: 1,
    })
    expect(json(await ok(b.run('sync', '--push', '--json')))).toMatchObject({
      pulled: 0,
      pushed: 1,
      ahead: 0,
    })
    expect(await heads(a)).toBe(await heads(b))
    expect((await b.run('sync', '--push', '--pull')).exit).toBe(2)
  })

  it('takes one stream alone, with the rosters', async () => {
    const a = await clone(full)
    const b = await clone(a)
    await putOne(a, 'csag:handoff/one', 'A1')
    await putOne(a, 'csag:handoff/two', 'A1')
    await ok(b.run('sync', '--stream', 'csag:csag:handoff/two'))
    expect(await heads(b)).toContain('handoff/two')
    expect(await heads(b)).not.toContain('handoff/one')
  })

  it('takes a stream by its name without the family, whichever side has it', async () => {
    const a = await clone(full)
    const b = await clone(a)
    await putOne(a, 'csag:handoff/there', 'A1')
    await putOne(b, 'csag:handoff/here', 'B1')
    for (const name of ['csag:handoff/there', 'csag:handoff/here'])
      await ok(b.run('sync', '--stream', name))
    expect(await heads(a)).toContain('handoff/here')
    expect(await heads(b)).toContain('handoff/there')
  })

  it('refuses a stream that neither side has', async () => {
    const a = await clone(full)
    const b = await clone(a)
    for (const way of [[], ['--pull'], ['--push'], ['--dry-run']]) {
      for (const name of ['nope', 'csag:handoff/t*']) {
        const ran = await b.run('sync', '--stream', name, ...way, '--json')
        expect(ran).toMatchObject({ exit: 2, out: '' })
        expect(JSON.parse(ran.err)).toMatchObject({ code: 'HSTORE_REF_NOT_FOUND', ref: name })
      }
    }
  })

  it('names a stream that the remote has lost, asked for by its name', async () => {
    const a = await clone(full)
    const before = await copyOf(a)
    const b = await clone(a)
    const cid = await putOne(a, 'csag:handoff/lost', 'A1')
    await ok(b.run('sync'))
    await rm(a.store, { recursive: true })
    await cp(before.store, a.store, { recursive: true })
    const ran = await b.run('sync', '--pull', '--stream', 'csag:handoff/lost')
    expect(ran.exit).toBe(9)
    expect(ran.err).toContain(cid)
  })

  it('keeps two heads where two went on', async () => {
    const a = await clone(full)
    const b = await clone(a)
    await putOne(a, historyWorkspace, 'A9', ['R0003'])
    await putOne(b, historyWorkspace, 'B9', ['R0003'])
    await ok(b.run('sync'))
    expect(await heads(a)).toBe(await heads(b))
    expect((await heads(a)).split('\n').filter((line) => line.startsWith(stream))).toHaveLength(2)
  })

  it('takes artifacts along, small and large, once', async () => {
    const a = await clone(full)
    const b = await clone(a)
    const large = bytesOf('large', 9_500_000)
    const small = bytesOf('small', 30_000)
    await putOne(a, 'csag:handoff/files', 'A1', [], { 'l.bin': large, 's.bin': small })
    await putOne(a, 'csag:handoff/files', 'A2', ['A1'], { 'l.bin': large, 's.bin': small, t: 't' })
    const pulled = json<{ sizeBytes: number }>(await ok(b.run('sync', '--json')))
    expect(pulled.sizeBytes).toBeLessThan(large.length + small.length + 20_000)
    const c = await clone(full)
    await ok(b.run('remote', 'add', 'c', c.store))
    const pushed = json<{ sizeBytes: number }>(await ok(b.run('sync', 'c', '--json')))
    expect(pushed).toMatchObject({ pushed: 2 })
    expect(pushed.sizeBytes).toBeLessThan(large.length + small.length + 20_000)
    for (const store of [b, c]) {
      expect((await store.run('fsck')).exit).toBe(0)
      const out = path.join(store.root, 'out')
      await ok(store.run('get', 'csag:handoff/files', '--out', out))
      expect(readFileSync(path.join(out, 'l.bin')).equals(large)).toBe(true)
    }
  })

  it('names what has no right, does not ask for it again, and does once the roster gives it', async () => {
    const a = await clone(full)
    const did = (await ok(a.run('key', 'new', 'csag:agent/late', '--no-passphrase'))).out.trim()
    const { cid } = await forge(a, 'csag:agent/late', {
      ...envelopeOf({ workspace: 'csag:handoff/late', revision: 'R1', author: 'csag:agent/late' }),
    })
    const b = await clone(a)
    const first = await ok(b.run('sync'))
    expect(first.out).toContain('0 entries came')
    expect((await b.run('get', cid)).exit).toBe(2)
    expect(json(await ok(b.run('sync', '--json')))).toMatchObject({ sizeBytes: 0, unstored: [] })
    await ok(a.run('roster', 'add', 'csag:agent/late', did, '--as', agents.merger))
    expect((await ok(b.run('sync'))).out).toContain('2 entries came')
    expect(await heads(b)).toContain(cid)
  })

  it('names what a remote lost that it had', async () => {
    const a = await clone(full)
    const before = await copyOf(a)
    const b = await clone(a)
    const cid = await putOne(a, 'csag:handoff/one', 'A1')
    await ok(b.run('sync'))
    await rm(a.store, { recursive: true })
    await cp(before.store, a.store, { recursive: true })
    const ran = await b.run('sync', '--pull')
    expect(ran.exit).toBe(9)
    expect(ran.err).toContain(cid)
  })

  it('takes nothing from another store, and not from itself', async () => {
    const other = await makeTestStore(place())
    const b = await clone(full)
    const before = await digestOf(b.store)
    const ran = await b.run('sync', other.store)
    expect(ran).toMatchObject({ exit: 4 })
    expect(ran.err).toContain(other.genesis)
    expect(await b.run('sync', b.store)).toMatchObject({ exit: 2 })
    expect(await b.run('sync', '/nowhere')).toMatchObject({ exit: 9 })
    for (const verb of ['sync', 'clone']) {
      const none = await b.run(verb, shared, '--store', verb === 'sync' ? b.store : place())
      expect(none.exit).toBe(9)
      expect(none.err).toContain('is no store: look at the address')
    }
    expect(await b.run('sync', 'ftp://x')).toMatchObject({ exit: 2 })
    expect(await digestOf(b.store)).toBe(before)
  })

  it('takes nothing whose middle is lost or altered', async () => {
    for (const change of ['lost', 'altered'] as const) {
      const a = await clone(full)
      const b = await clone(base)
      const before = await heads(b)
      const name = `${historyWorkspace}/revision/R0002-agent-a`
      const [middle = ''] = entriesIn(await readRaw(a), (payload) => payload.name === name)
      await withLevel(a.store, async (level) => {
        const key = `!blocks!${middle}`
        const bytes = Buffer.from(await level.get(key))
        bytes[200]! ^= 1
        await (change === 'lost' ? level.del(key) : level.put(key, bytes))
      })
      const ran = await b.run('sync', a.store, '--pull')
      expect(ran.err).toContain(middle)
      expect(await heads(b)).toBe(before)
    }
  })
})
