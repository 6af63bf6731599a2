import { cp, rm } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { HttpServer } from '../../src/sync/http-listen.ts'
import { serveOverHttp } from '../../src/sync-verbs.ts'
import { writeEnvelope } from '../support/envelope.ts'
import { historyWorkspace } from '../support/history.ts'
import { post, told } from '../support/http-client.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  makeSharedFolder,
  makeTestStore,
  ok,
  putHistory,
  storeAt,
} from '../support/store.ts'

const stream = `csag:${historyWorkspace}`
const shared = await makeSharedFolder()
let full: TestStore
let copies = 0
const servers: HttpServer[] = []

let aheadMs = 0
const now = (): number => Date.now() + aheadMs
const place = (): string => path.join(shared, `copy-${copies++}`)
const copyOf = (store: TestStore): Promise<TestStore> => copyStore(store, place())

beforeAll(async () => {
  full = await makeTestStore(place())
  await putHistory(full)
})
afterAll(async () => {
  for (const server of servers) await server.close()
})

async function serve(
  { store, keys }: TestStore,
  publicStreams: readonly string[] = [],
  onAbsent?: (pattern: string) => void,
): Promise<string> {
  const listen = { host: '127.0.0.1', port: 0, publicStreams, onAbsent, clock: now }
  const server = await serveOverHttp({ store, keys, waitMs: 20_000 }, listen)
  servers.push(server)
  return server.url
}

async function putOne(store: TestStore, name: string): Promise<void> {
  const small = { workspace: `csag:handoff/${name}`, revision: 'R1', author: agents.merger }
  const file = await writeEnvelope(path.join(store.root, 'w'), small)
  await ok(store.run('put', file, '--as', agents.merger))
}

describe('anybody', () => {
  it('takes public streams by name without the family, and tells which fit nothing yet', async () => {
    const there = await copyOf(full)
    const absent: string[] = []
    const later = 'csag:csag:handoff/later'
    const patterns = [historyWorkspace, later, 'turn:*']
    const url = await serve(there, patterns, (pattern) => absent.push(pattern))
    expect(absent).toEqual([later, 'turn:*'])
    await putOne(there, 'secret')
    await putOne(there, 'later')
    const rows = (await told(await post(url, { is: 'hello', v: 1 })))['streams'] as unknown[][]
    expect(rows.map(([name]) => name)).toEqual([later, stream, 'roster'])
  })

  it('is not served with a public pattern that no stream could fit', async () => {
    const there = await copyOf(full)
    for (const pattern of ['nope', 'csag:*:handoff', 'roster:x'])
      await expect(serve(there, [pattern])).rejects.toMatchObject({ code: 'HSTORE_USAGE' })
  })
})

describe('an agent that may read one stream', () => {
  it('gets that stream and the rosters alone, then what it is given, and keeps it', async () => {
    const there = await copyOf(full)
    await putOne(there, 'open')
    await putOne(there, 'secret')
    const root = async (...argv: string[]): Promise<void> => {
      await ok(there.run('roster', ...argv, '--as', agents.merger))
      // a server asks for the roster again after two seconds
      aheadMs += 2500
    }
    const url = await serve(there)
    await root('read', agents.a, 'csag:handoff/open')
    const here = storeAt(place(), there.genesis)
    await cp(there.keys, here.keys, { recursive: true })
    await rm(path.join(here.keys, 'trust'), { recursive: true })
    const run = (...argv: string[]) => here.runWith({ env: { HSTORE_AGENT: agents.a } }, ...argv)
    const shown = async (): Promise<string[]> => {
      const lines = (await ok(run('heads'))).out.trim().split('\n')
      return lines.map((line) => line.split(' ')[0]!)
    }
    await ok(run('clone', url, '--genesis', there.genesis))
    expect(await shown()).toEqual(['csag:csag:handoff/open'])
    expect((await run('sync', '--stream', 'csag:handoff/secret')).exit).toBe(2)
    await root('read', agents.a, 'csag:*')
    await ok(run('sync'))
    expect(await shown()).toContain('csag:csag:handoff/secret')
    await root('read', agents.a, 'none')
    await putOne(there, 'later')
    const ran = await run('sync')
    expect(await shown()).not.toContain('csag:csag:handoff/later')
    expect({ exit: ran.exit, err: ran.err }).toEqual({ exit: 0, err: '' })
  })
})
