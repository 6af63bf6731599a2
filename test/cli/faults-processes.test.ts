import { spawnSync } from 'node:child_process'
import { cp, mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { openStore } from '../../src/open-store.ts'
import { runProcess } from '../support/cli.ts'
import type { Ran } from '../support/cli.ts'
import { bytesOf, envelopeOf, writeEnvelope } from '../support/envelope.ts'
import { readRaw } from '../support/raw-blocks.ts'
import type { PutProcess } from '../support/put-processes.ts'
import { startPuts } from '../support/put-processes.ts'
import { startStoreProcess } from '../support/store-processes.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  filesIn,
  json,
  makeSharedFolder,
  makeTestStore,
  ok,
  storeAt,
} from '../support/store.ts'

const isSoak = Boolean(process.env['HSTORE_SOAK'])
const shared = await makeSharedFolder()
const author = agents.merger
let ground: TestStore
let copies = 0

beforeAll(async () => {
  ground = await makeTestStore(path.join(shared, 'ground'))
})

const fresh = (): Promise<TestStore> => copyStore(ground, path.join(shared, `copy-${copies++}`))

/** Runs the command line as a process on a store; waits for its turn as long as it takes. */
const run = ({ env, root }: TestStore, ...argv: readonly string[]): Promise<Ran> =>
  runProcess([...argv, '--wait', '120'], { env, cwd: root })

async function entriesOf(store: TestStore, stream: string): Promise<readonly string[]> {
  const { out } = await ok(store.run('log', stream))
  return out
    .trim()
    .split('\n')
    .map((line) => line.slice(0, line.indexOf(' ')))
}

async function expectSound(store: TestStore): Promise<void> {
  for (const argv of [['verify', '--all'], ['fsck']]) {
    const { exit, out, err } = await store.run(...argv)
    expect({ argv, exit, said: exit === 0 ? '' : out + err }).toEqual({ argv, exit: 0, said: '' })
  }
}

/** Does something again and again until the others are done, and returns how often. */
async function meanwhile(others: Promise<unknown>, work: () => Promise<unknown>): Promise<number> {
  const done = new AbortController()
  void others.then(
    () => done.abort(),
    () => done.abort(),
  )
  let times = 0
  for (; !done.signal.aborted; times++) await work()
  return times
}

describe('a lock file that somebody deletes', () => {
  const first = isSoak ? 200 : 20
  const second = isSoak ? 50 : 5

  it(`while ${first + second} entries are put beside fsck, fsck --rebuild and gc loses none`, async () => {
    const store = await fresh()
    const { store: folder, keys, root } = store
    const upkeep = ['fsck', 'fsck --rebuild', 'gc']
    // one process holds the store for a while and lets go, as a session does; the file goes while it is held
    const one = (async () => {
      for (let part = 0; part < 5; part++) {
        await using open = await openStore({
          store: folder,
          keys,
          agent: agents.a,
          waitMs: 120_000,
        })
        for (let i = 0; i < first / 5; i++) {
          const small = { workspace: 'one', revision: `R${part}-${i}`, author: agents.a }
          await open.put(envelopeOf(small))
          await rm(path.join(folder, 'db', 'LOCK'), { force: true })
          await sleep(20)
        }
      }
    })()
    const two = (async () => {
      for (let i = 0; i < second; i++) {
        const { exit, out, err } = await run(store, ...upkeep[i % 3]!.split(' '))
        expect({ i, exit, said: exit === 0 ? '' : out + err }).toEqual({ i, exit: 0, said: '' })
        const parents = i === 0 ? [] : [`R${i - 1}`]
        const small = { workspace: 'two', revision: `R${i}`, author, parents }
        await ok(run(store, 'put', await writeEnvelope(path.join(root, 'b2'), small)))
      }
    })()
    await Promise.all([one, two])
    expect(new Set(await entriesOf(store, 'csag:two')).size).toBe(second)
    const { checked } = json<{ checked: { entries: number } }>(
      await ok(store.run('verify', '--all', '--json')),
    )
    expect(checked.entries).toBe(first + second)
    await expectSound(store)
  })
})

describe('a store that is held', () => {
  it('is waited for, then refused with the pid and what to do; free at once after kill -9', async () => {
    const store = await fresh()
    const file = await writeEnvelope(path.join(store.root, 'b'), {
      workspace: 'w',
      revision: 'R',
      author,
    })
    const holder = startStoreProcess('hold', store.store)
    await holder.said(1)
    for (const argv of [
      ['put', file],
      ['log', 'csag:w'],
      ['fsck'],
      ['fsck', '--rebuild'],
      ['gc'],
      ['status'],
    ]) {
      const began = performance.now()
      const { exit, err } = await store.run(...argv, '--wait', '0.2')
      expect({ argv, exit, err }).toEqual({
        argv,
        exit: 8,
        err: expect.stringMatching(
          new RegExp(`^hstore: [^\n]*process ${holder.pid}[^\n]*--wait[^\n]*\n$`),
        ) as string,
      })
      expect(performance.now() - began).toBeGreaterThan(190)
    }
    await holder.kill()
    await ok(store.run('put', file, '--wait', '0'))
    await expectSound(store)
  })
})

