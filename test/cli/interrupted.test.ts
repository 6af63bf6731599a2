import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { launcher } from '../support/cli.ts'
import { bytesOf, writeEnvelope } from '../support/envelope.ts'
import type { TestStore } from '../support/store.ts'
import { agents, makeSharedFolder, makeTestStore, ok } from '../support/store.ts'

const shared = await makeSharedFolder()
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
let store: TestStore
let file = ''

beforeAll(async () => {
  store = await makeTestStore(path.join(shared, 'store'))
  file = await writeEnvelope(path.join(shared, 'bundle'), {
    workspace: 'w',
    revision: 'R',
    author: agents.merger,
    files: { 'big.bin': bytesOf('big', 50 * 1024 * 1024) },
  })
})

/** Sends a signal once `folder` holds a name of this kind, and returns by what the process ended. */
async function interrupt(
  argv: readonly string[],
  signal: NodeJS.Signals,
  folder: string,
  kind: RegExp,
): Promise<unknown> {
  const child = spawn(process.execPath, [launcher, ...argv], {
    cwd: store.root,
    env: { PATH: process.env['PATH'], ...store.env },
    stdio: 'ignore',
  })
  const closed = once(child, 'close')
  while (child.exitCode === null && !namesIn(folder).some((name) => kind.test(name))) await turn()
  child.kill(signal)
  const [exit, ended] = (await closed) as [number | null, NodeJS.Signals | null]
  return ended ?? exit
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

describe.each(signals)('%s', (signal) => {
  it('leaves nothing of a put that was under way', async () => {
    const tmp = path.join(store.store, 'tmp')
    expect(await interrupt(['put', file], signal, tmp, /./)).toBe(signal)
    expect(namesIn(tmp)).toEqual([])
    expect((await ok(store.run('heads'))).out).toBe('')
  })
})

describe('a bundle that is being laid out', () => {
  it.each(signals)('is gone after %s', async (signal) => {
    await ok(store.run('put', file))
    const out = path.join(shared, 'out')
    const argv = ['get', 'w', '--out', path.join(out, 'bundle')]
    let ended: unknown = 0
    // it may be done before the signal comes
    for (let tries = 0; ended === 0 && tries < 20; tries++) {
      await rm(out, { recursive: true, force: true })
      ended = await interrupt(argv, signal, out, /^bundle\./)
    }
    expect(ended).toBe(signal)
    expect(await readdir(out)).toEqual([])
  })
})
