import { createHmac } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { readMarkSecret } from '../../src/trust/pin-file.ts'
import { writeEnvelope } from '../support/envelope.ts'
import type { TestStore } from '../support/store.ts'
import { agents, json, makeSharedFolder, makeTestStore, ok, storeAt } from '../support/store.ts'

const shared = await makeSharedFolder()
let store: TestStore
let other: string

beforeAll(async () => {
  store = await makeTestStore(path.join(shared, 'here'))
  const copy = storeAt(path.join(shared, 'there'), store.genesis)
  await ok(copy.run('clone', store.store, '--genesis', store.genesis))
  other = copy.store
  await ok(store.run('remote', 'add', 'origin', other))
  await ok(store.run('remote', 'add', 'stick', path.join(shared, 'not-mounted')))
})

describe('sync with what is no remote', () => {
  it.each(['orign', 'ssh', 'host:path'])('names the remotes: %s', async (word) => {
    const ran = await store.run('sync', word, '--json')
    expect(ran).toMatchObject({ exit: 2, out: '' })
    const { code, message } = JSON.parse(ran.err) as Record<string, string>
    expect(code).toBe('HSTORE_REMOTE_UNKNOWN')
    expect(message).toContain(word)
    expect(message).toContain('the remotes are origin, stick;')
    expect(message).not.toContain('init')
  })

  it.each(['./nosuch', '/nosuch', 'stick'])('says that a folder is not there: %s', async (word) => {
    const ran = await store.run('sync', word)
    expect(ran).toMatchObject({ exit: 9, out: '', err: expect.stringContaining('no folder /') })
    expect(ran.err).not.toContain('init')
  })

  it('says so where there is no remote at all', async () => {
    const ran = await storeAtOther().run('sync', 'orign')
    expect(ran).toMatchObject({ exit: 2, err: expect.stringContaining('no remote and no folder') })
    expect(ran.err).toContain('the store has no remote')
  })

  it('tells a CAR file to go with import', async () => {
    await ok(store.run('export', 'all.car'))
    for (const argv of [
      ['sync', 'all.car'],
      ['remote', 'add', 'car', 'all.car'],
    ]) {
      const ran = await store.run(...argv)
      expect(ran).toMatchObject({ exit: 2, out: '' })
      expect(ran.err).toContain('all.car is a file')
      expect(ran.err).toContain('hstore import')
    }
    await ok(store.run('import', 'all.car'))
  })
})

/** The clone, without the remote that it was made from. */
function storeAtOther(): TestStore {
  const at = storeAt(path.join(shared, 'there'), store.genesis)
  return {
    ...at,
    run: async (...argv) => {
      await at.run('remote', 'remove', 'origin')
      return at.run(...argv)
    },
  }
}

describe('remote add', () => {
  it.each([
    ['ssh://-oProxyCommand=x/y', /begin with no -/],
    ['ssh://-u@host/y', /begin with no -/],
    ['ssh://host', /is no ssh:/],
    ['ssh://u:hunter2@host/y', /takes no password/],
    ['http://u:hunter2@host/', /http:\/\/host takes neither user nor password/],
    ['https://hunter2@host/', /takes neither user nor password/],
    ['http://host/x?y', /is no http/],
    ['http://host/x', /is no http.*at no path/],
    ['https://host:1/hstore', /is no http.*at no path/],
    ['http://', /is no http/],
    ['ftp://host/x', /is no address/],
    ['file://host/x', /is no file:/],
  ])('refuses %s, and keeps nothing of it', async (url, why) => {
    const before = (await store.run('remote', 'list')).out
    const ran = await store.run('remote', 'add', 'odd', url)
    expect(ran).toMatchObject({ exit: 2, out: '', err: expect.stringMatching(why) })
    expect(ran.err).not.toContain('hunter2')
    expect((await store.run('remote', 'list')).out).toBe(before)
  })

  it.each([
    ['host:path/x', 'ssh://host/~/path/x'],
    ['u@host.example:/srv/x', 'ssh://u@host.example/srv/x'],
    ['host:~/x', 'ssh://host/~/x'],
  ])('says how %s is written, and so does clone', async (given, meant) => {
    const at = storeAt(path.join(shared, 'nowhere'), store.genesis)
    for (const argv of [
      ['remote', 'add', 'scp', given],
      ['clone', given, '--genesis', store.genesis, '--store', at.store],
    ]) {
      const ran = await store.run(...argv)
      expect(ran).toMatchObject({ exit: 2, out: '' })
      expect(ran.err).toContain(`is ${meant}\n`)
    }
    await mkdir(path.join(store.root, given), { recursive: true })
    await ok(store.run('remote', 'add', 'scp', given))
    await ok(store.run('remote', 'remove', 'scp'))
  })

  it('takes addresses that nobody answers at', async () => {
    const urls = ['ssh://u@host:22/~/x', 'http://host:1', 'https://[::1]/', 'file:///nowhere']
    for (const [i, url] of urls.entries()) {
      await ok(store.run('remote', 'add', `r${i}`, url))
      await ok(store.run('remote', 'remove', `r${i}`))
    }
  })
})

it('a password that was once kept with an address is not told, nor kept any longer', async () => {
  const file = path.join(store.store, 'remotes.json')
  const before = await readFile(file, 'utf8')
  const secret = await readMarkSecret(store.keys)
  const rows = [
    ['one', 'ssh://u:hunter2@host/x', 'ssh://u@host/x'],
    ['two', 'https://u:hunter2@host/x', 'https://u@host/x'],
    ['three', 'ssh://u:hun@ter2@host/x', 'ssh://u@host/x'],
  ].map(([name, url]) => {
    const text = ['remote', store.genesis, name, url].join('\n')
    return { name, url, mac: createHmac('sha256', secret).update(text).digest('base64url') }
  })
  await writeFile(file, JSON.stringify({ remotes: rows }))
  for (const argv of [
    ['remote', 'list'],
    ['remote', 'list', '--json'],
    ['status'],
    ['sync', 'two'],
  ]) {
    const ran = await store.run(...argv)
    expect(ran.out + ran.err).not.toMatch(/hunter2|ter2/)
    expect(ran.out + ran.err).toMatch(/u@host|https?/)
  }
  await ok(store.run('remote', 'remove', 'three'))
  expect(await readFile(file, 'utf8')).not.toMatch(/hunter2|ter2/)
  await writeFile(file, before)
})

it('status tells the distance of a remote as that of the last sync', async () => {
  await ok(store.run('sync', 'origin'))
  const small = { workspace: 'csag:handoff/w', revision: 'R1', author: agents.merger }
  await ok(store.run('put', await writeEnvelope(path.join(store.root, 'w'), small)))
  const { out } = await ok(store.run('status'))
  expect(out).toMatch(/^remote origin .*: heard \S.* ago, as of then 0 behind, 0 ahead$/m)
  expect(json(await ok(store.run('status', '--json')))).toMatchObject({
    remotes: [
      { name: 'origin', behind: 0, ahead: 0 },
      { name: 'stick', contactMs: 0 },
    ],
  })
})