describe('one envelope from ten processes at once', () => {
  it.each([
    ['small', 1000],
    ['of 3 MiB', 3 * 1024 * 1024],
  ])('with an artifact %s is one entry and one copy', async (_, size) => {
    const store = await fresh()
    const files = { 'f.bin': bytesOf('ten', size) }
    const file = await writeEnvelope(path.join(store.root, 'b'), {
      workspace: 'w',
      revision: 'R',
      author,
      files,
    })
    const processes = Array.from({ length: isSoak ? 30 : 10 }, () => run(store, 'put', file))
    const all = await Promise.all(processes)
    expect(all.map(({ exit }) => exit)).toEqual(all.map(() => 0))
    expect(new Set(all.map(({ out }) => out)).size).toBe(1)
    expect(await entriesOf(store, 'csag:w')).toHaveLength(1)
    expect(await filesIn(path.join(store.store, 'tmp'))).toEqual([])
    expect(await filesIn(path.join(store.store, 'artifacts'))).toHaveLength(
      size > 1_048_576 ? 1 : 0,
    )
    await expectSound(store)
  })
})

describe('a store that is copied while in use', () => {
  const rounds = isSoak ? 12 : 1
  const copiesEach = 4

  /** One of four has the store, the others wait; it is ended after each copy, so that the next one has its turn. */
  function startWriters({ store, keys, root }: TestStore): readonly PutProcess[] {
    return [0, 1, 2, 3].map((i) => {
      const agent = Object.values(agents)[i % 3]!
      return startPuts('endless', store, keys, agent, `w${i}`, path.join(root, `b${i}`))
    })
  }

  async function tryCopy(copy: TestStore, printed: readonly string[]): Promise<void> {
    const heads = await copy.run('heads')
    if (heads.exit !== 0) {
      expect(heads.exit).toBe(5)
      expect(heads.err).toMatch(/^hstore: [^\n]+\n$/)
    }
    const { out } = await copy.run('fsck', '--rebuild')
    await ok(copy.run('heads'))
    const held = new Set((await readRaw(copy)).blocks.keys())
    const told = `${heads.err}${out}`
    expect(printed.filter((cid) => !held.has(cid) && !told.includes(cid))).toEqual([])
    const small = { workspace: 'new', revision: 'N', author }
    await ok(copy.run('put', await writeEnvelope(path.join(copy.root, 'b'), small)))
  }

  it(`works, or says that it is torn and names what it lacks, in ${rounds * copiesEach} copies`, async () => {
    for (let round = 0; round < rounds; round++) {
      const store = await fresh()
      const writers = startWriters(store)
      for (let i = 0; i < copiesEach; i++) {
        const before = writers.flatMap((one) => one.printed()).length
        while (writers.flatMap((one) => one.printed()).length === before) await sleep(5)
        await sleep(23 * round)
        const printed = writers.flatMap((one) => [...one.printed()])
        const copy = storeAt(path.join(shared, `torn-${round}-${i}`), store.genesis)
        await mkdir(copy.root)
        // files that vanish meanwhile are left out
        spawnSync('cp', ['-r', store.store, copy.store], { stdio: 'ignore' })
        await cp(store.keys, copy.keys, { recursive: true })
        await tryCopy(copy, printed)
        await rm(copy.root, { recursive: true })
        if (i < copiesEach - 1) await writers.find((one) => one.printed().length > 0)?.kill()
      }
      await Promise.all(writers.map((one) => one.kill()))
      await rm(store.root, { recursive: true })
    }
  })
})

describe('eight writers beside gc and fsck', () => {
  const each = isSoak ? 40 : 2

  it(`put ${each} each: none is lost, and nobody waits in vain`, async () => {
    const store = await fresh()
    const all = Object.values(agents)
    const writers = Array.from({ length: 8 }, (_, i) =>
      startPuts(
        'each',
        store.store,
        store.keys,
        all[i % 3]!,
        `own:${i}`,
        path.join(store.root, `b${i}`),
        String(each),
      ),
    )
    const codes = Promise.all(writers.map(({ ended }) => ended))
    const upkeep = [['gc'], ['fsck'], ['fsck', '--rebuild']]
    let next = 0
    const times = await meanwhile(codes, async () => {
      const argv = upkeep[next++ % upkeep.length]!
      const { exit, out, err } = await run(store, ...argv)
      expect({ argv, exit, said: exit === 0 ? '' : out + err }).toEqual({ argv, exit: 0, said: '' })
    })
    expect({ codes: await codes, said: writers.map((one) => one.said()).join('') }).toEqual({
      codes: writers.map(() => 0),
      said: '',
    })
    expect(times).toBeGreaterThan(0)
    expect(new Set(writers.flatMap((one) => [...one.printed()])).size).toBe(8 * each)
    const { checked } = json<{ checked: { entries: number } }>(
      await ok(store.run('verify', '--all', '--json')),
    )
    expect(checked.entries).toBe(8 * each)
    await expectSound(store)
    expect(
      (await readdir(store.store)).filter((name) =>
        /^(?:damaged|kept|lock-|rebuild|salvage)/.test(name),
      ),
    ).toEqual([])
  })
})
