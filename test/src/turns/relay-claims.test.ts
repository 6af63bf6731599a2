import { readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { CidText } from '../../../store/cid-text.ts'
import { readRelay } from '../../../src/contracts/turns/markdown.ts'
import { turnForm } from '../../../src/contracts/turns/turn-body.ts'
import type { ClaimedTurn } from '../../../src/relay/import.ts'
import { amendRoster, forge } from '../../support/forge.ts'
import type { Ran } from '../../support/cli.ts'
import type { TestStore } from '../../support/store.ts'
import { json, makeTestStore, ok, storeAt } from '../../support/store.ts'
import { makeTempFolder } from '../../support/temp-folder.ts'
import { appended, draftBy, freshRelay } from './relays.ts'

/** A relay without the turn of `system`, which is nobody's. */
const alone = freshRelay.replace(/<!-- M8SHIFT:TURN 0[^]*END -->\n/, '')
const relay = ['beta', 'alpha', 'beta'].reduce(
  (before, agent) => appended(before, draftBy(agent as 'alpha' | 'beta')),
  appended(alone, draftBy('alpha')),
)

/** Returns a store of alpha, with beta and gamma in its roster, that holds the relay as alpha imported it. */
async function makeStore(): Promise<TestStore> {
  const store = storeAt(await makeTempFolder(), '')
  await ok(store.run('init', '--as', 'alpha', '--no-passphrase'))
  for (const agent of ['beta', 'gamma']) {
    const did = (await ok(store.run('key', 'new', agent, '--no-passphrase'))).out.trim()
    await ok(store.run('roster', 'add', agent, did))
  }
  await writeFile(`${store.root}/M8SHIFT.md`, relay)
  await ok(importing(store))
  return store
}

interface Imported {
  readonly new: boolean
  readonly added: number
  readonly claimed: number
  readonly claims: readonly ClaimedTurn[]
  readonly head: CidText
}

const importing = (store: TestStore, ...argv: string[]): Promise<Ran> =>
  store.run('turn', 'import', 'M8SHIFT.md', '--relay', 'demo', ...argv)
const importBy = async (store: TestStore, agent: string): Promise<Imported> =>
  json<Imported>(await ok(importing(store, '--json', '--as', agent)))
const codes = async (store: TestStore): Promise<string[]> =>
  json<{ findings: { code: string }[] }>(await store.run('verify', '--json')).findings.map(
    ({ code }) => code,
  )
const headsOf = async (store: TestStore): Promise<string[]> =>
  (await ok(store.run('heads'))).out.split('\n').filter((line) => line.includes('m8:demo'))

describe('a turn that a witness entered', () => {
  it('becomes its agent’s own when the agent imports it, and once', async () => {
    const store = await makeStore()
    expect((await store.run('resume', 'm8:demo')).exit).toBe(1)
    const { out } = await ok(store.run('turn', 'export', '--relay', 'demo'))
    const made = await importBy(store, 'beta')
    expect(made).toMatchObject({ new: true, added: 0, claimed: 2 })
    expect(made.claims.map(({ number, agent }) => [number, agent])).toEqual([
      ['2', 'beta'],
      ['4', 'beta'],
    ])
    expect(made.head).toBe(made.claims[1]!.cid)
    expect(await importBy(store, 'beta')).toMatchObject({ new: false, claimed: 0, claims: [] })
    expect(await importBy(store, 'alpha')).toMatchObject({ new: false, claimed: 0 })
    expect((await ok(store.run('turn', 'export', '--relay', 'demo'))).out).toBe(out)
    // the head is the same turn, stated once more
    expect(await headsOf(store)).toEqual([expect.stringContaining(made.head)])
    expect(await codes(store)).toEqual([])
    expect((await store.run('fsck')).exit).toBe(0)
  })

  it('tells the claim in words', async () => {
    const store = await makeStore()
    const ran = await ok(importing(store, '--as', 'beta'))
    expect(ran.err).toContain('2 claimed as your own (turn 2, 4)')
    expect((await ok(importing(store, '--as', 'beta'))).err).toContain('nothing new')
  })

  it('is its agent’s own in log and resume, also of what was covered before', async () => {
    const store = await makeStore()
    await ok(importing(store, '--as', 'beta'))
    const logged = json<{ turns: { author: string; witness: boolean }[] }>(
      await ok(store.run('turn', 'log', '--relay', 'demo', '--json')),
    ).turns
    expect(logged.map(({ author }) => author)).toEqual(['beta', 'alpha', 'beta', 'alpha'])
    expect(logged.some(({ witness }) => witness)).toBe(false)
    for (const agent of ['alpha', 'beta', 'alpha']) {
      const ran = await store.run('resume', 'm8:demo', '--as', agent)
      expect([ran.exit, ran.out]).toEqual([0, expect.not.stringContaining('(witness)')])
    }
    // somebody else's witness entry of a turn that is covered by now moves no head
    await forgeTurn(store, 'gamma', 2, { witness: true })
    expect((await store.run('resume', 'm8:demo')).exit).toBe(0)
    expect(await headsOf(store)).toHaveLength(1)
  })

  it('is followed by new turns as before, whoever writes them', async () => {
    const store = await makeStore()
    await ok(importing(store, '--as', 'beta'))
    await writeFile(`${store.root}/M8SHIFT.md`, appended(relay, draftBy('alpha')))
    expect(await importBy(store, 'alpha')).toMatchObject({ added: 1, claimed: 0 })
    expect(await headsOf(store)).toHaveLength(1)
    expect((await store.run('resume', 'm8:demo')).exit).toBe(0)
    expect((await ok(store.run('log', 'm8:demo'))).out.split('\n')).toHaveLength(6)
  })

  it('is claimed by an append too', async () => {
    const store = await makeStore()
    const text = await readFile(`${store.root}/M8SHIFT.md`, 'utf8')
    const held = text.replace(/^state:.*$/m, 'state:    WORKING_BETA')
    await writeFile(`${store.root}/M8SHIFT.md`, held)
    const argv = ['turn', 'append', 'beta', '--to', 'alpha', '--relay', 'demo', '--as', 'beta']
    const ran = json(await ok(store.run(...argv, '--file', 'M8SHIFT.md', '--json')))
    expect(ran).toMatchObject({ number: '5', claimed: 2 })
    expect(await codes(store)).not.toContain('HS3015')
  })

  it('is not claimed by who is not its agent, nor lost to who says to be', async () => {
    const store = await makeStore()
    expect(await importBy(store, 'gamma')).toMatchObject({ new: false, claimed: 0 })
    const { cid } = await forgeTurn(store, 'gamma', 4, {})
    expect(await codes(store)).toContain('HS2007')
    const logged = (await ok(store.run('turn', 'log', '--relay', 'demo'))).out
    expect(logged).not.toContain('not valid')
    expect(logged).not.toContain(cid)
    expect(await importBy(store, 'beta')).toMatchObject({ claimed: 2 })
  })
})

/** Puts another entry of a turn of the relay into the store. */
async function forgeTurn(
  store: TestStore,
  signer: string,
  number: number,
  change: { readonly witness?: boolean },
) {
  const { turn } = readRelay(Buffer.from(relay)).turns[number - 1]!
  const { turns } = json<{ turns: { cid: CidText }[] }>(
    await ok(store.run('turn', 'log', '--relay', 'demo', '--json')),
  )
  const stated = turns.toReversed()[number - 1]!.cid
  const { parents } = json<{ parents: CidText[] }>(await ok(store.run('show', stated, '--json')))
  return forge(store, signer, turnForm(turn), {
    kind: 'turn',
    stream: 'm8:demo',
    parents,
    name: undefined,
    ...change,
  })
}

describe('an alias of the roster', () => {
  const merger = 'csag:agent/merger'

  async function makeNamed(): Promise<TestStore> {
    const store = await makeTestStore(await makeTempFolder())
    await amendRoster(store, ({ agents }) => ({
      agents: agents.map((agent) =>
        agent.id === merger ? { ...agent, aliases: ['alpha'] } : agent,
      ),
    }))
    await writeFile(`${store.root}/M8SHIFT.md`, relay)
    return store
  }

  it('makes turns its agent’s own, and what is asked of it is asked of the agent', async () => {
    const store = await makeNamed()
    const flags = { relation: 'review_request', requires: 'a run' }
    const asked = appended(alone, draftBy('beta', { flags }))
    const answer = { flags: { relation: 'review_result', evidence: 'run 7', decision: 'approve' } }
    await writeFile(`${store.root}/M8SHIFT.md`, appended(asked, draftBy('alpha', answer)))
    expect(await importBy(store, merger)).toMatchObject({ added: 2, witnessed: 1 })
    expect(await codes(store)).toEqual(['HS3015'])
    const ran = await store.run('resume', 'm8:demo')
    expect(ran.out).toContain('next: nothing is open for csag:agent/merger')
  })

  it('is found where a turn is appended by the agent, or told to be lacking', async () => {
    const store = await makeNamed()
    const pen = relay.replace(/^state:.*$/m, 'state:    WORKING_ALPHA')
    const argv = ['--to', 'beta', '--relay', 'demo', '--file', 'M8SHIFT.md', '--json']
    for (const named of [[], [merger]]) {
      await writeFile(`${store.root}/M8SHIFT.md`, pen)
      const ran = await ok(
        store.run('turn', 'append', ...named, ...argv, '--relay', `demo ${named.length}`),
      )
      expect(json(ran)).toMatchObject({ agent: 'alpha', number: '5' })
    }
    const other = await store.run(
      'turn',
      'append',
      ...argv.slice(0, -1),
      '--as',
      'csag:agent/agent-a',
    )
    expect(other.exit).toBe(4)
    expect(other.err).toMatch(/^hstore: csag:agent\/agent-a has no name .*hstore roster alias\n$/)
  })
})
