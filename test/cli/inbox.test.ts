import { writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { Inbox } from '../../src/inbox/inbox.ts'
import type { TestStore } from '../support/store.ts'
import { json, ok, storeAt } from '../support/store.ts'
import { makeTempFolder } from '../support/temp-folder.ts'
import { appended, draftBy, freshRelay } from '../src/turns/relays.ts'

const asked = appended(freshRelay, draftBy('beta', { ask: 'look at it\u001b[2J' }))

/** Returns a store of alpha that holds relays. */
async function storeOf(relays: Readonly<Record<string, string>>): Promise<TestStore> {
  const store = storeAt(await makeTempFolder(), '')
  await ok(store.run('init', '--as', 'alpha', '--no-passphrase'))
  for (const [name, text] of Object.entries(relays)) {
    await writeFile(`${store.root}/${name}.md`, text)
    await ok(store.run('turn', 'import', `${name}.md`, '--relay', name))
  }
  return store
}

describe('hstore inbox', () => {
  it('has the last turn of each relay that is to the agent and that it has not answered', async () => {
    const answered = appended(asked, draftBy('alpha', { ask: 'and you?' }))
    const store = await storeOf({ open: asked, answered })
    const { waiting, turns } = json<Inbox>(await ok(store.run('inbox', '--json')))
    expect(waiting).toBe(1)
    const [turn] = turns
    expect(turns).toEqual([
      {
        relay: 'open',
        stream: 'm8:open',
        cid: turn!.cid,
        number: '1',
        agent: 'beta',
        ask: 'look at it\u001b[2J',
        witness: true,
        problem: null,
        states: [{ state: 'stored', cid: turn!.cid }],
      },
    ])
    const { out, err } = await ok(store.run('inbox'))
    expect(out).toBe(
      `turn 1 of open from beta, as a witness has it, waits for you: look at it\\x1b[2J\n  stored    ${turn!.cid}\n`,
    )
    expect(err).toBe('')
  })

  it('says on stderr where nothing waits, by the agent', async () => {
    const store = await storeOf({})
    const ran = await store.run('inbox')
    expect(ran).toMatchObject({ exit: 0, out: '', err: 'hstore: nothing waits for alpha\n' })
  })

  it('refuses an agent that nothing could ever wait for', async () => {
    const store = await storeOf({})
    const { exit, err } = await store.run('inbox', '--as', 'alpa', '--json')
    expect({ exit, code: (JSON.parse(err) as { code: string }).code }).toEqual({
      exit: 1,
      code: 'HSTORE_AGENT_UNKNOWN',
    })
  })
})
