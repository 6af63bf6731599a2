import { execFileSync } from 'node:child_process'
import { chmod, cp, lchown, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { runProcess } from '../support/cli.ts'
import { envelopeOf, writeEnvelope } from '../support/envelope.ts'
import { expectRefused } from '../support/refusal.ts'
import { startStoreProcess } from '../support/store-processes.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  digestOf,
  filesIn,
  json,
  makeSharedFolder,
  makeTestStore,
  ok,
} from '../support/store.ts'

const shared = await makeSharedFolder()
const isRoot = process.getuid?.() === 0
const canMount = isRoot && tryMount()
let empty: TestStore
let copies = 0

beforeAll(async () => {
  empty = await makeTestStore(path.join(shared, 'empty'))
})

const fresh = (): Promise<TestStore> => copyStore(empty, path.join(shared, `copy-${copies++}`))
const small = { workspace: 'w', revision: 'R', author: agents.merger }
const envelope = (revision: string, author: string = agents.merger): string =>
  JSON.stringify(envelopeOf({ ...small, revision, author }))

function tryMount(): boolean {
  const folder = path.join(shared, 'try')
  try {
    execFileSync('mkdir', ['-p', folder])
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' })
    execFileSync('umount', [folder])
    return true
  } catch {
    return false
  }
}

describe('keys', () => {
  it('that are not here, not in the roster, or readable by others are refused with 4', async () => {
    const store = await fresh()
    const before = await digestOf(store.store)
    const put = (agent: string): readonly string[] => ['put', '-', '--as', agent]
    const by = (agent: string) => ({ stdin: envelope('R', agent) })
    const names = ['key']
    await expectRefused(
      store,
      put('bot:new'),
      { exit: 4, code: 'HSTORE_KEY_NOT_FOUND', names },
      by('bot:new'),
    )
    await ok(store.run('key', 'new', 'bot:new', '--no-passphrase'))
    await expectRefused(
      store,
      put('bot:new'),
      { exit: 4, names: ['bot:new', 'roster add'] },
      by('bot:new'),
    )
    const file = path.join(store.keys, `${encodeURIComponent(agents.merger)}.pem`)
    await chmod(file, 0o644)
    await expectRefused(
      store,
      put(agents.merger),
      { exit: 4, code: 'HSTORE_KEY_EXPOSED', names: ['600'] },
      by(agents.merger),
    )
    await chmod(file, 0o600)
    await writeFile(file, 'no key')
    await expectRefused(
      store,
      put(agents.merger),
      { exit: 4, code: 'HSTORE_KEY_INVALID' },
      by(agents.merger),
    )
    expect(await digestOf(store.store)).toBe(before)
  })

  it('with a passphrase ask for it, once, and refuse a wrong one with 4', async () => {
    const store = await fresh()
    const typed = { typed: 'right' }
    const made = await store.runWith(typed, 'key', 'new', 'bot:locked')
    await ok(store.run('roster', 'add', 'bot:locked', made.out.trim()))
    const before = await digestOf(store.store)
    const stdin = envelope('R', 'bot:locked')
    const put = ['put', '-', '--as', 'bot:locked']
    const needed = {
      exit: 4,
      code: 'HSTORE_PASSPHRASE_NEEDED',
      names: ['--passphrase-file', 'HSTORE_PASSPHRASE'],
    }
    await expectRefused(store, put, needed, { stdin })
    const wrong = { exit: 4, code: 'HSTORE_PASSPHRASE_WRONG' }
    await expectRefused(store, put, wrong, { stdin, typed: 'wrong' })
    const none = [...put, '--passphrase-file', path.join(store.root, 'none')]
    await expectRefused(
      store,
      none,
      { exit: 2, code: 'HSTORE_INPUT_UNREADABLE', names: ['none'] },
      { stdin },
    )
    expect(await digestOf(store.store)).toBe(before)
    const file = path.join(store.root, 'passphrase')
    await writeFile(file, 'right\n')
    expect((await store.runWith({ stdin }, ...put, '--passphrase-file', file)).exit).toBe(0)
    const env = { HSTORE_PASSPHRASE: 'right' }
    expect((await store.runWith({ stdin, env }, ...put)).exit).toBe(0)
  })

  it('can not be made without a passphrase by oversight', async () => {
    const store = await fresh()
    const before = await filesIn(store.keys)
    const needed = { exit: 4, code: 'HSTORE_PASSPHRASE_NEEDED', names: ['--no-passphrase'] }
    await expectRefused(store, ['key', 'new', 'bot:new'], needed)
    await expectRefused(store, ['key', 'new', agents.merger, '--no-passphrase'], {
      exit: 6,
      code: 'HSTORE_KEY_EXISTS',
    })
    expect(await filesIn(store.keys)).toEqual(before)
  })
})

