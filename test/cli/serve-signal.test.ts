import { once } from 'node:events'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { signerOf } from '../support/forge.ts'
import { post, told } from '../support/http-client.ts'
import { startServe } from '../support/serve-process.ts'
import { agents, makeSharedFolder, makeTestStore, ok } from '../support/store.ts'

const store = await makeTestStore(path.join(await makeSharedFolder(), 'store'))

it.each(['SIGTERM', 'SIGINT'] as const)(
  'serve that %s ends closes the database that it keeps open, and ends by that signal',
  async (signal) => {
    const server = await startServe(store)
    const signer = await signerOf(store, agents.merger)
    await told(await post(server.url, { is: 'hello', v: 1 }, { signer }))
    const holder = path.join(store.store, 'holder')
    expect(existsSync(holder)).toBe(true)
    const ended = once(server.child, 'close')
    server.child.kill(signal)
    expect(await ended).toEqual([null, signal])
    expect(existsSync(holder)).toBe(false)
    await ok(store.run('fsck'))
  },
  30_000,
)
