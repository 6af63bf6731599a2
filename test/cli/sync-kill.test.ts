import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it } from 'vitest'
import { launcher } from '../support/cli.ts'
import { bytesOf, randomOf, writeEnvelope } from '../support/envelope.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  makeSharedFolder,
  makeTestStore,
  ok,
  putChain,
} from '../support/store.ts'

const isSoak = Boolean(process.env['HSTORE_SOAK'])
const schedules = isSoak ? 60 : 1
const kills = 6
const shared = await makeSharedFolder()
const victims = ['client over ssh', 'server over ssh', 'both, over a folder'] as const

/** A program that does what ssh does, on this machine, and says in a file which process serves. */
async function fakeSsh(there: TestStore): Promise<{ readonly ssh: string; readonly pid: string }> {
  const ssh = path.join(there.root, 'ssh')
  const pid = path.join(there.root, 'serve.pid')
  const env = `export PATH="${path.dirname(launcher)}:$PATH" HSTORE_KEYS="${there.keys}"`
  const text = `#!/bin/sh\nfor last; do :; done\n${env}\necho $$ > "${pid}"\nexec sh -c "exec $last"\n`
  await writeFile(ssh, text, { mode: 0o700 })
  return { ssh, pid }
}

/** Starts a sync and kills one side of it after a while. */
async function syncKilled(
  here: TestStore,
  there: TestStore,
  victim: (typeof victims)[number],
  afterMs: number,
): Promise<void> {
  const { ssh, pid } = await fakeSsh(there)
  await rm(pid, { force: true })
  const url = victim === 'both, over a folder' ? there.store : `ssh://host${there.store}`
  const child = spawn(process.execPath, [launcher, 'sync', url], {
    env: { ...here.env, PATH: process.env['PATH'], HSTORE_SSH: ssh },
    stdio: 'ignore',
  })
  const ended = once(child, 'close')
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, afterMs))])
  if (victim === 'server over ssh') {
    const serving = Number(await readFile(pid, 'utf8').catch(() => '0'))
    if (serving > 0 && child.exitCode === null) killOne(serving)
  } else child.kill('SIGKILL')
  await ended
}

function killOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it has ended by itself
  }
}

async function put(store: TestStore, name: string, n: number): Promise<string> {
  const small = { workspace: `csag:handoff/${name}`, revision: `R${n}`, author: agents.merger }
  const parents = n === 0 ? [] : [`R${n - 1}`]
  const files = { [`${name}${n}.bin`]: bytesOf(`${name} ${n}`, n % 5 === 4 ? 2_500_000 : 40_000) }
  const file = await writeEnvelope(path.join(store.root, 'w'), { ...small, parents, files })
  return (await ok(store.run('put', file))).out.trim()
}

it.each(Array.from({ length: schedules }, (_, i) => i + 1))(
  'syncs that are killed on either side lose nothing, and show nothing half: schedule %i',
  async (seed) => {
    const random = randomOf(seed * 104_729)
    const here = await makeTestStore(path.join(shared, `${seed}-here`))
    const there = await copyStore(here, path.join(shared, `${seed}-there`))
    const made: string[] = []
    for (let n = 0; n < kills; n++) {
      for (let i = 0; i < 3; i++) made.push(await put(here, 'here', n * 3 + i))
      made.push(await put(there, 'there', n))
      const victim = victims[Math.floor(random() * victims.length)]!
      await syncKilled(here, there, victim, 300 + random() * 700)
      for (const store of [here, there]) {
        const { exit, out } = await store.run('verify', '--all')
        expect([0, 1], out).toContain(exit)
        expect((await store.run('fsck')).exit).toBe(0)
      }
    }
    await ok(here.run('sync', there.store))
    expect((await here.run('heads')).out).toBe((await there.run('heads')).out)
    for (const store of [here, there])
      for (const cid of made) expect((await store.run('get', cid, '--entry')).exit).toBe(0)
  },
  120_000,
)

it('a client that is killed while one answer is judged and the next one comes loses nothing', async () => {
  const here = await makeTestStore(path.join(shared, 'ahead-here'))
  const there = await copyStore(here, path.join(shared, 'ahead-there'))
  await putChain(there, 'csag:handoff/long', 2000)
  for (let n = 0; n < kills; n++) {
    await syncKilled(here, there, 'client over ssh', 500 + n * 150)
    const { exit, out } = await here.run('verify', '--all')
    expect([0, 1], out).toContain(exit)
    expect((await here.run('fsck')).exit).toBe(0)
  }
  await ok(here.run('sync', there.store))
  expect((await here.run('heads')).out).toBe((await there.run('heads')).out)
  await ok(here.run('verify', '--all'))
}, 120_000)
