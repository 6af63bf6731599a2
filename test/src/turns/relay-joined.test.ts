import { writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { CidText } from '../../../store/cid-text.ts'
import { readRelay } from '../../../src/contracts/turns/markdown.ts'
import { turnForm } from '../../../src/contracts/turns/turn-body.ts'
import type { Payload, VerifiedEntry } from '../../../src/entry/entry.ts'
import { forge } from '../../support/forge.ts'
import type { Ran } from '../../support/cli.ts'
import type { TestStore } from '../../support/store.ts'
import { json, ok, storeAt } from '../../support/store.ts'
import { makeTempFolder } from '../../support/temp-folder.ts'
import { appended, draftBy, freshRelay } from './relays.ts'

const alone = freshRelay.replace(/<!-- M8SHIFT:TURN 0[^]*END -->\n/, '')
const base = appended(alone, draftBy('alpha', { ask: 'first' }))
const ours = appended(base, draftBy('alpha', { ask: 'ours' }))
const theirs = appended(
  appended(base, draftBy('beta', { ask: 'theirs' })),
  draftBy('beta', { ask: 'and theirs' }),
)
const turnsOf = (relay: string) => readRelay(Buffer.from(relay)).turns.map(({ turn }) => turn)
const withTurns = (relay: string, from: string): string =>
  [
    relay.trimEnd(),
    ...turnsOf(from)
      .slice(1)
      .map(({ text }) => text),
  ].join('\n\n') + '\n'

/** Returns a store in which alpha's relay and turns that beta put behind its first one part. */
async function makeForked(): Promise<{ store: TestStore; heads: readonly CidText[] }> {
  const store = storeAt(await makeTempFolder(), '')
  await ok(store.run('init', '--as', 'alpha', '--no-passphrase'))
  const did = (await ok(store.run('key', 'new', 'beta', '--no-passphrase'))).out.trim()
  await ok(store.run('roster', 'add', 'beta', did))
  const { head: first } = await importText(store, base)
  const { head } = await importText(store, ours)
  let last = first
  for (const turn of turnsOf(theirs).slice(1)) {
    last = (await forgeTurn(store, turnForm(turn), { parents: [last] })).cid
  }
  return { store, heads: [head, last] }
}

function forgeTurn(
  store: TestStore,
  document: object,
  change: Partial<Payload>,
): Promise<VerifiedEntry> {
  return forge(store, 'beta', document, {
    kind: 'turn',
    stream: 'm8:demo',
    name: undefined,
    ...change,
  })
}

const importing = (store: TestStore, ...argv: string[]): Promise<Ran> =>
  store.run('turn', 'import', 'M8SHIFT.md', '--relay', 'demo', '--json', ...argv)

async function importText(
  store: TestStore,
  relay: string,
  ...argv: string[]
): Promise<{ head: CidText; added: number; new: boolean }> {
  await writeFile(`${store.root}/M8SHIFT.md`, relay)
  return json(await ok(importing(store, ...argv)))
}

const headsOf = async (store: TestStore): Promise<string[]> =>
  (await ok(store.run('heads'))).out.split('\n').filter((line) => line.includes('m8:demo'))

describe('a relay whose turns part', () => {
  it('takes nothing in until the heads are named, and says how', async () => {
    const { store, heads } = await makeForked()
    await writeFile(`${store.root}/M8SHIFT.md`, withTurns(ours, theirs))
    for (const argv of [[], ['--parent', heads[0]!]]) {
      const ran = await importing(store, ...argv)
      expect([ran.exit, ran.err]).toEqual([6, expect.stringContaining('--parent')])
      for (const cid of heads) expect(ran.err).toContain(cid)
    }
    const stranger = await importing(store, '--parent', 'baguqeeraaaa')
    expect([stranger.exit, stranger.err]).toEqual([2, expect.stringContaining('is no head')])
    expect(await headsOf(store)).toHaveLength(2)
    expect((await ok(store.run('turn', 'log', '--relay', 'demo'))).out.split('\n')).toHaveLength(5)
  })

  it.each([
    ['ours first', withTurns(ours, theirs)],
    ['theirs first', withTurns(theirs, ours)],
    [
      'one between two',
      theirs.replace(/(?=<!-- M8SHIFT:TURN 3 beta BEGIN)/, `${turnsOf(ours)[1]!.text}\n\n`),
    ],
  ])('is joined by its next turn, in the order of its file: %s', async (_, file) => {
    const { store, heads } = await makeForked()
    await writeFile(`${store.root}/M8SHIFT.md`, file)
    const early = await importing(store, '--parent', ...heads)
    expect([early.exit, early.err]).toEqual([6, expect.stringContaining('no new one follows')])
    const joined = appended(file, draftBy('alpha', { ask: 'both' }))
    expect(await importText(store, joined, '--parent', ...heads)).toMatchObject({ added: 1 })
    expect(await headsOf(store)).toHaveLength(1)
    expect((await ok(store.run('turn', 'export', '--relay', 'demo'))).out).toBe(joined)
    expect(await importText(store, joined)).toMatchObject({ added: 0, new: false })
    const more = appended(joined, draftBy('beta', { ask: 'on' }))
    expect(await importText(store, more)).toMatchObject({ added: 1 })
    expect((await store.run('verify')).exit).toBe(0)
    expect((await store.run('fsck')).exit).toBe(0)
    const ran = await store.run('resume', 'm8:demo', '--as', 'alpha')
    expect(ran.out).toContain('next: turn ')
    // what was joined is held to as all else
    const cut = more.replace('ask:     theirs', 'ask:     others')
    await writeFile(`${store.root}/M8SHIFT.md`, cut)
    expect(JSON.parse((await importing(store)).err)).toMatchObject({ change: 'rewritten' })
  })

  it('does not take turns in another order than that in which they follow', async () => {
    const { store, heads } = await makeForked()
    const [, first, second] = turnsOf(theirs)
    const mixed = [ours.trimEnd(), second!.text, first!.text].join('\n\n')
    await writeFile(`${store.root}/M8SHIFT.md`, appended(`${mixed}\n`, draftBy('alpha')))
    const ran = await importing(store, '--parent', ...heads)
    expect([ran.exit, JSON.parse(ran.err)]).toMatchObject([6, { code: 'HSTORE_RELAY_CHANGED' }])
  })

  it('shows what the file lacks of a head', async () => {
    const { store, heads } = await makeForked()
    await writeFile(`${store.root}/M8SHIFT.md`, appended(ours, draftBy('beta')))
    const ran = await importing(store, '--parent', ...heads)
    expect([ran.exit, JSON.parse(ran.err)]).toMatchObject([
      6,
      { code: 'HSTORE_RELAY_BEHIND', changes: [{ number: '2' }, { number: '3' }] },
    ])
    expect(ran.err).toContain('and theirs')
  })

  it('is joined by an append without a file', async () => {
    const { store, heads } = await makeForked()
    const argv = ['turn', 'append', 'beta', '--to', 'alpha', '--relay', 'demo', '--as', 'beta']
    expect((await store.run(...argv)).exit).toBe(6)
    await ok(store.run(...argv, '--parent', ...heads))
    expect(await headsOf(store)).toHaveLength(1)
    const { out } = await ok(store.run('turn', 'export', '--relay', 'demo'))
    const asks = turnsOf(out).map(({ text }) => /ask: +(.*)/.exec(text)?.[1])
    expect(asks).toEqual(['first', 'ours', 'theirs', 'and theirs', '—'])
    expect(await importText(store, out)).toMatchObject({ added: 0 })
    expect((await store.run('verify')).exit).toBe(0)
  })
})

describe('one relay that two stores took in', () => {
  it('is one line of turns, and the next turn follows both', async () => {
    const store = storeAt(await makeTempFolder(), '')
    await ok(store.run('init', '--as', 'alpha', '--no-passphrase'))
    const did = (await ok(store.run('key', 'new', 'beta', '--no-passphrase'))).out.trim()
    await ok(store.run('roster', 'add', 'beta', did))
    const relay = appended(ours, draftBy('beta', { ask: 'on' }))
    await importText(store, relay)
    let parents: CidText[] = []
    for (const turn of turnsOf(relay)) {
      const witness = turn.agent !== 'beta'
      parents = [(await forgeTurn(store, turnForm(turn), { parents, witness })).cid]
    }
    expect(await headsOf(store)).toHaveLength(2)
    expect(await importText(store, relay)).toMatchObject({ added: 0, new: false })
    const joined = appended(relay, draftBy('alpha'))
    expect(await importText(store, joined)).toMatchObject({ added: 1 })
    expect(await headsOf(store)).toHaveLength(1)
    // each agent's own entries count for it
    expect((await store.run('resume', 'm8:demo')).exit).toBe(0)
    const logged = (await ok(store.run('turn', 'log', '--relay', 'demo'))).out
    expect([logged.split('\n').length, logged.includes('witness')]).toEqual([5, false])
  })
})
