import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, rm, truncate } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { openStore } from '../../src/open-store.ts'
import { launcher } from '../support/cli.ts'
import { bytesOf, envelopeOf, randomOf, writeEnvelope } from '../support/envelope.ts'
import { bodyOf, openBelow } from '../support/forge.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  json,
  makeSharedFolder,
  makeTestStore,
  ok,
  withLevel,
} from '../support/store.ts'

const seed = 11
const rounds = process.env['HSTORE_SOAK'] ? 60 : 2
const shared = await makeSharedFolder()
const author = agents.merger
const count = 60
let ground: TestStore

beforeAll(async () => {
  ground = await makeTestStore(path.join(shared, 'ground'))
  const files = { 'f.bin': bytesOf('f', 1_100_000) }
  const small = { workspace: 'large', revision: 'R', author, files }
  await ok(ground.run('put', await writeEnvelope(path.join(ground.root, 'b'), small)))
  for (let part = 0; part < 3; part++) {
    await using open = await openStore({ store: ground.store, keys: ground.keys, agent: author })
    for (let i = part * 20; i < part * 20 + 20; i++) {
      const parents = i === 0 ? [] : [`R${i - 1}`]
      await open.put(envelopeOf({ workspace: 'w', revision: `R${i}`, author, parents }))
    }
  }
})

/** Runs a command as a process that is killed after a time, unless it has ended by then; returns how long it ran. */
async function killed(
  { env, root }: TestStore,
  argv: readonly string[],
  afterMs: number,
): Promise<number> {
  const began = performance.now()
  const child = spawn(process.execPath, [launcher, ...argv], {
    cwd: root,
    env: { PATH: process.env['PATH'], ...env },
    stdio: 'ignore',
  })
  const ended = once(child, 'close')
  await Promise.race([ended, sleep(afterMs)])
  child.kill('SIGKILL')
  await ended
  return performance.now() - began
}

/** How a store is before the command: what is to be rebuilt or collected. */
const befores: Readonly<Record<string, (store: TestStore, round: number) => Promise<unknown>>> = {
  'fsck --rebuild': ({ store }) => truncate(path.join(store, 'db', 'CURRENT'), 0),
  'fsck  --rebuild': ({ store }) =>
    withLevel(store, async (level) => {
      for await (const key of level.keys()) if (key.startsWith('!heads!')) await level.del(key)
    }),
  async gc(store, round) {
    await using context = await openBelow(store)
    const blocks = Array.from({ length: 300 }, (_, i) => bodyOf({ loose: `${round} ${i}` }))
    await context.db.commit({ blocks, rows: [] })
  },
  async heads(store, round) {
    const small = { workspace: `h${round}`, revision: 'R', author }
    await ok(store.run('put', await writeEnvelope(path.join(store.root, 'b'), small)))
  },
}

describe('a command that is killed', () => {
  it.each(Object.entries(befores))(
    `%s: no entry is lost, in ${rounds} rounds (seed ${seed})`,
    async (line, before) => {
      const random = randomOf(seed)
      const store = await copyStore(ground, path.join(shared, line.replaceAll(' ', '-')))
      const argv = line.split(/ +/)
      let usualMs = 400
      for (let round = 0; round < rounds; round++) {
        await before(store, round)
        const ranMs = await killed(store, argv, 40 + random() * usualMs)
        usualMs = Math.max(usualMs, ranMs)
        const heads = await store.run('heads')
        // it works, or says what to do
        expect(heads).toMatchObject(
          heads.exit === 0
            ? { err: '' }
            : {
                exit: 5,
                err: expect.stringMatching(/^hstore: [^\n]*hstore fsck[^\n]*\n$/) as string,
              },
        )
        const rebuilt = await store.run('fsck', '--rebuild', '--json')
        expect({
          round,
          exit: rebuilt.exit,
          out: rebuilt.exit === 0 ? '' : rebuilt.out + rebuilt.err,
        }).toEqual({ round, exit: 0, out: '' })
        const logged = await ok(store.run('log', 'csag:w'))
        expect(logged.out.trim().split('\n')).toHaveLength(count)
        expect(json(await ok(store.run('verify', '--all', '--json')))).toMatchObject({ ok: true })
        await ok(store.run('gc'))
        const left = (await readdir(store.store)).filter(
          (name) =>
            !/^(?:acknowledged|artifacts|closed|config\.json|damaged-\d+|db|lock|tmp|wanted)$/.test(
              name,
            ),
        )
        expect({ round, left }).toEqual({ round, left: [] })
        for (const name of await readdir(store.store)) {
          if (name.startsWith('damaged-'))
            await rm(path.join(store.store, name), { recursive: true })
        }
      }
    },
  )
})
