import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { platform } from 'node:os'
import path from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { launcher } from '../support/cli.ts'
import { bytesOf, writeEnvelope } from '../support/envelope.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  makeSharedFolder,
  makeTestStore,
  ok,
  putHistory,
} from '../support/store.ts'
import type { TwoHosts } from '../support/two-hosts.ts'
import { findNamespaces, loopbackHosts } from '../support/two-hosts.ts'

const shared = await makeSharedFolder()
const namespaces = findNamespaces()
afterAll(() => namespaces?.[Symbol.dispose]())

function start(words: readonly string[], { env }: TestStore, ...argv: string[]) {
  const [program, ...rest] = [...words, process.execPath, launcher, ...argv]
  return spawn(program!, rest, {
    env: { ...env, HSTORE_AGENT: agents.merger, PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function put(store: TestStore, name: string): Promise<void> {
  const files = { 'f.bin': bytesOf(name, 2_000_000) }
  const small = { workspace: `csag:handoff/${name}`, revision: 'R1', author: agents.merger, files }
  await ok(store.run('put', await writeEnvelope(path.join(store.root, 'w'), small)))
}

/** A store is served on one host, over HTTP, and another syncs with it from the other host. */
async function walk(name: string, hosts: TwoHosts): Promise<void> {
  const there = await makeTestStore(path.join(shared, `${name}-there`))
  await putHistory(there)
  const here = await copyStore(there, path.join(shared, `${name}-here`))
  await put(there, 'there')
  await put(here, 'here')
  const [, address] = hosts.addresses
  const serve = start(hosts.on[1], there, 'serve', '--listen', `${address}:0`)
  try {
    const [said] = (await once(serve.stdout, 'data')) as [Buffer]
    const url = said.toString().trim()
    expect(url).toContain(address)
    const sync = start(hosts.on[0], here, 'sync', url)
    const out: Buffer[] = []
    sync.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    const [exit] = (await once(sync, 'close')) as [number]
    expect(exit).toBe(0)
    expect(Buffer.concat(out).toString()).toContain('1 entries came from')
  } finally {
    serve.kill('SIGKILL')
    await once(serve, 'close')
  }
  expect((await here.run('heads')).out).toBe((await there.run('heads')).out)
  for (const store of [here, there]) await ok(store.run('fsck'))
}

// where none can be had, counted as skipped
it.skipIf(namespaces === undefined)(
  'two hosts with networks of their own sync over HTTP',
  async () => {
    await walk('own', namespaces!)
  },
  60_000,
)

// other systems give loopback one address alone
it.skipIf(platform() !== 'linux')(
  'two addresses of loopback sync over HTTP',
  async () => {
    using hosts = loopbackHosts()
    await walk('loopback', hosts)
  },
  60_000,
)
