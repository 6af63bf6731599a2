import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Ran } from '../support/cli.ts'
import type { TestStore } from '../support/store.ts'
import { agents, json, makeSharedFolder, makeTestStore, ok } from '../support/store.ts'

const { a, b, merger } = agents
let store: TestStore

const root = {
  execution_id: 'run-1',
  authority_lane_id: 'docs',
  authority_owner_ref: a,
  authority_epoch: 1,
  root_execution_id: 'run-1',
  actor_ref: a,
  process_state: 'RUNNING',
}
const child = { ...root, execution_id: 'run-2', parent_execution_id: 'run-1', actor_ref: 'tool' }

beforeAll(async () => {
  store = await makeTestStore(await makeSharedFolder())
  await ok(store.run('lane', 'open', 'docs', '--as', a))
})

async function file(name: string, value: unknown): Promise<string> {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  await writeFile(path.join(store.root, name), text)
  return name
}

async function ask(execution: unknown, ...more: readonly string[]): Promise<Ran> {
  return store.run('may-act', '--execution', await file('run.json', execution), ...more)
}

async function askAll(executions: unknown, lane = 'docs'): Promise<Ran> {
  const name = await file('runs', executions)
  return store.run('may-act', '--quiescent', lane, '--executions', name, '--json')
}

const codeOf = ({ err }: Ran): unknown => (JSON.parse(err) as { code: unknown }).code

describe('hstore may-act', () => {
  it('allows what is bound to the owner and epoch of its lane, with what it rests on', async () => {
    const ran = await ask(root)
    expect(ran).toMatchObject({
      exit: 0,
      out: `SIDE_EFFECT_ALLOWED\nexecution_id run-1\nauthority_owner_ref ${a}\nauthority_epoch 1\n`,
      err: `hstore: docs is held by ${a} at epoch 1; never synced with a named remote\n`,
    })
    expect(json(await ask(root, '--json'))).toEqual({
      schema: 'hstore.may-act/1',
      status: 'SIDE_EFFECT_ALLOWED',
      detail: { execution_id: 'run-1', authority_owner_ref: a, authority_epoch: 1 },
      lane: 'docs',
      stream: 'lane:docs',
      owner: a,
      epoch: 1,
      notMade: [],
      lastContact: null,
    })
  })

  it('never allows a child in silence whose parent was not given', async () => {
    const { exit, err } = await ask(child)
    expect(exit).toBe(0)
    expect(err).toContain('no check: lineage: the parent "run-1" was not given\n')
    const parent = await file('parent.json', root)
    const whole = json(await ask(child, '--parent', parent, '--json'))
    expect(whole).toMatchObject({ status: 'SIDE_EFFECT_ALLOWED', notMade: [] })
    const middle = await file('parent.json', { ...root, parent_execution_id: 'run-0' })
    expect(json(await ask(child, '--parent', middle, '--json'))['notMade']).toEqual([
      'lineage: the parent\'s own parent "run-0" was not looked at',
    ])
  })

  it.each([
    ['BLOCKED_LANE_MISMATCH', { authority_lane_id: 'other' }, root],
    ['BLOCKED_PARENT_EXECUTION_MISMATCH', { parent_execution_id: 'run-9' }, root],
    ['BLOCKED_AUTHORITY_LINEAGE_ESCAPE', { root_execution_id: 'run-2' }, root],
    ['BLOCKED_REVOKED_AUTHORITY_EPOCH', { authority_epoch: 2 }, { ...root, authority_epoch: 2 }],
    [
      'BLOCKED_REVOKED_AUTHORITY_OWNER',
      { authority_owner_ref: b },
      { ...root, authority_owner_ref: b },
    ],
  ])('%s ends with 1', async (status, odds, parent) => {
    const more = ['--lane', 'docs', '--parent', await file('parent.json', parent), '--json']
    const ran = await ask({ ...child, ...odds }, ...more)
    expect([ran.exit, json(ran)['status']]).toEqual([1, status])
  })

  it.each([
    ['a property that is missing', { ...root, actor_ref: undefined }, '/actor_ref'],
    ['a property too many', { ...root, pid: 7 }, '/pid'],
    ['an epoch as text', { ...root, authority_epoch: '1' }, '/authority_epoch'],
    ['no object', [root], ''],
  ])('refuses %s by its place', async (_, execution, pointer) => {
    const ran = await ask(execution, '--json')
    expect([ran.exit, codeOf(ran)]).toEqual([2, 'HSTORE_DOCUMENT_INVALID'])
    expect(JSON.parse(ran.err)).toMatchObject({ path: 'run.json', pointer })
  })

  it('has nothing to say of a lane that is not open', async () => {
    const ran = await ask({ ...root, authority_lane_id: 'none' }, '--json')
    expect([ran.exit, codeOf(ran)]).toEqual([2, 'HSTORE_REF_NOT_FOUND'])
  })

  it('wants one question', async () => {
    const name = await file('run.json', root)
    const all = ['--quiescent', 'docs', '--executions', name]
    for (const argv of [
      [],
      ['--quiescent', 'docs'],
      ['--executions', name],
      ['--execution', name, '--executions', name],
      [...all, '--execution', name],
      [...all, '--lane', 'docs'],
      [...all, '--parent', name],
    ]) {
      expect((await store.run('may-act', ...argv)).exit, argv.join(' ')).toBe(2)
    }
  })
})