describe('a store', () => {
  it('that is not there is named, with what to do', async () => {
    const env = { HSTORE_STORE: '' }
    const names = ['hstore init']
    for (const argv of [
      ['heads'],
      ['put', '-'],
      ['verify', '--all'],
      ['resume', 'x'],
      ['log', 'x'],
    ]) {
      await expectRefused(
        empty,
        argv,
        { exit: 2, code: 'HSTORE_STORE_MISSING', names },
        { cwd: shared, env, stdin: '{}' },
      )
    }
    const nowhere = path.join(shared, 'nowhere')
    await expectRefused(empty, ['heads', '--store', nowhere], { exit: 2, names: [nowhere] })
  })

  it('that is there is not made again', async () => {
    const store = await fresh()
    const before = await digestOf(store.store)
    const again = ['init', '--as', agents.a]
    const told = await expectRefused(store, again, {
      exit: 6,
      code: 'HSTORE_STORE_EXISTS',
      names: [store.genesis],
    })
    expect(told).toMatchObject({ genesis: store.genesis })
    expect(await digestOf(store.store)).toBe(before)
    const filled = path.join(store.root, 'filled')
    await mkdir(filled)
    await writeFile(path.join(filled, 'mine.txt'), '')
    await expectRefused(store, [...again, '--store', filled], { exit: 2, names: ['mine.txt'] })
    await expectRefused(store, ['init', '--store', path.join(store.root, 'x')], {
      exit: 4,
      code: 'HSTORE_AGENT_NEEDED',
      names: ['--as'],
    })
  })

  it('that another process holds is waited for as long as asked, then refused with its pid', async () => {
    const store = await fresh()
    const holder = startStoreProcess('hold', store.store)
    await holder.said(1)
    const busy = { exit: 8, code: 'HSTORE_STORE_BUSY', names: [String(holder.pid), '--wait'] }
    for (const [wait, least, most] of [
      ['0', 0, 0.25],
      ['0.3', 0.3, 1],
    ] as const) {
      const began = performance.now()
      const told = await expectRefused(store, ['put', '-', '--wait', wait], busy, {
        stdin: envelope('R'),
      })
      const seconds = (performance.now() - began) / 2000
      expect(told).toMatchObject({ holder: holder.pid })
      expect(seconds).toBeGreaterThanOrEqual(least)
      expect(seconds).toBeLessThan(most)
    }
    const waiting = runProcess(['put', '-', '--wait', '20'], {
      env: store.env,
      cwd: store.root,
      stdin: envelope('R'),
    })
    setTimeout(() => void holder.kill(), 200)
    expect((await waiting).exit).toBe(0)
  })

  it.skipIf(!isRoot)('of another owner is refused with 4', async () => {
    const store = await fresh()
    for (const file of [store.store, ...(await filesIn(store.store))])
      await lchown(file, 65_534, 65_534)
    const before = await digestOf(store.store)
    for (const argv of [['heads'], ['put', '-'], ['verify', '--all']]) {
      const foreign = { exit: 4, code: 'HSTORE_STORE_FOREIGN', names: ['65534', store.store] }
      await expectRefused(store, argv, foreign, { stdin: envelope('R') })
    }
    expect(await digestOf(store.store)).toBe(before)
  })

  it.skipIf(isRoot)('that may not be written is refused with 8', async () => {
    const store = await fresh()
    await chmod(path.join(store.store, 'db'), 0o500)
    onTestFinished(() => chmod(path.join(store.store, 'db'), 0o700))
    await expectRefused(store, ['put', '-'], { exit: 8 }, { stdin: envelope('R') })
  })

  it.skipIf(!canMount)('on a read-only file system is refused with 8', async () => {
    const store = await fresh()
    execFileSync('mount', ['--bind', store.store, store.store])
    onTestFinished(() => void execFileSync('umount', [store.store]))
    execFileSync('mount', ['-o', 'remount,bind,ro', store.store])
    const readOnly = { exit: 8, code: 'HSTORE_STORE_READ_ONLY', names: [store.store] }
    await expectRefused(store, ['put', '-'], readOnly, { stdin: envelope('R') })
    const inside = path.join(store.store, 'new')
    await expectRefused(store, ['init', '--as', agents.a, '--store', inside], { exit: 8 })
    const file = path.join(store.store, 'new.pem')
    await expectRefused(store, ['key', 'new', 'bot:x', '--no-passphrase', '--keys', file], {
      exit: 8,
    })
  })

  it.skipIf(!canMount)('on a full disk is refused with 8, and whole afterwards', async () => {
    const store = await fresh()
    const disk = path.join(store.root, 'disk')
    await mkdir(disk)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', disk])
    onTestFinished(() => void execFileSync('umount', [disk]))
    await cp(store.store, path.join(disk, 'store'), { recursive: true })
    const to = ['--store', path.join(disk, 'store')]
    const acknowledged: string[] = []
    let exit = 0
    for (let i = 0; exit === 0 && i < 20; i++) {
      const files = { 'data.bin': `${i}`.padEnd(i % 2 === 0 ? 600_000 : 1_100_000, 'x') }
      const file = await writeEnvelope(path.join(store.root, `b${i}`), {
        ...small,
        revision: `R${i}`,
        files,
      })
      const ran = await store.run('put', file, ...to, '--json')
      exit = ran.exit
      if (exit === 0) acknowledged.push(json<{ cid: string }>(ran).cid)
      else expect(JSON.parse(ran.err)).toMatchObject({ code: 'HSTORE_STORE_FULL' })
    }
    expect({ exit, some: acknowledged.length > 0 }).toEqual({ exit: 8, some: true })
    expect(await filesIn(path.join(disk, 'store', 'tmp'))).toEqual([])
    execFileSync('mount', ['-o', 'remount,size=64m', disk])
    expect((await store.run('verify', '--all', ...to)).exit).toBe(0)
    for (const cid of acknowledged) expect((await store.run('resume', cid, ...to)).exit).toBe(0)
  })

  it('that somebody shipped is a first contact: 4, until its genesis is named', async () => {
    const store = await fresh()
    await ok(store.runWith({ stdin: envelope('R') }, 'put', '-'))
    const keys = path.join(store.root, 'other-keys')
    const before = await digestOf(store.store)
    const contact = { exit: 4, code: 'HSTORE_GENESIS_NEEDED', names: [store.genesis, '--genesis'] }
    for (const argv of [['heads'], ['verify', '--all'], ['resume', 'csag:w', '--no-certificate']]) {
      await expectRefused(store, [...argv, '--keys', keys], contact)
    }
    const other = `baguqeera${'a'.repeat(52)}`
    const mismatch = { exit: 4, code: 'HSTORE_GENESIS_MISMATCH', names: [store.genesis, other] }
    await expectRefused(store, ['heads', '--keys', keys, '--genesis', other], mismatch)
    await expectRefused(store, ['heads', '--keys', keys], contact)
    expect(await digestOf(store.store)).toBe(before)
    await ok(store.run('heads', '--keys', keys, '--genesis', store.genesis))
    await ok(store.run('verify', '--all', '--keys', keys))
    await expectRefused(store, ['heads', '--genesis', other], mismatch)
  })

  it('whose configuration was changed is refused', async () => {
    const store = await fresh()
    const file = path.join(store.store, 'config.json')
    const config = await readFile(file, 'utf8')
    const cases: readonly (readonly [text: string, exit: number])[] = [
      ['', 5],
      ['{}', 5],
      [config.replace('"format": 1', '"format": 2'), 9],
      [config.replace(store.genesis, `baguqeera${'a'.repeat(52)}`), 4],
      [config.replace(store.genesis, 'constructor'), 5],
    ]
    for (const [text, exit] of cases) {
      await writeFile(file, text)
      await expectRefused(store, ['verify', '--all'], { exit })
    }
    await writeFile(file, config)
    await rm(path.join(store.store, 'db', 'CURRENT'))
    await expectRefused(store, ['verify', '--all'], {
      exit: 5,
      code: 'HSTORE_STORE_DAMAGED',
      names: ['run hstore fsck'],
    })
  })
})

