import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { launcher } from '../support/cli.ts'
import { bytesOf, randomOf, writeEnvelope } from '../support/envelope.ts'
import type { TestStore } from '../support/store.ts'
import { agents, json, makeTestStore, ok, storeAt } from '../support/store.ts'
import { makeTempFolder } from '../support/temp-folder.ts'

const seed = 31
const isSoak = Boolean(process.env['HSTORE_SOAK'])
const rounds = isSoak ? 200 : 4
// each round puts an artifact above 1 MiB, and every check reads them all
const verbRounds = isSoak ? 60 : 3

/** Runs a verb as a process that is killed after some time, and says whether it had ended by then. */
async function killed(
  { env, root }: TestStore,
  argv: readonly string[],
  afterMs: number,
): Promise<boolean> {
  const child = spawn(process.execPath, [launcher, ...argv], {
    cwd: root,
    env: { PATH: process.env['PATH'], ...env },
    stdio: 'ignore',
  })
  const ended = once(child, 'close')
  await Promise.race([ended, sleep(afterMs)])
  child.kill('SIGKILL')
  const [code] = (await ended) as [number | null]
  return code !== null
}

describe('verbs that are killed', () => {
  it(`init: the next one makes the store whole, in ${rounds} rounds (seed ${seed})`, async () => {
    const random = randomOf(seed)
    for (let round = 0; round < rounds; round++) {
      const store = storeAt(path.join(await makeTempFolder(), 'fresh'), '')
      const init = ['init', '--as', agents.merger, '--no-passphrase']
      const env = { ...store, root: path.dirname(store.root) }
      await killed(env, init, 60 + random() * 220)
      const had = existsSync(path.join(store.store, 'config.json'))
      const again = await store.runWith({ cwd: env.root }, ...init)
      expect({ exit: again.exit, err: had ? '' : again.err }).toMatchObject({ exit: had ? 6 : 0 })
      const document = await writeEnvelope(path.join(store.root, 'b'), {
        workspace: 'w',
        revision: 'R',
        author: agents.merger,
      })
      await ok(store.runWith({ cwd: env.root }, 'put', document))
      expect((await store.runWith({ cwd: env.root }, 'verify', '--all')).exit).toBe(0)
    }
  })

  it(`put, resume, roster add: the store stays whole, in ${verbRounds} rounds (seed ${seed})`, async () => {
    const random = randomOf(seed)
    const store = await makeTestStore(await makeTempFolder())
    const base = { workspace: 'w', author: agents.merger }
    const first = await writeEnvelope(path.join(store.root, 'b'), { ...base, revision: 'R0' })
    await ok(store.run('put', first))
    for (let round = 0; round < verbRounds; round++) {
      const files = { [`f${round}.bin`]: bytesOf(`f${round}`, 1_100_000) }
      const small = { ...base, workspace: `w${round}`, revision: 'R', files }
      const file = await writeEnvelope(path.join(store.root, 'b'), small)
      const agent = `bot:${round}`
      const did = (await ok(store.run('key', 'new', agent, '--no-passphrase'))).out.trim()
      const lines = [
        ['put', file],
        ['resume', 'csag:w', '--full'],
        ['roster', 'add', agent, did],
      ]
      for (const argv of lines) {
        await killed(store, argv, 60 + random() * 240)
        const verified = await store.run('verify', '--all', '--json')
        expect(verified.exit).toBe(0)
        expect(json(verified)).toMatchObject({ ok: true })
        expect((await store.run('resume', 'csag:w', '--no-certificate')).exit).toBe(0)
        // the same line again does what was left undone, or finds it done
        await ok(store.run(...argv))
      }
    }
    const roster = json<{ agents: unknown[] }>(await store.run('roster', 'show', '--json'))
    expect(roster.agents).toHaveLength(3 + verbRounds)
  })
})
