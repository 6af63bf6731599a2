import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { connect } from 'node:net'
import { framesOf } from '../../src/resident/frames.ts'
import { launcher } from '../support/cli.ts'
import { writeEnvelope } from '../support/envelope.ts'
import { alone, makeThinLauncher, runOn, startServe } from '../support/served.ts'
import type { TestStore } from '../support/store.ts'
import { agents, copyStore, json, makeSharedFolder, makeTestStore, ok } from '../support/store.ts'

const shared = await makeSharedFolder()
let empty: TestStore
let thin: string
let copies = 0

const copy = (): Promise<TestStore> => copyStore(empty, path.join(shared, `copy-${copies++}`))

beforeAll(async () => {
  thin = await makeThinLauncher(path.join(shared, 'thin'))
  empty = await makeTestStore(path.join(shared, 'empty'))
})

const cards = (store: TestStore): string => path.join(store.keys, 'resident')

/** The one card, which is no socket. */
async function cardOf(store: TestStore): Promise<string> {
  const names = await readdir(cards(store))
  return path.join(cards(store), names.find((name) => name.includes('-')) ?? 'none')
}

async function envelopeFor(store: TestStore, name: string): Promise<string> {
  const small = { workspace: `csag:handoff/${name}`, revision: 'R1', author: agents.merger }
  return writeEnvelope(path.join(store.root, `w-${name}`), { ...small, files: { 'a.txt': name } })
}

/** Whether another process did it: the thin launcher can do nothing itself. */
async function isServed(store: TestStore): Promise<boolean> {
  const { exit, err } = await runOn(store, ['heads'], { bin: thin })
  if (exit !== 0) expect(err).toContain('program.cjs')
  return exit === 0
}

const trusted = { exit: 0, err: '' }