describe('a REF', () => {
  it('that names nothing is refused with 2', async () => {
    const store = await fresh()
    const { out } = await ok(store.runWith({ stdin: envelope('R') }, 'put', '-'))
    const cid = out.trim()
    const unknown = `baguqeera${'a'.repeat(52)}`
    const refs = [
      'csag:nothing',
      unknown,
      cid.toUpperCase(),
      cid.slice(0, -1),
      `z${cid}`,
      '',
      '__proto__',
      '\u0000',
      'w\u0000',
      '../w',
    ]
    for (const ref of refs) {
      for (const verb of ['get', 'show', 'log', 'resume', 'verify']) {
        const told = await expectRefused(store, [verb, '--', ref], { exit: 2 })
        expect({ ref, verb, code: told['code'] }).toEqual({
          ref,
          verb,
          code: 'HSTORE_REF_NOT_FOUND',
        })
      }
    }
  })

  it('that names several is refused with 2, and all are named', async () => {
    const store = await fresh()
    const cids: string[] = []
    for (const revision of ['A', 'B']) {
      cids.push((await ok(store.runWith({ stdin: envelope(revision) }, 'put', '-'))).out.trim())
    }
    for (const ref of ['csag:w', 'w']) {
      const ambiguous = { exit: 2, code: 'HSTORE_REF_AMBIGUOUS', names: cids }
      const told = await expectRefused(store, ['resume', ref], ambiguous)
      expect(told['candidates']).toEqual([...cids].sort())
    }
    await ok(store.run('resume', 'w/revision/A'))
  })

  it('may be an artifact for get, and no entry elsewhere', async () => {
    const store = await fresh()
    const file = await writeEnvelope(path.join(store.root, 'b'), {
      ...small,
      files: { 'a.txt': 'abc' },
    })
    const { artifacts } = json<{ artifacts: { cid: string }[] }>(
      await ok(store.run('put', file, '--json')),
    )
    const { cid } = artifacts[0]!
    expect((await ok(store.run('get', cid))).out).toBe('abc')
    expect((await store.run('verify', cid)).exit).toBe(0)
    for (const argv of [
      ['log', cid],
      ['get', cid, '--out', path.join(store.root, 'out')],
      ['resume', cid],
    ]) {
      await expectRefused(store, argv, { exit: 2, names: [cid] })
    }
  })
})

