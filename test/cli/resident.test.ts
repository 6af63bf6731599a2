import { spawnSync } from 'node:child_process'
import { openSync } from 'node:fs'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Io } from '../../src/cli/io.ts'
import { main } from '../../src/cli/program.ts'
import { passedNames } from '../../src/resident/environment.ts'
import { launcher } from '../support/cli.ts'
import { bytesOf, writeEnvelope } from '../support/envelope.ts'
import { historyFiles } from '../support/history.ts'
import { makeThinLauncher, runOn, startServe } from '../support/served.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  makeSharedFolder,
  makeTestStore,
  ok,
  putHistory,
} from '../support/store.ts'

const shared = await makeSharedFolder()
let full: TestStore
let thin: string
let cids: readonly string[]
let copies = 0

const copyOf = (store: TestStore): Promise<TestStore> =>
  copyStore(store, path.join(shared, `copy-${copies++}`))

beforeAll(async () => {
  thin = await makeThinLauncher(path.join(shared, 'thin'))
  full = await makeTestStore(path.join(shared, 'full'))
  cids = await putHistory(full)
  const small = { workspace: 'csag:handoff/other', revision: 'R1', author: agents.merger }
  const files = { 'large.bin': bytesOf('large', 3_000_000), 'small.txt': 'small' }
  const file = await writeEnvelope(path.join(full.root, 'w'), { ...small, files })
  await ok(full.run('put', file, '--as', agents.merger))
  await ok(full.run('lane', 'open', 'bench', '--as', agents.merger))
  const execution = {
    execution_id: 'run',
    authority_lane_id: 'bench',
    authority_owner_ref: agents.merger,
    authority_epoch: 1,
    root_execution_id: 'run',
    actor_ref: agents.merger,
  }
  await writeFile(path.join(full.root, 'execution.json'), JSON.stringify(execution))
  await mkdir(path.join(full.root, 'below/deeper'), { recursive: true })
})

/** Command lines of every verb that another process does, right and wrong. */
function lines(): readonly (readonly string[])[] {
  const [first = '', second = '', last = ''] = [cids[0], cids[1], cids.at(-1)]
  return [
    ['get', first],
    ['get', first, '--json'],
    ['get', first, '--entry'],
    ['get', first, '--dsse'],
    ['get', first, '--original'],
    ['get', 'nope'],
    ['get', 'nope', '--json'],
    ['get', first, '--nope'],
    ['get'],
    ['get', '--help'],
    ['get', first, '--entry', '--dsse'],
    ['get', first, '--store', 'nowhere'],
    ['get', first, '--store=store'],
    ['get', first, '--store', ''],
    ['get', first, '--keys', 'elsewhere'],
    ['get', first, '--wait', 'soon'],
    ['get', last, '--out', 'laid'],
    ['get', last, '--out', 'laid'],
    ['show', last],
    ['show', last, '--json'],
    ['show', 'csag:handoff/other'],
    ['diff', first, second],
    ['diff', first, second, '--json'],
    ['blame', last],
    ['log', last],
    ['log', last, '--json'],
    ['log', last, '--graph'],
    ['log', last, '-z', '-n', '2'],
    ['log', last, '-n', 'few'],
    ['heads'],
    ['heads', '--json'],
    ['heads', '-z'],
    ['status'],
    ['status', '--json'],
    ['inbox'],
    ['inbox', '--as', 'csag:agent/nobody'],
    ['inbox', '--json', '--as', agents.b],
    ['may-act', '--execution', 'execution.json'],
    ['may-act', '--execution', 'execution.json', '--json'],
    ['may-act', '--execution', 'nope.json'],
    ['may-act'],
    ['resume', last, '--as', agents.a],
    ['resume', last, '--as', agents.a, '--json'],
    ['resume', last, '--no-certificate', '--json'],
    ['resume', last, '--as', 'csag:agent/nobody'],
    ['resume', last, '--full', '--out', 'again'],
    ['resume', 'csag:handoff/other', '--as', agents.b],
    ['put', 'w/R1.json'],
    ['put', 'nope.json'],
    ['put', 'w/R1.json', 'nope.json', 'more.json', '--json'],
    ['put', '.'],
    ['put', 'execution.json'],
    ['put', historyFiles[0]!.file, '--as', historyFiles[0]!.agent, '--json'],
    ['put', historyFiles[1]!.file, '--as', agents.merger],
    ['put'],
  ]
}

/** Runs a command line in this process over an environment that is none of its own. */
async function runOver(env: Io['env'], argv: readonly string[]): Promise<void> {
  const store = full.root
  const quiet = { out: () => undefined, err: () => undefined, machine: 'bench' }
  const none = async (): Promise<undefined> => undefined
  const stdin = async (): Promise<Uint8Array> => new Uint8Array(0)
  await main(argv, { ...quiet, stdin, ask: none, askSecret: none, cwd: store, env })
}