describe('hstore may-act --quiescent', () => {
  const old = { ...root, authority_epoch: 0 }
  const ended = { ...old, execution_id: 'run-3', process_state: 'EXITED' }

  it.each([
    ['a list', [old, ended, root]],
    ['one a line', `${JSON.stringify(old)}\r\n\n${JSON.stringify(ended)}\n${JSON.stringify(root)}`],
  ])('names what is revoked and what is live, of %s', async (_, executions) => {
    const ran = await askAll(executions)
    expect(ran.exit).toBe(3)
    expect(json(ran)).toMatchObject({
      status: 'REVOCATION_PENDING_LIVE_EXECUTIONS',
      detail: { revoked_execution_ids: ['run-1', 'run-3'], live_execution_ids: ['run-1'] },
      executions: 3,
      ofLane: 3,
    })
  })

  it('is quiescent once all have ended, and says how many it was told of', async () => {
    const elsewhere = { ...old, authority_lane_id: 'other' }
    const ran = await askAll([ended, root, elsewhere])
    expect(ran.exit).toBe(0)
    expect(json(ran)).toMatchObject({ status: 'REVOCATION_QUIESCENT', executions: 3, ofLane: 2 })
  })

  it('takes an execution without a state, and one that was asked to stop, for live', async () => {
    const { process_state: _, ...silent } = old
    expect((await askAll([silent])).exit).toBe(3)
    expect((await askAll([{ ...old, process_state: 'KILL_REQUESTED' }])).exit).toBe(3)
    expect((await askAll([{ ...old, process_state: 'exited' }])).exit).toBe(3)
  })

  it('takes an empty list for one, and an empty file for none', async () => {
    expect((await askAll('[]')).exit).toBe(0)
    for (const empty of ['', ' \n']) expect((await askAll(empty)).exit).toBe(2)
    const ran = await askAll('\n')
    expect([ran.exit, codeOf(ran)]).toEqual([2, 'HSTORE_JSON_INVALID'])
  })

  it('names the line or the place that is no execution', async () => {
    const line = await askAll(`${JSON.stringify(old)}\n{"execution_id":"x"}\n`)
    expect(JSON.parse(line.err)).toMatchObject({ path: 'runs line 2' })
    const place = await askAll([old, { ...old, actor_ref: '' }])
    expect(JSON.parse(place.err)).toMatchObject({ path: 'runs', pointer: '/1/actor_ref' })
    const twice = await askAll(`[${JSON.stringify(old).replace('{', '{"actor_ref":"x",')}]`)
    expect(JSON.parse(twice.err)).toMatchObject({ pointer: '/0/actor_ref' })
    expect((await askAll('{"execution_id":')).exit).toBe(2)
  })
})

