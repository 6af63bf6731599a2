import { readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { readRelay } from '../../src/contracts/turns/markdown.ts'
import { openStore } from '../../src/open-store.ts'
import type { Ran } from '../support/cli.ts'
import { runProcess } from '../support/cli.ts'
import type { TestStore } from '../support/store.ts'
import { json, ok, storeAt } from '../support/store.ts'
import { makeTempFolder } from '../support/temp-folder.ts'
import { claimed } from '../src/turns/drafts.ts'
import { importText } from '../src/turns/relay-store.ts'
import { appended, archiveRun, draftBy, freshRelay } from '../src/turns/relays.ts'

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
const takenBy = (agent: string, relay: string): string =>
  Buffer.from(claimed(bytesOf(relay), agent)).toString()
const blocksOf = (text: string): string[] =>
  readRelay(bytesOf(text)).turns.map(({ turn }) => turn.text)
const withBlocks = (text: string, ...blocks: string[]): string =>
  `${[text.trimEnd(), ...blocks].join('\n\n')}\n`

const relay = ['one', 'two'].reduce(
  (text, ask, i) => appended(text, draftBy(i === 0 ? 'alpha' : 'beta', { ask })),
  freshRelay,
)

const read = (store: TestStore): Promise<string> => readFile(`${store.root}/M8SHIFT.md`, 'utf8')
const write = (store: TestStore, text: string): Promise<void> =>
  writeFile(`${store.root}/M8SHIFT.md`, text)
const importing = (store: TestStore, ...argv: string[]): Promise<Ran> =>
  store.run('turn', 'import', 'M8SHIFT.md', '--relay', 'demo', ...argv)
const appending = (store: TestStore, agent: string, ...argv: string[]): Promise<Ran> => {
  const to = agent === 'alpha' ? 'beta' : 'alpha'
  return store.run('turn', 'append', agent, '--to', to, '--relay', 'demo', '--as', agent, ...argv)
}

/** Returns what a refused import says. */
async function refusal(store: TestStore, text: string, ...argv: string[]) {
  await write(store, text)
  const ran = await importing(store, '--json', ...argv)
  expect(ran.exit).toBe(6)
  const { code, message, changes } = JSON.parse(ran.err) as {
    readonly code: string
    readonly message: string
    readonly changes: readonly { readonly change: string; readonly number: string }[]
  }
  return { code, message, told: changes.map(({ change, number }) => `${number} ${change}`) }
}

/** Returns a store of alpha and beta that has taken a relay in. */
async function makeStore(text = relay): Promise<TestStore> {
  const store = storeAt(await makeTempFolder(), '')
  await ok(store.run('init', '--as', 'alpha', '--no-passphrase'))
  const did = (await ok(store.run('key', 'new', 'beta', '--no-passphrase'))).out.trim()
  await ok(store.run('roster', 'add', 'beta', did))
  await write(store, text)
  await ok(importing(store))
  return store
}

/** Returns beta's clone of a store, with the relay's file beside it. */
async function cloneOf(store: TestStore, text = relay): Promise<TestStore> {
  const { genesis } = json<{ genesis: string }>(await ok(store.run('status', '--json')))
  const clone = { ...storeAt(await makeTempFolder(), ''), keys: store.keys }
  const env = { HSTORE_STORE: clone.store, HSTORE_KEYS: store.keys }
  const run = (...argv: string[]): Promise<Ran> => clone.runWith({ env }, ...argv)
  await ok(run('clone', store.store, '--genesis', genesis, '--as', 'beta'))
  await write(clone, text)
  return { ...clone, run }
}

describe('a relay that grows while an import waits for the store', () => {
  it('is judged as it is when the store is held', async () => {
    const store = await makeStore()
    const { root, store: folder, keys, env } = store
    const held = await openStore({ store: folder, keys, agent: 'alpha', waitMs: 1000 })
    await held.turns.log('demo')
    const argv = ['turn', 'import', 'M8SHIFT.md', '--relay', 'demo']
    const waiting = runProcess(argv, { cwd: root, env })
    await new Promise((resolve) => setTimeout(resolve, 1500))
    const grown = appended(relay, draftBy('alpha'))
    await write(store, grown)
    await importText(held, 'demo', { relay: grown, archive: '' })
    await held.close()
    const ran = await waiting
    expect([ran.exit, ran.err]).toEqual([0, expect.stringContaining('nothing new')])
  }, 60_000)
})

describe('two turns that are in the store alone', () => {
  async function makeTwo(): Promise<{ store: TestStore; blocks: string[]; file: string }> {
    const file = relay.replace(/^state:.*$/m, 'state:    AWAITING_ALPHA')
    const store = await makeStore(file)
    await ok(appending(store, 'alpha', '--ask', 'first'))
    await ok(appending(store, 'beta', '--ask', 'second'))
    const { out } = await ok(store.run('turn', 'export', '--relay', 'demo'))
    return { store, blocks: blocksOf(out).slice(-2), file }
  }

  it('are lacking, each in its place, whichever the file has', async () => {
    const { store, file, blocks } = await makeTwo()
    const [first, second] = blocks as [string, string]
    const other = appended(file, draftBy('alpha', { ask: 'other' }))
    for (const [text, told, place] of [
      [file, ['3 missing', '4 missing'], 'behind its last turn'],
      [withBlocks(file, first), ['4 missing'], 'behind its last turn'],
      [withBlocks(file, second), ['3 missing'], 'before turn 4 of beta, which must stay'],
      [
        withBlocks(other, second),
        ['3 missing'],
        'so that the turns of the store stand as it has them',
      ],
    ] as const) {
      const found = await refusal(store, text)
      expect(found).toMatchObject({ code: 'HSTORE_RELAY_BEHIND', told })
      expect(found.message).toContain(place)
      expect(found.message).toContain('from the relay that hstore turn export')
    }
    await write(store, withBlocks(file, first, second))
    expect(json(await ok(importing(store, '--json')))).toMatchObject({ added: 0, turns: 5 })
  })

  it('are not called changed since an import that did not see them', async () => {
    const { store, file, blocks } = await makeTwo()
    const [first, second] = blocks as [string, string]
    const other = appended(file, draftBy('alpha', { ask: 'other' }))
    for (const [text, told] of [
      [withBlocks(file, second, first), 'is reordered, held against the order of the store'],
      [withBlocks(other, first, second), 'turn 3 of alpha is inserted, held against the order'],
    ] as const) {
      const { message } = await refusal(store, text)
      expect(message).toContain(told)
      expect(message).not.toContain('since the import before')
    }
  })

  it('are told as the file has them when one is appended to it again', async () => {
    const { store, file } = await makeTwo()
    await write(store, takenBy('alpha', file))
    const ran = await appending(store, 'alpha', '--ask', 'first', '--file', 'M8SHIFT.md')
    expect([ran.exit, ran.err]).toEqual([6, expect.stringContaining('lacks turn 3 of alpha')])
    expect(ran.err).toContain('and 1 more')
  })
})

describe('turns that came from another store', () => {
  const theirs = ['b1', 'b2', 'b3'].reduce(
    (text, ask) => appended(text, draftBy('beta', { ask })),
    relay,
  )

  /** Returns alpha's store after beta wrote turns, the last of them archived, and alpha synced. */
  async function makePulled(ours = relay): Promise<TestStore> {
    const store = await makeStore()
    const clone = await cloneOf(store)
    await write(clone, theirs.replace(/\n<!-- M8SHIFT:TURN 5[^]*/, ''))
    await ok(clone.run('turn', 'import', 'M8SHIFT.md', '--relay', 'demo'))
    const parted = archiveRun(theirs, '', 2)
    await write(clone, parted.relay)
    await writeFile(`${clone.root}/M8SHIFT.archive.md`, parted.archive)
    await ok(clone.run('turn', 'import', 'M8SHIFT.md', '--relay', 'demo'))
    await write(store, ours)
    if (ours !== relay) await ok(importing(store))
    await ok(store.run('sync', clone.store))
    return store
  }

  it('are lacking in a file that has never had them, and were not removed from it', async () => {
    const store = await makePulled()
    const found = await refusal(store, relay)
    expect(found).toMatchObject({
      code: 'HSTORE_RELAY_BEHIND',
      told: ['3 missing', '4 missing', '5 missing'],
    })
    // what this store saw is held to all the same
    const cut = await refusal(store, relay.replace('ask:     one', 'ask:     won'))
    expect([cut.code, cut.told]).toEqual(['HSTORE_RELAY_CHANGED', ['1 rewritten']])
    await write(store, theirs)
    expect(json(await ok(importing(store, '--json')))).toMatchObject({ added: 0, turns: 6 })
    expect((await ok(importing(store))).err).toContain('nothing new')
    const removed = await refusal(store, relay)
    expect(removed).toMatchObject({ code: 'HSTORE_RELAY_CHANGED', told: expect.any(Array) })
  })

  it('are lacking beside the own ones that they part from, and both can be joined', async () => {
    const ours = appended(relay, draftBy('alpha', { ask: 'ours' }))
    const store = await makePulled(ours)
    const { heads } = JSON.parse((await importing(store, '--json')).err) as { heads: string[] }
    expect(heads).toHaveLength(2)
    const found = await refusal(store, ours, '--parent', ...heads)
    expect(found).toMatchObject({
      code: 'HSTORE_RELAY_BEHIND',
      told: ['3 missing', '4 missing', '5 missing'],
    })
    const joined = takenBy('alpha', withBlocks(ours, ...blocksOf(theirs).slice(-3)))
    await write(store, joined)
    const argv = ['--ask', 'both', '--file', 'M8SHIFT.md', '--parent', ...heads]
    // killed before the file was written: what it did to the store is kept
    const opened = await openStore({
      store: store.store,
      keys: store.keys,
      agent: 'alpha',
      waitMs: 1000,
    })
    const draft = draftBy('alpha', { ask: 'both', done: '', at: '2026-01-01T00:09:00Z' })
    const files = { living: { bytes: bytesOf(joined), name: 'M8SHIFT.md' } }
    await expect(
      opened.turns.append('demo', draft, { path: `${store.root}/none.md`, files }, heads),
    ).rejects.toMatchObject({ code: 'HSTORE_INPUT_CHANGED' })
    await opened.close()
    expect((await ok(appending(store, 'alpha', ...argv))).err).toContain('in the store already')
    expect((await ok(importing(store))).err).toContain('nothing new')
    expect(blocksOf(await read(store))).toHaveLength(8)
  })
})