describe('a verb that is done by the process that serves the store', () => {
  it('answers byte for byte as one that is done alone', async () => {
    const [here, served] = [await copyOf(full), await copyOf(full)]
    await startServe(served)
    for (const argv of lines()) {
      const { exit, outBytes, err } = await here.run(...argv)
      const own = { exit, out: Buffer.from(outBytes).toString('latin1'), err }
      // what names another store, or other keys, is not for this process
      const isElsewhere = argv.some((word) => /^(?:--keys|--store|nowhere|)$/.test(word))
      const other = await runOn(served, argv, isElsewhere ? {} : { bin: thin })
      const told = JSON.stringify(other).replaceAll(served.root, here.root)
      expect(JSON.parse(told), argv.join(' ')).toStrictEqual(JSON.parse(JSON.stringify(own)))
    }
  })

  it('reads stdin, the environment and the working directory of who asks', async () => {
    const store = await copyOf(full)
    await startServe(store, { HSTORE_AGENT: agents.b })
    const envelope = await readFile(historyFiles[0]!.file)
    const put = await runOn(store, ['put', '-'], {
      bin: thin,
      stdin: envelope,
      cwd: path.dirname(historyFiles[0]!.file),
      env: { HSTORE_AGENT: historyFiles[0]!.agent },
    })
    expect(put).toStrictEqual({
      exit: 0,
      out: `${cids[0]}\n`,
      err: 'hstore: - was there already\n',
    })
    const large = await runOn(store, ['put', '-'], { bin: thin, stdin: new Uint8Array(5_000_000) })
    expect(large).toMatchObject({ exit: 2, out: '' })
    // found upward, and the agent is the one of the store's own configuration
    const below = path.join(store.root, 'below/deeper')
    const inbox = await runOn(store, ['inbox', '--json', '--store', '../../store'], {
      bin: thin,
      cwd: below,
    })
    expect(JSON.parse(inbox.out)).toMatchObject({ agent: agents.merger })
  })

  it.each([
    ['a link', 'lnk', '/dev/stdin', 'lnk'],
    ['a link to a link', 'second', 'lnk', 'second'],
    ['a link to a folder of the process', 'self', '/proc/self', 'self/fd/0'],
    ['a link to its own working directory', 'here', '/proc/self/cwd', 'here/given.json'],
  ])('leaves alone what is another file in each process, by %s', async (_, name, to, given) => {
    const store = await copyOf(full)
    await startServe(store)
    const cwd = path.join(store.root, 'below')
    await symlink('/dev/stdin', path.join(cwd, 'lnk'))
    if (name !== 'lnk') await symlink(to, path.join(cwd, name))
    const envelope = await readFile(historyFiles[0]!.file)
    await writeFile(path.join(cwd, 'given.json'), envelope)
    await writeFile(path.join(store.root, 'given.json'), '{}')
    const bundle = path.dirname(historyFiles[0]!.file)
    const words = ['put', given, '--bundle', bundle, '--as', historyFiles[0]!.agent]
    const ran = spawnSync(process.execPath, [launcher, ...words], {
      cwd,
      env: { PATH: process.env['PATH'], ...store.env },
      stdio: [openSync(historyFiles[0]!.file, 'r'), 'pipe', 'pipe'],
      encoding: 'utf8',
    })
    expect(ran.stderr).toMatch(/^(?:|hstore: \S+ was there already\n)$/)
    expect(ran).toMatchObject({ status: 0, stdout: `${cids[0]}\n` })
  })

  it('reads nothing of the environment but what is passed on', async () => {
    const read = new Set<string>()
    const env = new Proxy(full.env, {
      get: (target, name) => (read.add(String(name)), Reflect.get(target, name) as unknown),
      ownKeys: () => {
        throw new Error('all of the environment was read')
      },
    })
    for (const argv of lines()) await runOver(env, argv)
    // who asks has neither
    for (const name of ['HSTORE_PASSPHRASE', 'SSH_AUTH_SOCK']) read.delete(name)
    expect([...read].filter((name) => !passedNames.some((passed) => passed === name))).toEqual([])
    expect(read).toContain('HSTORE_AGENT')
  })

  it('gives out large artifacts whole', async () => {
    const store = await copyOf(full)
    await startServe(store)
    const { artifacts } = JSON.parse((await runOn(store, ['put', 'w/R1.json', '--json'])).out) as {
      artifacts: readonly { cid: string; size: number }[]
    }
    const large = artifacts.find(({ size }) => size === 3_000_000)
    const got = await runOn(store, ['get', String(large?.cid)], { bin: thin })
    expect(got.exit).toBe(0)
    expect(Buffer.from(got.out, 'latin1').equals(bytesOf('large', 3_000_000))).toBe(true)
  })
})