describe('a wrong line', () => {
  it('is refused with 2 in one line', async () => {
    const file = path.join(shared, 'x.json')
    await writeFile(file, envelope('R'))
    const before = await digestOf(empty.store)
    const lines: readonly (readonly string[])[] = [
      ['nonsense'],
      ['put'],
      ['put', file, '--nonsense'],
      ['put', file, '--wait', 'soon'],
      ['put', file, '--wait', '-1'],
      ['put', file, '--wait', ''],
      ['put', '-', '-'],
      ['get'],
      ['get', 'a', 'b'],
      ['get', 'a', '--entry', '--original'],
      ['verify', '--all', 'w'],
      ['log', 'w', '-n', '0'],
      ['log', 'w', '-n', 'x'],
      ['resume'],
      ['resume', 'a', 'b'],
      ['key', 'nonsense'],
      ['key'],
      ['key', 'export', agents.a, '--format', 'x'],
      ['key', 'export', agents.a, '--format', 'did', '--secret'],
      ['roster', 'add', 'bot:x'],
      ['validate', file, '--profile', 'x'],
    ]
    for (const line of lines) {
      await expectRefused(empty, line, { exit: 2, code: 'HSTORE_USAGE' })
    }
    for (const line of [
      ['roster', 'add', 'bot:x', 'did:key:z6MkNonsense'],
      ['roster', 'add', '', `did:key:z6Mk`],
    ]) {
      await expectRefused(empty, line, { exit: 2 })
    }
    expect(await digestOf(empty.store)).toBe(before)
  })

  it('without any word shows help and exits 2', async () => {
    const { exit, out, err } = await empty.run()
    expect({ exit, out }).toEqual({ exit: 2, out: '' })
    expect(err).toContain('Usage')
  })
})
