import { chmod, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { readRelay } from '../../src/contracts/turns/markdown.ts'
import { readTurn } from '../../src/contracts/turns/turn.ts'
import type { Ran } from '../support/cli.ts'
import { runProcess } from '../support/cli.ts'
import type { TestStore } from '../support/store.ts'
import { json, ok, storeAt } from '../support/store.ts'
import { makeTempFolder } from '../support/temp-folder.ts'
import { claimed, lastTurnTaken } from '../src/turns/drafts.ts'
import { appended, draftBy, freshRelay } from '../src/turns/relays.ts'

/** Returns a store of alpha, with a key of beta, and a relay whose pen alpha has taken. */
async function makeStore(): Promise<TestStore> {
  const store = storeAt(await makeTempFolder(), '')
  await ok(store.run('init', '--as', 'alpha', '--no-passphrase'))
  const did = (await ok(store.run('key', 'new', 'beta', '--no-passphrase'))).out.trim()
  await ok(store.run('roster', 'add', 'beta', did))
  await take(store, 'alpha', freshRelay)
  return store
}

const fileOf = (store: TestStore): string => `${store.root}/M8SHIFT.md`
const read = (store: TestStore): Promise<string> => readFile(fileOf(store), 'utf8')

/** Claims the pen of a relay. */
async function take(store: TestStore, agent: string, relay?: string): Promise<void> {
  const text = relay ?? (await read(store))
  await writeFile(fileOf(store), claimed(new Uint8Array(Buffer.from(text)), agent))
}

const inStore = (store: TestStore, ...argv: string[]): Promise<Ran> =>
  store.run('turn', 'append', ...argv, '--relay', 'demo')
const inFile = (store: TestStore, ...argv: string[]): Promise<Ran> =>
  inStore(store, ...argv, '--file', 'M8SHIFT.md')

describe('hstore turn append', () => {
  it('writes the relay as M8Shift does, and the entry', async () => {
    const store = await makeStore()
    await writeFile(`${store.root}/body.txt`, 'First line.\r\nM8SHIFT:TURN is disarmed.\n\n')
    const argv = ['--ask', 'go on', '--done', 'so far', '--schema', 'stage4.v1', '--role-to', 'b']
    const ran = await ok(
      inFile(
        store,
        'alpha',
        '--to',
        'beta',
        ...argv,
        '--body',
        'body.txt',
        '--field',
        'x_a=1',
        'x_b=2',
      ),
    )
    const relay = await read(store)
    const { before, draft } = lastTurnTaken(new Uint8Array(Buffer.from(relay)))
    const more = {
      flags: { role_to: 'b', schema: 'stage4.v1' },
      fields: ['x_a=1', 'x_b=2'],
      at: draft.at,
      body: 'First line.\nM8SHIFT:TURN is disarmed.',
    }
    expect(appended(Buffer.from(before).toString(), draftBy('alpha', more))).toBe(relay)
    expect(Math.abs(Date.parse(draft.at) - Date.now())).toBeLessThan(600_000)
    const entry = json(await ok(store.run('show', ran.out.trim(), '--json')))
    expect(entry).toMatchObject({ kind: 'turn', author: 'alpha', stream: 'm8:demo' })
    expect((await store.run('turn', 'export', '--relay', 'demo')).out).toBe(relay)
    const again = json(
      await ok(store.run('turn', 'import', 'M8SHIFT.md', '--relay', 'demo', '--json')),
    )
    expect(again).toMatchObject({ new: false, turns: 2 })
  })

  it('stays with the agents that write, each for itself', async () => {
    const store = await makeStore()
    await ok(inFile(store, 'alpha', '--to', 'beta'))
    await take(store, 'beta')
    await ok(inFile(store, 'beta', '--to', 'alpha', '--as', 'beta'))
    const { findings } = json<{ findings: { code: string; message: string }[] }>(
      await ok(store.run('verify', '--json')),
    )
    expect(findings.map(({ message }) => message)).toEqual([
      expect.stringContaining('that system made them is not claimed'),
    ])
  })

  it('writes a relay on without its file, pen and all', async () => {
    const store = await makeStore()
    await take(store, 'alpha', freshRelay.replace('state:    IDLE', 'state:    AWAITING_ALPHA'))
    await ok(inFile(store, 'alpha', '--to', 'beta'))
    expect((await inStore(store, 'alpha', '--to', 'beta')).err).toContain('does not hold the pen')
    await ok(inStore(store, 'beta', '--to', 'alpha', '--as', 'beta'))
    await ok(inStore(store, 'alpha', '--to', 'beta'))
    const { out } = await ok(store.run('turn', 'export', '--relay', 'demo'))
    const turns = readRelay(new Uint8Array(Buffer.from(out))).turns.map(({ turn }) => turn)
    expect(turns.map(({ number, agent }) => `${number} ${agent}`)).toEqual([
      '0 system',
      '1 alpha',
      '2 beta',
      '3 alpha',
    ])
    expect(out).toContain('state:    AWAITING_BETA\n')
  })

  it('takes in what is new in the file first, and tells', async () => {
    const store = await makeStore()
    await take(store, 'alpha', appended(appended(freshRelay, draftBy('alpha')), draftBy('beta')))
    const report = json(await ok(inFile(store, 'alpha', '--to', 'beta', '--json')))
    expect(report).toMatchObject({ number: '3', imported: 3, new: true })
  })

  it('waits for M8Shift’s own lock, no longer than M8Shift does, and ends the job when told again', async () => {
    const store = await makeStore()
    const before = await read(store)
    const lock = `${store.root}/.m8shift.lock`
    await writeFile(lock, '1:1')
    const held = await inFile(store, 'alpha', '--to', 'beta', '--ask', 'go')
    expect([held.exit, held.out, await read(store)]).toEqual([8, '', before])
    expect(held.err).toMatch(
      /^hstore: \S+m8shift\.lock is held .*nothing was read; give the same command again, a minute later .*\n$/,
    )
    expect(await readFile(lock, 'utf8')).toBe('1:1')
    await rm(lock)
    await ok(inFile(store, 'alpha', '--to', 'beta', '--ask', 'go'))
    expect(await read(store)).toContain('- ask:     go\n')
    const known = await ok(store.run('turn', 'import', 'M8SHIFT.md', '--relay', 'demo'))
    expect(known.err).toContain('nothing new')
    expect((await readdir(store.root)).filter((name) => name.startsWith('.m8shift'))).toEqual([])
  }, 60_000)

  it('is in the store and the file after kills and the same command again', async () => {
    const store = await makeStore()
    const before = await read(store)
    const argv = ['turn', 'append', 'alpha', '--to', 'beta', '--file', 'M8SHIFT.md', '--relay']
    for (const [i, timeoutMs] of [120, 180, 240, 300, 400, 600].entries()) {
      await writeFile(fileOf(store), before)
      await runProcess([...argv, `demo ${i}`], { cwd: store.root, env: store.env, timeoutMs })
      // a lock that the kill has left counts no more after a minute
      await rm(`${store.root}/.m8shift.lock`, { force: true })
      const again = await store.run(...argv, `demo ${i}`)
      // the file may have had it before the kill: then the pen is gone
      if (again.exit !== 0) expect(again.err).toContain('does not hold the pen')
      const { out } = await ok(store.run('turn', 'log', '--relay', `demo ${i}`))
      expect(out.split('\n')).toHaveLength(3)
      expect((await store.run('turn', 'export', '--relay', `demo ${i}`)).out).toBe(
        await read(store),
      )
    }
  })

  it('does not go on over a closed turn that was changed', async () => {
    const store = await makeStore()
    await ok(inFile(store, 'alpha', '--to', 'beta'))
    await take(store, 'beta', (await read(store)).replace('relay made', 'relay kept'))
    const before = await read(store)
    const ran = await inFile(store, 'beta', '--to', 'alpha', '--as', 'beta')
    expect([ran.exit, await read(store)]).toEqual([6, before])
    expect(ran.err).toContain('was rewritten')
  })

  it('keeps the mode of the file, and a link to it', async () => {
    const store = await makeStore()
    await chmod(fileOf(store), 0o640)
    await symlink('M8SHIFT.md', `${store.root}/linked.md`)
    await ok(inStore(store, 'alpha', '--to', 'beta', '--file', 'linked.md'))
    expect((await stat(fileOf(store))).mode & 0o777).toBe(0o640)
    expect(await read(store)).toContain('TURN 1 alpha BEGIN')
  })

  it('refuses a turn that an earlier one would swallow', async () => {
    const store = await makeStore()
    await take(store, 'alpha', `${freshRelay}\n<!-- M8SHIFT:TURN 1 alpha BEGIN -->\nlost\n`)
    const before = await read(store)
    const ran = await inFile(store, 'alpha', '--to', 'beta')
    expect([ran.exit, await read(store)]).toEqual([1, before])
    expect((await store.run('heads')).out).not.toContain('m8:demo')
  })

  it.each([
    [['alpha'], 2],
    [['alpha', '--to', 'alpha'], 1],
    [['alpha', '--to', 'gamma'], 1],
    [['beta', '--to', 'alpha'], 4],
    [['alpha', '--to', 'beta', '--field', 'at=1999'], 1],
    [['alpha', '--to', 'beta', '--ask', 'M8SHIFT:LOCK'], 1],
    [['alpha', '--to', 'beta', '--body', 'none'], 2],
    [['alpha', '--to', 'beta', '--body', 'bad.bin'], 1],
    [['alpha', '--to', 'beta', '--body', 'large.txt'], 1],
  ])('%j ends with %i, and writes nothing', async (argv, exit) => {
    const store = await makeStore()
    await writeFile(`${store.root}/bad.bin`, Buffer.from([0xff]))
    await writeFile(`${store.root}/large.txt`, 'x'.repeat(262_145))
    const before = await read(store)
    const ran = await inFile(store, ...argv)
    expect([ran.exit, await read(store)]).toEqual([exit, before])
    expect(ran.err.split('\n')).toHaveLength(2)
    expect((await store.run('heads')).out).not.toContain('m8:demo')
  })

  it('takes a body of any size when told, and from stdin', async () => {
    const store = await makeStore()
    const body = 'x'.repeat(262_145)
    const argv = [
      'turn',
      'append',
      'alpha',
      '--to',
      'beta',
      '--relay',
      'demo',
      '--file',
      'M8SHIFT.md',
    ]
    const env = { M8SHIFT_AGENT_MODEL: 'some-model', M8SHIFT_AGENT_EFFORT: 'HIGH' }
    await ok(store.runWith({ stdin: body, env }, ...argv, '--body', '-', '--allow-large-body'))
    const { turn } = readRelay(new Uint8Array(await readFile(fileOf(store)))).turns.at(-1)!
    const { fields, body: kept } = readTurn(turn)
    expect(kept).toBe(body)
    expect(fields.slice(-2)).toEqual([
      { key: 'model', value: 'some-model' },
      { key: 'effort', value: 'high' },
    ])
  })
})
