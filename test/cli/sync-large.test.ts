import { readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { HttpServer } from '../../src/sync/http-listen.ts'
import { Quarantine } from '../../src/sync/quarantine.ts'
import { serveOverHttp } from '../../src/sync-verbs.ts'
import { artifactPath } from '../../store/artifacts.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import { bytesOf, writeEnvelope } from '../support/envelope.ts'
import { signerOf } from '../support/forge.ts'
import type { TestStore } from '../support/store.ts'
import { agents, copyStore, json, makeSharedFolder, makeTestStore, ok } from '../support/store.ts'
import type { WayOptions } from '../support/tcp-way.ts'
import { openWay } from '../support/tcp-way.ts'

const shared = await makeSharedFolder()
const large = bytesOf('large', 3_000_000)
const artifact = cidTextOf(large, 'raw')
/** Requests carry 256 KiB at first, in pieces of a quarter, and twice as much each time. */
const mostPiece = 512 * 1024
/** Headers, entries, and questions. */
const talk = 20_000
let empty: TestStore
let full: TestStore
let copies = 0
const servers: HttpServer[] = []

const copyOf = (store: TestStore): Promise<TestStore> =>
  copyStore(store, path.join(shared, `copy-${copies++}`))

beforeAll(async () => {
  empty = await makeTestStore(path.join(shared, 'empty'))
  full = await copyOf(empty)
  const files = { 'l.bin': large }
  const small = { workspace: 'csag:handoff/w', revision: 'R1', author: agents.merger, files }
  await ok(full.run('put', await writeEnvelope(path.join(full.root, 'w'), small)))
}, 60_000)
afterAll(async () => {
  for (const server of servers) await server.close()
})

async function serve({ store, keys }: TestStore): Promise<number> {
  const listen = { host: '127.0.0.1', port: 0, publicStreams: [], clock: Date.now }
  const server = await serveOverHttp({ store, keys, waitMs: 20_000 }, listen)
  servers.push(server)
  return Number(new URL(server.url).port)
}

interface Synced {
  readonly pushed: number
  readonly untaken: readonly { readonly why: string }[]
}

/** Syncs over a way to a server, and returns what came of it and how many bytes went there. */
async function syncOver(
  store: TestStore,
  to: number,
  how?: WayOptions,
): Promise<{ readonly exit: number; readonly sentBytes: number; readonly report?: Synced }> {
  await using way = await openWay(to, how)
  const url = `http://127.0.0.1:${way.port}`
  const ran = await store.run('sync', url, '--as', agents.merger, '--json')
  const report = ran.out === '' ? {} : { report: json<Synced>(ran) }
  return { exit: ran.exit, sentBytes: way.sentBytes(), ...report }
}

describe('a large artifact that is pushed over HTTP', () => {
  it('keeps what came before a cut, wherever that is: the next sync sends the rest', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 300_000, max: large.length }), async (mostBytes) => {
        const [here, there] = await Promise.all([copyOf(full), copyOf(empty)])
        const port = await serve(there)
        const first = await syncOver(here, port, { mostBytes })
        expect(first.exit).toBe(9)
        const second = await syncOver(here, port)
        expect(second).toMatchObject({ exit: 0, report: { pushed: 1, untaken: [] } })
        expect(second.sentBytes).toBeLessThan(large.length - mostBytes + mostPiece + 2 * talk)
        await ok(there.run('fsck'))
      }),
      { numRuns: 5 },
    )
  }, 120_000)

  it('is brought by one at a time: a proxy that goes on for a client that is gone is waited for', async () => {
    const [here, there] = await Promise.all([copyOf(full), copyOf(empty)])
    const port = await serve(there)
    await using way = await openWay(port, { mostBytes: 1_000_000, isHaunted: true })
    const gone = await here.run('sync', `http://127.0.0.1:${way.port}`, '--as', agents.merger)
    expect(gone.exit).toBe(9)
    const next = await syncOver(here, port)
    expect(next).toMatchObject({ exit: 0, report: { pushed: 1, untaken: [] } })
    await ok(there.run('fsck'))
  }, 60_000)

  it('is brought by two at once, and stored once', async () => {
    const there = await copyOf(empty)
    const port = await serve(there)
    const both = await Promise.all([copyOf(full), copyOf(full)])
    const done = await Promise.all(both.map((here) => syncOver(here, port)))
    for (const { exit } of done) expect(exit).toBe(0)
    expect((await there.run('heads')).out).toBe((await both[0].run('heads')).out)
    await ok(there.run('fsck'))
  }, 60_000)

  it('is sent again where what lay there was of other bytes', async () => {
    const [here, there] = await Promise.all([copyOf(full), copyOf(empty)])
    const { did } = await signerOf(there, agents.merger)
    const quarantine = await Quarantine.open(there.store, `from ${did}`)
    await quarantine.large.hold(artifact)
    await quarantine.large.append(
      artifact,
      0,
      (async function* () {
        yield bytesOf('other', 500_000)
      })(),
    )
    await quarantine.close()
    const ran = await syncOver(here, await serve(there))
    expect(ran).toMatchObject({ exit: 0, report: { pushed: 1, untaken: [] } })
    expect(ran.sentBytes).toBeGreaterThan(2 * large.length - 500_000)
    await ok(there.run('fsck'))
  })

  it('that is damaged here is not stored there, and it is said why', async () => {
    const [here, there] = await Promise.all([copyOf(full), copyOf(empty)])
    const damaged = Buffer.from(large)
    damaged[1_500_000]! ^= 1
    await writeFile(artifactPath(here.store, artifact), damaged)
    const ran = await syncOver(here, await serve(there))
    const why = expect.stringContaining('does not hash to it') as string
    expect(ran.report).toMatchObject({ pushed: 0, untaken: [{ fate: 'incomplete', why }] })
    const waiting = await readdir(path.join(there.store, 'quarantine'), { recursive: true })
    expect(waiting.filter((name) => /large-|whole-/.test(name))).toEqual([])
    await ok(there.run('fsck'))
  })
})
