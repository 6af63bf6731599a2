import { readdir, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HandoffError } from '../../src/errors.ts'
import { HttpTransport } from '../../src/sync/http-transport.ts'
import type { Transport } from '../../src/sync/protocol.ts'
import { Quarantine } from '../../src/sync/quarantine.ts'
import { noMarks } from '../../src/sync/remote-marks.ts'
import { syncSession } from '../../src/sync/session.ts'
import { SshTransport } from '../../src/sync/ssh-transport.ts'
import { openOwn } from '../../src/sync/peer.ts'
import { withOwnOf } from '../../src/sync/sync-with.ts'
import { serveOverHttp } from '../../src/sync-verbs.ts'
import type { IncomingMessage, Message } from '../../store/wire.ts'
import { launcher } from '../support/cli.ts'
import { bytesOf, writeEnvelope } from '../support/envelope.ts'
import { signerOf } from '../support/forge.ts'
import type { TestStore } from '../support/store.ts'
import { agents, copyStore, makeSharedFolder, makeTestStore, ok } from '../support/store.ts'

const shared = await makeSharedFolder()
const cutAfterBytes = 150_000
const closing: (() => Promise<unknown>)[] = []
let empty: TestStore
let full: TestStore
let copies = 0

const copyOf = (store: TestStore): Promise<TestStore> =>
  copyStore(store, path.join(shared, `copy-${copies++}`))

beforeAll(async () => {
  empty = await makeTestStore(path.join(shared, 'empty'))
  full = await copyOf(empty)
  for (let i = 0; i < 12; i++) {
    const small = { workspace: 'csag:handoff/w', revision: `R${i}`, author: agents.merger }
    const parents = i === 0 ? [] : [`R${i - 1}`]
    const files = { [`f${i}.bin`]: bytesOf(`file ${i}`, 30_000) }
    const file = await writeEnvelope(path.join(full.root, 'w'), { ...small, parents, files })
    await ok(full.run('put', file))
  }
}, 60_000)
afterAll(async () => {
  for (const close of closing) await close()
})

/** Notes the blocks that are sent. */
class NotingTransport implements Transport {
  readonly name: string
  readonly sent: string[] = []
  readonly #below: Transport

  constructor(below: Transport) {
    this.name = below.name
    this.#below = below
  }

  ask(request: Message): Promise<IncomingMessage> {
    this.sent.push(...request.blocks.map(({ cid }) => cid))
    return this.#below.ask(request)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#below[Symbol.asyncDispose]()
  }
}

/** Pushes; returns the blocks that were sent, and whether it went through. */
async function push(
  store: TestStore,
  below: Transport,
): Promise<{ readonly sent: readonly string[]; readonly isWhole: boolean }> {
  const context = { folder: store.store, keysFolder: store.keys, waitMs: 20_000 }
  const quarantine = await Quarantine.open(store.store, 'there')
  await using wire = new NotingTransport(below)
  try {
    const options = { pull: true, push: true, dryRun: false, nowMs: 1 }
    await syncSession(
      withOwnOf({ open: () => openOwn(context) }),
      wire,
      quarantine,
      noMarks,
      options,
    )
    return { sent: wire.sent, isWhole: true }
  } catch (error) {
    if (error instanceof HandoffError) return { sent: wire.sent, isWhole: false }
    throw error
  } finally {
    await quarantine.close()
  }
}

/** A port that leads to another, and is cut off after some bytes to it. */
async function cutPort(to: number, leftBytes: number): Promise<number> {
  let left = leftBytes
  const server = createServer((socket) => {
    const there = connect(to, '127.0.0.1')
    for (const one of [socket, there]) one.on('error', () => undefined)
    there.pipe(socket)
    socket.on('data', (chunk: Buffer) => {
      there.write(chunk.subarray(0, left))
      left -= chunk.length
      if (left <= 0) {
        there.end()
        socket.destroy()
      }
    })
    socket.on('close', () => there.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => new Promise((resolve) => server.close(resolve)))
  return (server.address() as AddressInfo).port
}

/** Resolves when what came before the cut waits at the remote. */
async function waits({ store }: TestStore): Promise<void> {
  const folder = path.join(store, 'quarantine')
  for (let tries = 0; tries < 400; tries++) {
    const names = await readdir(folder, { recursive: true }).catch(() => [])
    if (names.some((name) => path.basename(name).startsWith('blocks.'))) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error('nothing waits')
}

/** What was sent before a cut is sent again only where it did not come. */
async function walk(
  there: TestStore,
  cut: Transport,
  whole: () => Promise<Transport>,
): Promise<void> {
  const here = await copyOf(full)
  const first = await push(here, cut)
  expect(first.isWhole).toBe(false)
  expect(new Set(first.sent).size).toBe(first.sent.length)
  await waits(there)
  const second = await push(here, await whole())
  expect(second.isWhole).toBe(true)
  const again = second.sent.filter((cid) => first.sent.includes(cid))
  // all came but what was on its way: of what was sent at once, 30 KB each, a third
  const all = new Set([...first.sent, ...second.sent])
  expect(second.sent.length).toBeLessThan(all.size)
  expect(first.sent.length - again.length).toBeGreaterThan(3)
  expect((await there.run('heads')).out).toBe((await here.run('heads')).out)
  await ok(there.run('fsck'))
}

describe('a push that is cut', () => {
  it('goes on over HTTP without sending again what came', async () => {
    const there = await copyOf(empty)
    const options = { store: there.store, keys: there.keys, waitMs: 20_000 }
    const listen = { host: '127.0.0.1', port: 0, publicStreams: [], clock: Date.now }
    const server = await serveOverHttp(options, listen)
    closing.push(() => server.close())
    const port = Number(new URL(server.url).port)
    const signer = await signerOf(there, agents.merger)
    const to = (at: number): Transport =>
      new HttpTransport(`http://127.0.0.1:${at}`, { signer, idleMs: 20_000, clock: Date.now })
    await walk(there, to(await cutPort(port, cutAfterBytes)), async () => to(port))
  })

  it('goes on over ssh without sending again what came', async () => {
    const there = await copyOf(empty)
    const bin = path.dirname(launcher)
    const word = async (name: string, before: string): Promise<Transport> => {
      const file = path.join(shared, name)
      const env = `export PATH="${bin}:$PATH" HSTORE_KEYS="${there.keys}"`
      const text = `#!/bin/sh\nfor last; do :; done\n${env}\n${before} sh -c "$last"\n`
      await writeFile(file, text, { mode: 0o700 })
      return new SshTransport(`ssh://host${there.store}`, { command: [file], idleMs: 20_000 })
    }
    const cut = await word('cut', `dd bs=1 count=${cutAfterBytes} 2>/dev/null |`)
    await walk(there, cut, () => word('whole', 'exec'))
  })
})
