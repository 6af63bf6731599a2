import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { launcher, runProcess } from '../support/cli.ts'
import { bytesOf, envelopeOf, writeEnvelope } from '../support/envelope.ts'
import { startStoreProcess } from '../support/store-processes.ts'
import type { TestStore } from '../support/store.ts'
import { agents, copyStore, json, makeSharedFolder, makeTestStore, ok } from '../support/store.ts'

const shared = await makeSharedFolder()
let store: TestStore
let big = ''
const bytes = bytesOf('big', 5_000_000)

beforeAll(async () => {
  store = await makeTestStore(path.join(shared, 'store'))
  const file = await writeEnvelope(path.join(shared, 'bundle'), {
    workspace: 'w',
    revision: 'R',
    author: agents.merger,
    files: { 'big.bin': bytes },
  })
  const put = json<{ artifacts: { cid: string }[] }>(await ok(store.run('put', file, '--json')))
  big = put.artifacts[0]!.cid
})

const run = (argv: readonly string[], options: Parameters<typeof runProcess>[1] = {}) =>
  runProcess(argv, { cwd: store.root, env: store.env, ...options })

describe('bin/hstore', () => {
  it('answers --version and --help without a store', async () => {
    const { version } = JSON.parse(
      await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
    ) as { version: string }
    expect(await run(['--version'], { env: {} })).toMatchObject({ exit: 0, out: `${version}\n` })
    const help = await run(['--help'], { env: {} })
    expect(help).toMatchObject({ exit: 0, err: '' })
    expect(help.out).toContain('resume')
  })

  it('says when the working directory is gone', async () => {
    const child = spawn(
      'sh',
      [
        '-c',
        'mkdir gone && cd gone && rmdir ../gone && "$0" "$1" heads',
        process.execPath,
        launcher,
      ],
      { cwd: shared, stdio: ['ignore', 'pipe', 'pipe'] },
    )
    let err = ''
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
    expect(await once(child, 'close')).toEqual([2, null])
    expect(err).toBe('hstore: the working directory is gone: change to one that is there\n')
  })

  it('writes every byte into a pipe', async () => {
    const got = await run(['get', big])
    expect(got).toMatchObject({ exit: 0, err: '' })
    expect(Buffer.compare(got.outBytes, bytes)).toBe(0)
  })

  it('ends quietly when its reader has seen enough', async () => {
    const child = spawn(process.execPath, [launcher, 'get', big], {
      cwd: store.root,
      env: { PATH: process.env['PATH'], ...store.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let err = ''
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString()
    })
    await once(child.stdout, 'data')
    child.stdout.destroy()
    const [code] = (await once(child, 'close')) as [number | null]
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect((await store.run('verify', '--all', '--wait', '0')).exit).toBe(0)
  })

  it('tells errors on stderr in one line, with their exit codes', async () => {
    const none = await run(['get', 'nothing'])
    expect(none).toMatchObject({ exit: 2, out: '' })
    expect(none.err).toMatch(/^hstore: [^\n]+\n$/)
    const asJson = await run(['get', 'nothing', '--json'])
    expect(JSON.parse(asJson.err)).toMatchObject({ code: 'HSTORE_REF_NOT_FOUND' })
    expect((await run(['nonsense'])).exit).toBe(2)
  })

  it('does not judge the beginning of an input that is too long', async () => {
    const document = JSON.stringify(
      envelopeOf({ workspace: 'x', revision: 'R', author: agents.merger }),
    )
    const stdin = Buffer.alloc(64 * 1024 * 1024 + 100, ' ')
    stdin.write(document)
    stdin.write('garbage', stdin.length - 7)
    const put = await run(['put', '-', '--json'], { stdin })
    expect(put).toMatchObject({ exit: 2, out: '' })
    expect(put.err).toMatch(/HSTORE_INPUT_(?:UNREADABLE|TOO_LARGE)/)
    expect((await run(['validate', '-'], { stdin })).exit).toBe(1)
  })

  it('does not ask for a passphrase where there is no terminal', async () => {
    const copy = await copyStore(store, path.join(shared, 'locked'))
    await ok(copy.runWith({ typed: 'secret' }, 'key', 'new', 'bot:locked'))
    const document = JSON.stringify(
      envelopeOf({ workspace: 'x', revision: 'R', author: 'bot:locked' }),
    )
    const put = await run(['put', '-', '--as', 'bot:locked'], { env: copy.env, stdin: document })
    expect(put).toMatchObject({ exit: 4, out: '' })
  })

  it('finds the store upward from the working directory', async () => {
    const root = path.join(shared, 'project')
    const deep = path.join(root, 'a', 'b')
    await mkdir(deep, { recursive: true })
    const env = { HSTORE_KEYS: path.join(shared, 'project-keys'), HOME: shared }
    const init = await run(['init', '--as', 'bot:x', '--no-passphrase'], { cwd: root, env })
    expect(init.exit).toBe(0)
    const shown = await run(['roster', 'show', '--json'], { cwd: deep, env })
    expect(json(shown)).toMatchObject({ genesis: init.out.trim() })
    expect((await run(['heads'], { cwd: shared, env })).exit).toBe(2)
  })

  it('keeps its keys where the user’s data are, for their owner alone', async () => {
    const home = path.join(shared, 'home')
    const made = await run(['key', 'new', 'bot:x', '--no-passphrase', '--json'], {
      env: { HOME: home },
    })
    const file = path.join(home, '.local/share/hstore/keys', 'bot%3Ax.pem')
    expect(json(made)).toMatchObject({ path: file, level: 'file' })
    const data = path.join(shared, 'data')
    const env = { HOME: home, XDG_DATA_HOME: data }
    const other = await run(['key', 'new', 'bot:x', '--no-passphrase', '--json'], { env })
    expect(json(other)).toMatchObject({ path: path.join(data, 'hstore/keys', 'bot%3Ax.pem') })
  })

  it('ends at once when it is told to while it waits, and leaves the store as it was', async () => {
    const copy = await copyStore(store, path.join(shared, 'waiting'))
    const holder = startStoreProcess('hold', copy.store)
    await holder.said(1)
    const child = spawn(process.execPath, [launcher, 'heads'], {
      cwd: copy.root,
      env: { PATH: process.env['PATH'], ...copy.env },
      stdio: 'ignore',
    })
    await sleep(400)
    expect(child.exitCode).toBe(null)
    const began = performance.now()
    child.kill('SIGTERM')
    await once(child, 'close')
    expect(performance.now() - began).toBeLessThan(1000)
    await holder.kill()
    expect((await copy.run('verify', '--all', '--wait', '0')).exit).toBe(0)
  })
})
