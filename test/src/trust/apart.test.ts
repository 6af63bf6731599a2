import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { signerOf } from '../../support/forge.ts'
import type { TestStore } from '../../support/store.ts'
import { agents, copyStore, json, makeSharedFolder, ok } from '../../support/store.ts'
import { AttackStores, put, standing } from './attack-stores.ts'

const stores = new AttackStores(await makeSharedFolder())

/** Two machines, each with a root of its own and with what it has accepted itself. */
async function makeTwo(): Promise<{ here: TestStore; there: TestStore; did: string }> {
  const here = await stores.fresh()
  const { did: root } = await signerOf(here, agents.a)
  const { did } = await signerOf(here, agents.b)
  await ok(here.run('roster', 'propose', '--root', `${root}:second`))
  return { here, there: await copyStore(here, stores.place()), did }
}

let carried = 0

async function carry(from: TestStore, to: TestStore): Promise<void> {
  const file = path.join(from.root, `all-${carried++}.car`)
  await ok(from.run('export', file))
  await to.run('import', file)
}

const show = async (store: TestStore): Promise<{ body: string; fork: string[] }> =>
  json(await store.run('roster', 'show', '--json'))

const codes = async (store: TestStore): Promise<readonly string[]> =>
  json<{ findings: { code: string }[] }>(await store.run('verify', '--all', '--json')).findings.map(
    ({ code }) => code,
  )

describe('two machines whose roots change the roster apart', () => {
  it('both stop once they meet, and go on with what a root of both signs', async () => {
    const { here, there, did } = await makeTwo()
    await ok(here.run('roster', 'revoke', agents.b, did, '--at', 'none', '--yes'))
    const { body: revoked } = await show(here)
    await ok(there.run('roster', 'alias', agents.a, 'Ada', '--as', agents.a))
    await carry(there, here)
    await carry(here, there)
    for (const store of [here, there]) {
      expect(await codes(store)).toContain('HS2009')
      expect((await show(store)).fork).toHaveLength(2)
      expect((await store.run('roster', 'alias', agents.a, 'x')).exit).toBe(6)
    }
    await ok(here.run('roster', 'pin', revoked))
    await ok(here.run('roster', 'alias', agents.a, 'Adam'))
    await carry(here, there)
    expect(await show(there)).toMatchObject({ body: (await show(here)).body, fork: [] })
    expect(await codes(there)).toContain('HS2011')
  })

  it('are told of each other where both went on before they met', async () => {
    const { here, there } = await makeTwo()
    const one = await put(here, 'R1', agents.b)
    for (const name of ['l1', 'l2']) await ok(here.run('roster', 'alias', agents.a, name))
    for (const name of ['r1', 'r2'])
      await ok(there.run('roster', 'alias', agents.a, name, '--as', agents.a))
    await carry(there, here)
    await carry(here, there)
    for (const store of [here, there]) {
      expect(await codes(store)).toContain('HS2011')
      expect((await ok(store.run('roster', 'show'))).out).toMatch(/^passed by \S+/m)
    }
    expect((await standing(here, one)).standing).toBe('valid')
  })
})
