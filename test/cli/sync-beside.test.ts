import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../src/open-store.ts'
import { launcher } from '../support/cli.ts'
import { writeEnvelope } from '../support/envelope.ts'
import type { TestStore } from '../support/store.ts'
import { agents, copyStore, json, makeSharedFolder, makeTestStore, ok } from '../support/store.ts'

const shared = await makeSharedFolder()

/** Starts a verb that goes on until it is ended by its pid. */
function start(store: TestStore, ...argv: string[]): ChildProcess {
  return spawn(process.execPath, [launcher, ...argv], {
    env: { ...store.env, PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'close')
  child.kill('SIGKILL')
  await ended
}

async function put(store: TestStore, n: number): Promise<string> {
  const parents = n === 0 ? [] : [`R${n - 1}`]
  const small = { workspace: 'csag:handoff/beside', revision: `R${n}`, author: agents.merger }
  const file = await writeEnvelope(path.join(store.root, 'w'), { ...small, parents })
  return (await ok(store.run('put', file))).out.trim()
}

describe('r45: serve, watch and sync in a loop on one store', () => {
  it('undo nothing that was put, and never make a put wait for long', async () => {
    const here = await makeTestStore(path.join(shared, 'here'))
    const there = await copyStore(here, path.join(shared, 'there'))
    const serve = start(here, 'serve', '--listen', '127.0.0.1:0')
    const watch = start(here, 'watch')
    const over = new AbortController()
    const loop = async (): Promise<number> => {
      let syncs = 0
      for (; !over.signal.aborted; syncs++) await here.run('sync', there.store)
      return syncs
    }
    try {
      await once(serve.stdout!, 'data')
      const syncing = loop()
      const made: string[] = []
      const waits: number[] = []
      for (let n = 0; n < 40; n++) {
        const startMs = performance.now()
        made.push(await put(here, n))
        waits.push(performance.now() - startMs)
      }
      over.abort()
      expect(await syncing).toBeGreaterThan(0)
      for (const cid of made) expect((await here.run('get', cid, '--entry')).exit).toBe(0)
      await ok(here.run('sync', there.store))
      for (const cid of made) expect((await there.run('get', cid, '--entry')).exit).toBe(0)
      // the machine may be loaded: a put that waits for an idle verb would wait for ever
      expect(waits.toSorted((a, b) => a - b)[20]).toBeLessThan(5000)
      expect(serve.exitCode).toBeNull()
      expect(watch.exitCode).toBeNull()
    } finally {
      over.abort()
      await end(serve)
      await end(watch)
    }
  }, 120_000)
})

describe('gc and what waits in quarantine', () => {
  it('takes what is a day old, and what a link leads to never', async () => {
    const store = await makeTestStore(path.join(shared, 'gc'))
    const folder = path.join(store.store, 'quarantine', 'a'.repeat(32))
    const other = path.join(shared, 'other')
    for (const one of [folder, other]) {
      await mkdir(one, { recursive: true })
      for (const name of ['blocks', 'blocks-1-1', 'large-x', 'mine'])
        await writeFile(path.join(one, name), 'x')
    }
    await symlink(other, path.join(store.store, 'quarantine', 'linked'))
    const { spared } = json<{ spared: number }>(await ok(store.run('gc', '--json')))
    expect(spared).toBe(3)
    expect(await readdir(folder)).toHaveLength(4)
    await using opened = await openStore({ store: store.store, keys: store.keys })
    const { temporary } = await opened.gc(Date.now() + 2 * 24 * 60 * 60 * 1000)
    expect(temporary).toBe(3)
    expect(await readdir(folder)).toEqual(['mine'])
    expect(await readdir(other)).toHaveLength(4)
  })
})
