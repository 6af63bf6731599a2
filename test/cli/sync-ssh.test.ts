import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { launcher } from '../support/cli.ts'
import { bytesOf, writeEnvelope } from '../support/envelope.ts'
import { hasSshd, startSshd } from '../support/loopback-sshd.ts'
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

const shared = await makeSharedFolder()
let full: TestStore
let copies = 0

const place = (): string => path.join(shared, `copy-${copies++}`)
const copyOf = (store: TestStore): Promise<TestStore> => copyStore(store, place())
const heads = async (store: TestStore): Promise<string> => (await store.run('heads')).out

beforeAll(async () => {
  full = await makeTestStore(place())
  await putHistory(full)
})

/** A program that does what ssh does, on this machine: runs its last word, with the keys of `there`; cut after some bytes. */
async function fakeSsh(there: TestStore, mostBytes?: number): Promise<string> {
  const file = path.join(shared, `ssh-${copies++}`)
  const bin = path.dirname(launcher)
  const run = `for last; do :; done\nexport PATH="${bin}:$PATH" HSTORE_KEYS="${there.keys}"\n`
  const cut =
    mostBytes === undefined
      ? 'exec sh -c "$last"'
      : `exec 3<&0\nsh -c "$last" <&3 | { dd bs=1 count=${mostBytes} 2>/dev/null; kill $$; }`
  await writeFile(file, `#!/bin/sh\n${run}${cut}\n`, { mode: 0o700 })
  return file
}

async function putOne(store: TestStore, name: string, files = {}): Promise<void> {
  const small = { workspace: `csag:handoff/${name}`, revision: 'R1', author: agents.merger, files }
  await ok(store.run('put', await writeEnvelope(path.join(store.root, 'w'), small)))
}

/** Clones, goes on at both ends, and syncs; the heads have to be the same. */
async function walk(url: string, there: TestStore, env: Record<string, string>): Promise<void> {
  const here = storeAt(place(), there.genesis)
  const run = (...argv: string[]) => here.runWith({ env }, ...argv)
  await ok(run('clone', url, '--genesis', there.genesis))
  expect(await heads(here)).toBe(await heads(there))
  await putOne(there, 'there', { 'l.bin': bytesOf('there', 3_000_000), 's.txt': 'small' })
  const wrote = await copyOf(here)
  await putOne({ ...wrote, ...(await withKeys(wrote, there)) }, 'here', {
    'l.bin': bytesOf('here', 2_500_000),
  })
  const ran = await ok(wrote.runWith({ env }, 'sync'))
  expect(ran.out).toBe('1 entries came from origin, 1 went there\n')
  expect(await heads(wrote)).toBe(await heads(there))
  expect((await wrote.run('fsck')).exit).toBe(0)
  expect((await there.run('fsck')).exit).toBe(0)
}

/** The store with the keys of another, which may sign in it. */
async function withKeys(store: TestStore, other: TestStore): Promise<Pick<TestStore, 'run'>> {
  const env = { HSTORE_KEYS: other.keys, HSTORE_AGENT: agents.merger }
  return { run: (...argv) => store.runWith({ env }, ...argv) }
}