describe('a process that serves a store and', () => {
  it('is told to end leaves nothing', async () => {
    const store = await copy()
    const serve = await startServe(store)
    expect(await isServed(store)).toBe(true)
    await serve.kill('SIGTERM')
    expect(await readdir(cards(store))).toStrictEqual([])
    expect(await runOn(store, ['heads'])).toMatchObject(trusted)
  })

  it('was killed is noticed, and replaced by the next', async () => {
    const store = await copy()
    const first = await startServe(store)
    await first.kill()
    expect(await readdir(cards(store))).toHaveLength(2)
    expect(await runOn(store, ['heads'])).toMatchObject(trusted)
    const second = await startServe(store)
    expect(await readdir(cards(store))).toHaveLength(2)
    expect(second.socket).not.toBe(first.socket)
    expect(await isServed(store)).toBe(true)
  })

  it('is the second does not begin', async () => {
    const store = await copy()
    await startServe(store)
    const second = await runOn(store, ['serve'])
    expect(second).toMatchObject({ exit: 8, out: '' })
    expect(second.err).toMatch(/^hstore: the local socket can't be used: another process .*\n$/)
  })

  it('was stopped holds nobody up', async () => {
    const store = await copy()
    const serve = await startServe(store)
    serve.child.kill('SIGSTOP')
    expect(await runOn(store, ['heads'])).toMatchObject(trusted)
    serve.child.kill('SIGCONT')
    expect(await isServed(store)).toBe(true)
  })

  it('holds the database only while it works', async () => {
    const store = await copy()
    await startServe(store)
    await runOn(store, ['heads'])
    // a machine that is busy may need a second try
    for (;;) {
      const ran = await runOn(store, ['heads', '--wait', '0'], { env: alone })
      if (ran.exit === 8) continue
      expect(ran).toMatchObject(trusted)
      break
    }
  })

  it('keeps the database for who comes next, and lets others have it at once', async () => {
    const store = await copy()
    const serve = await startServe(store)
    const opening = async (): Promise<string | undefined> =>
      (await readdir(path.join(store.store, 'db'))).find((name) => name.startsWith('MANIFEST'))
    const put = async (name: string, env = {}): Promise<void> => {
      const file = await envelopeFor(store, name)
      expect(await runOn(store, ['put', file, '--wait', '60'], { env })).toMatchObject(trusted)
    }
    await put('kept-a')
    const first = await opening()
    await put('kept-b')
    expect(await opening()).toBe(first)
    for (const verb of [['gc'], ['fsck'], ['fsck', '--rebuild'], ['verify', '--all']]) {
      await put(`served-${verb.join('')}`)
      await put(`alone-${verb.join('')}`, alone)
      await put(`served-again-${verb.join('')}`)
      await ok(store.run(...verb))
      expect(await isServed(store)).toBe(true)
    }
    // killed while it keeps the database open
    await put('killed')
    await serve.kill()
    const heads = await runOn(store, ['heads', '--json'])
    expect((JSON.parse(heads.out) as { heads: readonly unknown[] }).heads).toHaveLength(15)
    await ok(store.run('fsck'))
  })

  it('does not answer for a store that is gone, nor write to it', async () => {
    const store = await copy()
    const other = await copy()
    await startServe(store)
    expect(await runOn(store, ['heads'], { bin: thin })).toMatchObject(trusted)
    // what is served is a folder, by whatever name; inside it everything is another
    await rm(path.join(store.store, 'db'), { recursive: true })
    await cp(path.join(other.store, 'db'), path.join(store.store, 'db'), { recursive: true })
    const file = await envelopeFor(store, 'other')
    expect(await runOn(store, ['put', file], { bin: thin })).toMatchObject(trusted)
    const heads = await runOn(store, ['heads', '--json'], { env: alone })
    expect((JSON.parse(heads.out) as { heads: readonly unknown[] }).heads).toHaveLength(1)
    await rm(path.join(store.store, 'db'), { recursive: true })
    const served = await runOn(store, ['heads'], { bin: thin })
    expect(served).toMatchObject({ exit: 5, out: '' })
    expect(await runOn(store, ['heads'], { env: alone })).toStrictEqual(served)
  })

  it('does what 50 processes ask at once', async () => {
    const store = await copy()
    await startServe(store)
    const names = Array.from({ length: 50 }, (_, i) => `many-${i}`)
    const files = await Promise.all(names.map((name) => envelopeFor(store, name)))
    const ran = await Promise.all(files.map((file) => runOn(store, ['put', file, '--wait', '120'])))
    expect(ran.map(({ exit, err }) => `${exit}${err}`)).toStrictEqual(names.map(() => '0'))
    const heads = await store.run('heads', '--json')
    expect(json<{ heads: readonly unknown[] }>(heads).heads).toHaveLength(50)
    await ok(store.run('verify', '--all'))
  })

  it('outlives those who ask, whenever they are killed', async () => {
    const store = await copy()
    await startServe(store)
    for (let round = 0; round < 8; round++) {
      const file = await envelopeFor(store, `asked-${round}`)
      const asker = spawn(process.execPath, [launcher, 'put', file], {
        env: { PATH: process.env['PATH'], ...store.env },
        stdio: 'ignore',
      })
      const ended = once(asker, 'close')
      await sleep(50 + 8 * round)
      asker.kill('SIGKILL')
      await ended
      expect(await runOn(store, ['put', file], { bin: thin })).toMatchObject({ exit: 0 })
    }
    const heads = await runOn(store, ['heads', '--json'], { env: alone })
    expect((JSON.parse(heads.out) as { heads: readonly unknown[] }).heads).toHaveLength(8)
    await ok(store.run('verify', '--all'))
  })

  it('is killed beside puts loses none and doubles none', async () => {
    const store = await copy()
    const puts: string[] = []
    for (let round = 0; round < 6; round++) {
      const serve = await startServe(store)
      const files = await Promise.all(
        [0, 1, 2].map((i) => envelopeFor(store, `kill-${round}-${i}`)),
      )
      const running = files.map((file) => runOn(store, ['put', file, '--json']))
      await sleep(60 + 50 * round)
      await serve.kill()
      for (const ran of await Promise.all(running)) {
        expect(ran).toMatchObject({ exit: 0 })
        puts.push((JSON.parse(ran.out) as { cid: string }).cid)
      }
    }
    const { heads } = json<{ heads: readonly { cid: string }[] }>(
      await store.run('heads', '--json'),
    )
    expect(heads.map(({ cid }) => cid).toSorted()).toStrictEqual(puts.toSorted())
    await ok(store.run('verify', '--all'))
    await ok(store.run('fsck'))
  })
})

describe('trust that changes beside a process that serves', () => {
  it('counts at once: a revoked key can do nothing more', async () => {
    const store = await copy()
    await startServe(store)
    const first = await envelopeFor(store, 'first')
    const own = ['--as', agents.a]
    const mine = async (name: string): Promise<string> =>
      writeEnvelope(path.join(store.root, name), {
        workspace: `csag:handoff/${name}`,
        revision: 'R1',
        author: agents.a,
        files: {},
      })
    expect(await runOn(store, ['put', first], { bin: thin })).toMatchObject(trusted)
    expect(await runOn(store, ['put', await mine('before'), ...own], { bin: thin })).toMatchObject(
      trusted,
    )
    const { agents: known } = json<{ agents: { id: string; keys: { did: string }[] }[] }>(
      await store.run('roster', 'show', '--json'),
    )
    const did = known.find(({ id }) => id === agents.a)?.keys[0]?.did ?? ''
    await ok(store.run('roster', 'revoke', agents.a, did, '--as-of-head', '--yes'))
    const refused = await mine('after')
    const served = await runOn(store, ['put', refused, ...own], { bin: thin })
    const { exit, out, err } = await store.run('put', refused, ...own)
    expect(served).toStrictEqual({ exit, out, err })
    expect(served.exit).toBe(4)
    await ok(store.run('gc'))
    await ok(store.run('fsck'))
    expect(await isServed(store)).toBe(true)
  })

  it('counts at once: a key file that others can read, or that is gone', async () => {
    const store = await copy()
    await startServe(store)
    const file = await envelopeFor(store, 'exposed')
    const name = (await readdir(store.keys)).find((key) => key.includes('merger')) ?? ''
    await chmod(path.join(store.keys, name), 0o644)
    const exposed = await runOn(store, ['put', file], { bin: thin })
    expect(exposed).toMatchObject({ exit: 4, out: '' })
    await rm(path.join(store.keys, name))
    expect(await runOn(store, ['put', file], { bin: thin })).toMatchObject({ exit: 4, out: '' })
  })

  it('stays with who asks: a key under a passphrase is not used for others', async () => {
    const store = await copy()
    const env = { HSTORE_PASSPHRASE: 'secret' }
    const added = await runOn(store, ['key', 'new', 'csag:agent/locked'], { env })
    await ok(store.run('roster', 'add', 'csag:agent/locked', added.out.trim()))
    const file = await writeEnvelope(path.join(store.root, 'l'), {
      workspace: 'csag:handoff/locked',
      revision: 'R1',
      author: 'csag:agent/locked',
      files: {},
    })
    // it has the passphrase, and still
    await startServe(store, env)
    const put = ['put', file, '--as', 'csag:agent/locked']
    const left = await runOn(store, put)
    expect(left).toMatchObject({ exit: 4, out: '' })
    expect(left.err).toContain('--passphrase-file')
    expect(await runOn(store, put, { env })).toMatchObject(trusted)
  })
})

describe('a process that asks', () => {
  it('turns to no card, folder or socket that others could have made', async () => {
    const store = await copy()
    await startServe(store)
    const card = await cardOf(store)
    await chmod(cards(store), 0o777)
    expect(await isServed(store)).toBe(false)
    await chmod(cards(store), 0o700)
    expect(await isServed(store)).toBe(true)
    const text = await readFile(card, 'utf8')
    for (const bad of ['', text.replace(/^/, '../'), text.repeat(200), `${text}more\n`]) {
      await writeFile(card, bad)
      expect(await isServed(store)).toBe(false)
    }
    await writeFile(card, text)
    expect(await isServed(store)).toBe(true)
    if (process.getuid?.() !== 0) return
    execFileSync('chown', ['12345', cards(store)])
    expect(await isServed(store)).toBe(false)
    execFileSync('chown', ['0', cards(store)])
    execFileSync('chown', ['12345', card])
    expect(await isServed(store)).toBe(false)
  })

  it('is not answered by another build, nor with another mask of new files', async () => {
    const store = await copy()
    await startServe(store)
    const card = await cardOf(store)
    const text = await readFile(card, 'utf8')
    await writeFile(card, text.replace(/\n\S+/, '\n1-2'))
    expect(await isServed(store)).toBe(false)
    await writeFile(card, text)
    const old = process.umask(0o077)
    onTestFinished(() => void process.umask(old))
    expect(await isServed(store)).toBe(false)
  })

  it('does it alone when who answers says nothing, or what nobody understands', async () => {
    const store = await copy()
    const serve = await startServe(store)
    const name = path.basename(serve.socket)
    serve.child.kill('SIGSTOP')
    await rename(serve.socket, `${serve.socket}.old`)
    const says: readonly (Uint8Array | undefined)[] = [
      undefined,
      Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
      Buffer.from([0, 0, 0, 0]),
      Buffer.from([255, 255, 255, 255, 72]),
      framesOf('X', Uint8Array.of(0)),
      Buffer.concat([framesOf('H'), framesOf('Q')]),
      Buffer.concat([framesOf('H'), framesOf('O', Buffer.from('half'))]),
    ]
    for (const said of says) {
      const fake = createServer((socket) => {
        socket.on('error', () => undefined).resume()
        if (said !== undefined) socket.end(said)
      })
      await new Promise<void>((resolve) => void fake.listen(path.join(cards(store), name), resolve))
      const ran = await runOn(store, ['heads', '--json'])
      expect(ran).toMatchObject({ exit: 0 })
      expect(JSON.parse(ran.out)).toMatchObject({ schema: 'hstore.heads/1' })
      await new Promise<void>((resolve) => void fake.close(() => resolve()))
    }
  })
})

describe('an answer that is lost', () => {
  it('is told where part of it is out or stdin was read, and only there', async () => {
    const store = await copy()
    const serve = await startServe(store)
    serve.child.kill('SIGSTOP')
    await rename(serve.socket, `${serve.socket}.old`)
    const large = framesOf('O', new Uint8Array(1_100_000))
    for (const [said, printed] of [
      [large, 1_100_000],
      [framesOf('W'), 0],
    ] as const) {
      const fake = createServer((socket) => {
        socket.on('error', () => undefined).once('data', () => socket.end(said))
        socket.write(framesOf('H'))
      })
      await new Promise<void>((resolve) => void fake.listen(serve.socket, resolve))
      const { exit, out, err } = await runOn(store, ['get', 'nope', '--json'])
      expect(out).toHaveLength(printed)
      expect(exit).toBe(8)
      expect(JSON.parse(err)).toMatchObject({ code: 'HSTORE_ANSWER_LOST' })
      await new Promise<void>((resolve) => void fake.close(() => resolve()))
    }
  })
})

describe('a process that asks in another way', () => {
  /** Sends bytes as soon as it is its turn, and returns what came back once the connection has ended. */
  async function send(socket: string, bytes: Uint8Array): Promise<Buffer> {
    const connection = connect(socket)
    const came: Buffer[] = []
    connection.on('error', () => undefined)
    connection.on('data', (chunk: Buffer) => came.push(chunk))
    connection.write(bytes)
    await new Promise<void>((resolve) => void connection.once('close', () => resolve()))
    return Buffer.concat(came)
  }

  it('gets nothing but its turn, and holds nobody up', async () => {
    const store = await copy()
    const { socket, child } = await startServe(store)
    const [, caller, token = ''] = (await readFile(await cardOf(store), 'utf8')).split('\n')
    const request = (value: object): Buffer => framesOf('R', Buffer.from(JSON.stringify(value)))
    const good = { token, caller, argv: ['heads'], cwd: '/', env: {} }
    const hostile = [
      Buffer.alloc(0x10_0000, 255),
      Buffer.from([0, 0, 0, 0]),
      framesOf('Z'),
      framesOf('R', Buffer.from('{')),
      framesOf('R', Buffer.from('null')),
      framesOf('R', Buffer.from([0xff, 0xfe])),
      request({ ...good, token: `${token}x` }),
      request({ ...good, token: '' }),
      request({ ...good, token: [token] }),
      request({ ...good, argv: 'heads' }),
      request({ ...good, argv: [1] }),
      request({ ...good, argv: ['a\0b'] }),
      request({ ...good, argv: Array.from({ length: 5000 }, () => '') }),
      request({ ...good, cwd: 'relative' }),
      request({ ...good, env: null }),
      request({ ...good, env: { HOME: 1 } }),
      Buffer.from([0, 0, 1, 0, 82, 123]),
    ]
    const hello = framesOf('H').toString('latin1')
    for (const bytes of hostile) expect((await send(socket, bytes)).toString('latin1')).toBe(hello)
    const other = await send(socket, request({ ...good, caller: 'somebody' }))
    expect(other.toString('latin1')).toBe(hello + framesOf('A').toString('latin1'))
    const keys = ['heads', '--store', store.store, '--keys', path.join(store.root, 'other')]
    await mkdir(path.join(store.root, 'other'))
    const elsewhere = await send(socket, request({ ...good, argv: keys }))
    expect(elsewhere.toString('latin1')).toBe(hello + framesOf('A').toString('latin1'))
    expect(child.exitCode).toBe(null)
    expect(await isServed(store)).toBe(true)
    expect((await stat(socket)).mode & 0o777).toBe(0o600)
  })
})
