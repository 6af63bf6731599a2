import { writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { linkForm } from '../../../store/canonical.ts'
import type { CidText } from '../../../store/cid-text.ts'
import { turnForm } from '../../../src/contracts/turns/turn-body.ts'
import { makeTurn } from '../../../src/contracts/turns/turn.ts'
import type { VerifiedEntry } from '../../../src/entry/entry.ts'
import { forge } from '../../support/forge.ts'
import type { TestStore } from '../../support/store.ts'
import { json, ok, storeAt } from '../../support/store.ts'
import { makeTempFolder } from '../../support/temp-folder.ts'
import { appended, draftBy, freshRelay } from './relays.ts'

const relay = appended(freshRelay, draftBy('alpha'))

/** Returns a store that holds a relay of two turns, with beta in its roster, and gamma with a key and no right. */
async function makeStore(): Promise<{ store: TestStore; head: CidText }> {
  const store = storeAt(await makeTempFolder(), '')
  await ok(store.run('init', '--as', 'alpha', '--no-passphrase'))
  const did = (await ok(store.run('key', 'new', 'beta', '--no-passphrase'))).out.trim()
  await ok(store.run('roster', 'add', 'beta', did))
  await ok(store.run('key', 'new', 'gamma', '--no-passphrase'))
  await writeFile(`${store.root}/M8SHIFT.md`, relay)
  const made = json<{ head: CidText }>(await ok(importing(store, '--json')))
  return { store, head: made.head }
}

const importing = (store: TestStore, ...argv: string[]) =>
  store.run('turn', 'import', 'M8SHIFT.md', '--relay', 'demo', ...argv)
const exporting = (store: TestStore) => store.run('turn', 'export', '--relay', 'demo')

const textOf = (number: string, agent: string): string =>
  `<!-- M8SHIFT:TURN ${number} ${agent} BEGIN -->\n- to: alpha\n<!-- M8SHIFT:TURN ${number} ${agent} END -->`
const turnOf = (number: string, agent: string) =>
  turnForm(makeTurn(agent, number, textOf(number, agent)))

function forgeTurn(
  store: TestStore,
  signer: string,
  document: object,
  parents: readonly CidText[],
): Promise<VerifiedEntry> {
  return forge(store, signer, document, {
    kind: 'turn',
    stream: 'm8:demo',
    parents,
    name: undefined,
  })
}

function forgeNote(
  store: TestStore,
  signer: string,
  { head, refs = [head], turns = 2 }: { head: CidText; refs?: CidText[]; turns?: number },
): Promise<VerifiedEntry> {
  const document = {
    head: linkForm(head),
    living: ['forged\n', { between: '', count: turns, first: 0 }],
    turns,
    version: 99,
  }
  return forge(store, signer, document, { kind: 'relay', stream: 'm8:demo', refs, name: undefined })
}

async function codesOf(store: TestStore, ref: string): Promise<string[]> {
  const { findings } = json<{ findings: { code: string; severity: string }[] }>(
    await store.run('verify', ref, '--json'),
  )
  return findings.filter(({ severity }) => severity === 'error').map(({ code }) => code)
}

describe('an entry that another put into a relay', () => {
  it('is no turn of an agent that it can not speak for', async () => {
    const { store, head } = await makeStore()
    const { cid } = await forgeTurn(store, 'beta', turnOf('2', 'alpha'), [head])
    expect(await codesOf(store, cid)).toEqual(['HS2007'])
    expect((await store.run('resume', 'm8:demo')).exit).toBe(5)
    // nothing is built on it, and no honest file is held against it
    const append = ['turn', 'append', 'alpha', '--to', 'beta', '--ask', 'more', '--relay', 'demo']
    const verbs = [append, ['turn', 'validate', '--relay', 'demo']]
    for (const ran of [
      await importing(store),
      ...(await Promise.all(verbs.map((argv) => store.run(...argv)))),
    ]) {
      expect(ran).toMatchObject({ exit: 5, out: '', err: expect.stringContaining(cid) })
    }
    const logged = (await ok(store.run('turn', 'log', '--relay', 'demo'))).out.split('\n')
    expect(logged[0]).toContain('(not valid: alpha is no name of its author beta)')
    expect(logged[1]).not.toContain('not valid')
  })

  it('is no turn without the text of one', async () => {
    const { store, head } = await makeStore()
    const { cid } = await forgeTurn(store, 'beta', { ...turnOf('2', 'beta'), number: '3' }, [head])
    expect(await codesOf(store, cid)).toEqual(['HS4001'])
    expect((await importing(store)).exit).toBe(5)
  })

  it('is a fork beside another head, and nothing is added', async () => {
    const { store } = await makeStore()
    await forgeTurn(store, 'beta', turnOf('1', 'beta'), [])
    const ran = await importing(store)
    expect([ran.exit, ran.err]).toEqual([6, expect.stringContaining('has 2 heads')])
    expect((await exporting(store)).out).toBe(relay)
  })

  it('brings turns with it that the file lacks, when it follows two', async () => {
    const { store, head } = await makeStore()
    const { cid } = await forgeTurn(store, 'beta', turnOf('1', 'beta'), [])
    await forgeTurn(store, 'beta', turnOf('2', 'beta'), [cid, head].sort())
    const ran = await importing(store, '--json')
    expect([ran.exit, JSON.parse(ran.err)]).toMatchObject([
      6,
      {
        code: 'HSTORE_RELAY_BEHIND',
        changes: [
          { change: 'missing', number: '1', agent: 'beta' },
          { change: 'missing', number: '2', agent: 'beta' },
        ],
      },
    ])
    expect((await ok(store.run('turn', 'log', '--relay', 'demo'))).out.split('\n')).toHaveLength(5)
  })

  it('goes on from the relay when it is a right one, and has to be in the file', async () => {
    const { store, head } = await makeStore()
    await forgeTurn(store, 'beta', turnOf('2', 'beta'), [head])
    expect((await importing(store)).err).toContain('turn 2 of beta')
    await writeFile(`${store.root}/M8SHIFT.md`, `${relay}\n${textOf('2', 'beta')}\n`)
    const report = json(await ok(importing(store, '--json')))
    expect(report).toMatchObject({ turns: 3, added: 0, new: true })
  })

  it('is no note by a key without a right', async () => {
    const { store, head } = await makeStore()
    await forgeNote(store, 'gamma', { head })
    expect((await exporting(store)).out).toBe(relay)
  })

  it('is no note with another head than its entry', async () => {
    const { store, head } = await makeStore()
    const { cid } = await forgeNote(store, 'beta', { head, refs: [] })
    expect(await codesOf(store, cid)).toEqual(['HS4001'])
    expect((await exporting(store)).exit).toBe(5)
  })

  it.each([[1], [3], [2 ** 53 - 1]])(
    'is no note on %i turns where there are two',
    async (turns) => {
      const { store, head } = await makeStore()
      await forgeNote(store, 'beta', { head, turns })
      expect((await exporting(store)).exit).toBe(5)
      for (const argv of [['import', 'M8SHIFT.md'], ['log'], ['validate']]) {
        const ran = await store.run('turn', ...argv, '--relay', 'demo')
        expect([ran.exit, ran.err]).toEqual([6, expect.stringContaining('is on other turns')])
      }
    },
  )
})