describe('ssh://', () => {
  it('goes through the program that HSTORE_SSH names', async () => {
    const there = await copyOf(full)
    const warnings: Error[] = []
    const note = (warning: Error): void => void warnings.push(warning)
    process.on('warning', note)
    onTestFinished(() => void process.off('warning', note))
    await walk(`ssh://host${there.store}`, there, { HSTORE_SSH: await fakeSsh(there) })
    expect(warnings).toEqual([])
  })

  // where there is no OpenSSH, counted as skipped
  it.skipIf(!hasSshd)('goes through a real sshd on loopback, by a key alone', async () => {
    const there = await copyOf(full)
    await using sshd = await startSshd(path.join(shared, 'sshd'), { HSTORE_KEYS: there.keys })
    const url = `ssh://127.0.0.1:${sshd.port}${there.store}`
    const PATH = process.env['PATH'] ?? ''
    const other = path.join(shared, 'other-key')
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', other])
    const stranger = `${sshd.ssh.replace(/-i \S+/, `-i ${other}`)} -o IdentitiesOnly=yes -o BatchMode=yes`
    const ran = await there.runWith({ env: { HSTORE_SSH: stranger, PATH } }, 'sync', url)
    expect(ran).toMatchObject({ exit: 9, out: '' })
    expect(ran.err).toContain('publickey')
    await walk(url, there, { HSTORE_SSH: sshd.ssh, PATH })
  })

  it('names what ssh says when it can not get there', async () => {
    const here = await copyOf(full)
    const failing = path.join(shared, 'failing')
    await writeFile(failing, '#!/bin/sh\necho "no route: \u001b[31mred" >&2\nexit 255\n', {
      mode: 0o700,
    })
    const ran = await here.runWith({ env: { HSTORE_SSH: failing } }, 'sync', 'ssh://nowhere/x')
    expect(ran).toMatchObject({ exit: 9, out: '' })
    expect(ran.err).toContain('no route')
    expect(ran.err).not.toContain('\u001b')
    const none = await here.runWith({ env: { HSTORE_SSH: '/nonexistent' } }, 'sync', 'ssh://h/x')
    expect(none).toMatchObject({ exit: 9 })
    // the system says this one at once, the others later
    const bad = await here.runWith({ env: { HSTORE_SSH: `${failing}/x` } }, 'sync', 'ssh://h/x')
    expect(bad).toMatchObject({ exit: 9, out: '' })
  })

  it('keeps the last lines of what ssh says, on one line', async () => {
    const here = await copyOf(full)
    const failing = path.join(shared, 'warning')
    const many = `i=0\nwhile [ $i -lt 200 ]; do echo "Warning: Identity file $i not accessible." >&2; i=$((i+1)); done\n`
    const last = 'user@nowhere: Permission denied (publickey).'
    await writeFile(failing, `#!/bin/sh\n${many}printf '${last}\\r\\n' >&2\nexit 255\n`, {
      mode: 0o700,
    })
    const ran = await here.runWith({ env: { HSTORE_SSH: failing } }, 'sync', 'ssh://nowhere/x')
    expect(ran).toMatchObject({ exit: 9, out: '' })
    expect(ran.err).toContain(`"Warning: Identity file 199 not accessible.; ${last}"`)
    expect(ran.err).not.toContain(String.raw`\u000`)
  })

  it('says of a folder that is no store over there to look at the address', async () => {
    const there = await copyOf(full)
    const env = { HSTORE_SSH: await fakeSsh(there) }
    const ran = await there.runWith({ env }, 'sync', `ssh://host${shared}`)
    expect(ran).toMatchObject({ exit: 9, out: '' })
    expect(ran.err).toContain('is no store: look at the address')
  })

  it('takes no word of an address for an option', async () => {
    const here = await copyOf(full)
    for (const url of [
      'ssh://-oProxyCommand=x/p',
      'ssh://-l@h/p',
      'ssh://h',
      'ssh:///p',
      'ssh://a:b@h/p',
      'ssh://%2DoProxyCommand=x@h/p',
      'ssh://h/a%00b',
      'ssh://h/%zz',
    ])
      expect(await here.run('sync', url), url).toMatchObject({ exit: 2 })
  })
})

describe('a clone that fails', () => {
  it('is named by every verb where it was cut short, and goes on', async () => {
    const there = await copyOf(full)
    const here = storeAt(place(), there.genesis)
    const argv = ['clone', `ssh://host${there.store}`, '--genesis', there.genesis]
    const cutSsh = { HSTORE_SSH: await fakeSsh(there, 2500) }
    expect((await here.runWith({ env: cutSsh }, ...argv)).exit).toBe(9)
    for (const verb of [['status'], ['sync'], ['fsck'], ['fsck', '--rebuild']]) {
      const told = await here.run(...verb)
      expect([told.exit, told.err]).toEqual([
        2,
        expect.stringContaining('cut short: give the same hstore clone again'),
      ])
    }
    await ok(here.runWith({ env: { HSTORE_SSH: await fakeSsh(there) } }, ...argv))
    expect(await heads(here)).toBe(await heads(there))
    const { err } = await here.run(...argv)
    expect(err).toContain('hstore sync goes on')
    expect(await readdir(here.store)).not.toContain('config.json.cloning')
  })

  it('leaves nothing where nothing came', async () => {
    const here = storeAt(place(), full.genesis)
    const genesis = full.genesis.replace(/.{4}$/, 'aaaa')
    for (const source of [full.store, path.join(shared, 'none')]) {
      expect((await here.run('clone', source, '--genesis', genesis)).exit).not.toBe(0)
      expect(existsSync(here.store)).toBe(false)
    }
  })
})
