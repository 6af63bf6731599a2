import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { launcher } from '../support/cli.ts'
import { randomOf } from '../support/envelope.ts'
import { agents, copyStore, json, makeTestStore, ok } from '../support/store.ts'
import type { TestStore } from '../support/store.ts'
import { makeTempFolder } from '../support/temp-folder.ts'
import { LaneBench, status } from '../src/lanes/lane-bench.ts'

const { a, b } = agents
const seed = 54
const points = process.env['HSTORE_SOAK'] ? 76 : 2
const to = ['--surface', 'board:v2'] as const

/** Starts a command line as a process of its own and kills it after some time. */
async function kill({ env, root }: TestStore, argv: readonly string[], afterMs: number) {
  const child = spawn(process.execPath, [launcher, ...argv], {
    cwd: root,
    env: { PATH: process.env['PATH'], ...env },
    stdio: 'ignore',
  })
  const ended = once(child, 'close')
  await Promise.race([ended, sleep(afterMs)])
  child.kill('SIGKILL')
  await ended
}

const lane = (agent: string, ...argv: string[]): string[] => ['lane', ...argv, '--as', agent]
const opening = [lane(a, 'open', 'docs')]
const offering = [
  ...opening,
  lane(a, 'propose', 'docs', '--to', b, ...to),
  lane(b, 'signal', 'docs', ...to, '--status', 'READY', '--for', '6000'),
  lane(b, 'read', 'docs'),
]

/** Two heads of one owner, as two of its machines make them. */
async function fork(store: TestStore): Promise<void> {
  const bench = await LaneBench.open(store)
  const [head] = (await bench.shown('docs')).heads[0]!.entries
  for (const next of ['ONE', 'TWO'])
    await bench.sign(a, 'docs', status('docs', head!, next), {
      parents: [head!],
      payload: { prev: [], seq: 1 },
    })
  await bench.close()
  await ok(store.run(...lane(a, 'read', 'docs')))
}

/** What leads up to each act, and who holds the pen once it has ended. */
const acts = [
  {
    name: 'propose',
    before: opening,
    act: lane(a, 'propose', 'docs', '--to', b, ...to),
    holder: [a, 1],
  },
  { name: 'ack', before: offering, act: lane(b, 'ack', 'docs'), holder: [a, 1] },
  {
    name: 'commit',
    before: [...offering, lane(b, 'ack', 'docs')],
    act: lane(a, 'commit', 'docs'),
    holder: [b, 2],
  },
  { name: 'join', before: opening, act: lane(a, 'join', 'docs', '--status', 'ON'), holder: [a, 1] },
] as const

describe.each(acts)('lane $name that is killed', ({ name, before, act, holder }) => {
  it(`leaves one owner at one epoch, and the same command ends it, at ${points} points (seed ${seed})`, async () => {
    const random = randomOf(seed)
    const root = await makeTempFolder()
    const ready = await makeTestStore(path.join(root, 'ready'))
    for (const line of before) await ok(ready.run(...line))
    if (name === 'join') await fork(ready)
    for (let point = 0; point < points; point++) {
      const store = await copyStore(ready, path.join(root, `point-${point}`))
      await kill(store, act, 50 + random() * 450)
      const state = async (): Promise<readonly unknown[]> => {
        const { owner, epoch } = json(await ok(store.run('lane', 'show', 'docs', '--json')))
        return [owner, epoch]
      }
      expect([[a, 1], holder]).toContainEqual(await state())
      const once = json(await ok(store.run(...act, '--json')))
      expect(await state()).toEqual(holder)
      const again = json(await ok(store.run(...act, '--json')))
      expect({ ...again, new: once['new'] }).toEqual(once)
      expect(again['new']).toBe(false)
      expect((await store.run('verify', '--all')).exit).toBe(0)
    }
  }, 900_000)
})