describe('what may-act rests on', () => {
  it('is told with the age of the last contact', async () => {
    const other = path.join(store.root, 'copy')
    await mkdir(other)
    const clone = ['--store', path.join(other, 'store'), '--keys', path.join(other, 'keys')]
    await ok(store.run('clone', store.store, '--genesis', store.genesis, ...clone))
    await ok(store.run('remote', 'add', 'far', path.join(other, 'store')))
    await ok(store.run('remote', 'add', 'near', path.join(other, 'gone')))
    expect((await ask(root)).err).toContain('never synced')
    await ok(store.run('sync', 'far'))
    const { err } = await ask(root)
    expect(err).toMatch(/; last contact [a-z0-9 ]+ ago, with far\n/)
    const { lastContact } = json<{ lastContact: { remote: string; ageSeconds: number } }>(
      await ask(root, '--json'),
    )
    expect(lastContact.remote).toBe('far')
    expect(lastContact.ageSeconds).toBeLessThan(600)
  })

  it('is the lane after a handoff, then nobody once it is contested', async () => {
    const lane = (agent: string, ...argv: string[]) => ok(store.run('lane', ...argv, '--as', agent))
    await lane(a, 'propose', 'docs', '--to', b, '--surface', 'board')
    await lane(b, 'signal', 'docs', '--surface', 'board', '--status', 'READY', '--for', '600')
    await lane(b, 'read', 'docs')
    await lane(b, 'ack', 'docs')
    expect((await ask(root)).exit).toBe(0)
    await lane(a, 'commit', 'docs')
    expect((await ask(root)).out).toContain('BLOCKED_REVOKED_AUTHORITY_EPOCH')
    const bound = { ...root, authority_owner_ref: b, authority_epoch: 2 }
    expect((await ask(bound)).exit).toBe(0)

    // another machine of an agent that did not know that the lane was open
    const { LaneBench, opening } = await import('../src/lanes/lane-bench.ts')
    const bench = await LaneBench.open(store)
    await bench.sign(merger, 'docs', opening('docs'))
    await bench.close()
    for (const ran of [await ask(bound, '--json'), await askAll([bound])])
      expect([ran.exit, codeOf(ran)]).toEqual([6, 'HSTORE_LANE_CONTESTED'])
  })

  it('needs no key', async () => {
    await ok(store.run('lane', 'open', 'keyless', '--as', a))
    const agentsFolder = path.join(store.root, 'gone')
    await rename(store.keys, agentsFolder)
    await mkdir(store.keys)
    await rename(path.join(agentsFolder, 'trust'), path.join(store.keys, 'trust'))
    const ran = await ask({ ...root, authority_lane_id: 'keyless' })
    await rename(path.join(store.keys, 'trust'), path.join(agentsFolder, 'trust'))
    expect(ran).toMatchObject({ exit: 0 })
  })
})

describe('what a guard loads', () => {
  it('is the first file of the bundle and no other', async () => {
    const folder = fileURLToPath(new URL('../../dist/cli', import.meta.url))
    const files = await readdir(folder)
    const first = files.find((name) => /^first-.*\.cjs$/.test(name))!
    const imported = async (name: string): Promise<readonly string[]> => {
      const text = await readFile(path.join(folder, name), 'utf8')
      const now = text.replaceAll(/\(\)=>require\("[^"]*"\)/g, '')
      return [...now.matchAll(/require\("\.\/([\w-]+)-[\w-]+\.cjs"\)/g)].map((found) => found[1]!)
    }
    expect(await imported(first)).toEqual(['rolldown-runtime'])
  })
})
