import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { envelopeOf } from '../../support/envelope.ts'
import { forge, signerOf } from '../../support/forge.ts'
import type { TestStore } from '../../support/store.ts'
import {
  agents,
  copyStore,
  json,
  makeSharedFolder,
  makeTestStore,
  ok,
} from '../../support/store.ts'

const isSoak = Boolean(process.env['HSTORE_SOAK'])
const shared = await makeSharedFolder()
let empty: TestStore
let copies = 0

beforeAll(async () => {
  empty = await makeTestStore(path.join(shared, 'empty'))
})

const fresh = (): Promise<TestStore> => copyStore(empty, path.join(shared, `copy-${copies++}`))

async function put(
  store: TestStore,
  agent: string,
  revision: string,
  parents: readonly string[],
): Promise<string> {
  const stdin = JSON.stringify(envelopeOf({ workspace: 'w', revision, author: agent, parents }))
  return (await ok(store.runWith({ stdin }, 'put', '-', '--as', agent))).out.trim()
}

/** The standing of each entry; what the store does not hold is absent. */
async function standingsOf(store: TestStore, cids: readonly string[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const cid of cids) {
    const ran = await store.run('roster', 'check', cid, '--json')
    found.push(ran.out === '' ? 'absent' : json<{ standing: string }>(ran).standing)
  }
  return found
}

function ordersOf<T>(list: readonly T[]): readonly (readonly T[])[] {
  if (list.length <= 1) return [list]
  return list.flatMap((first, i) => ordersOf(list.toSpliced(i, 1)).map((rest) => [first, ...rest]))
}

describe('parts of a store that reach another', () => {
  it('end in the same standings, whatever the order', { timeout: 120_000 }, async () => {
    const store = await fresh()
    const { did } = await signerOf(store, agents.a)
    const parts: string[] = []
    const part = async (): Promise<void> => {
      const file = path.join(store.root, `part-${parts.length}.car`)
      await ok(store.run('export', file))
      parts.push(file)
    }
    const one = await put(store, agents.a, 'R1', [])
    const two = await put(store, agents.a, 'R2', ['R1'])
    await part()
    await ok(store.run('freeze', '--as', agents.a, '--at', one, '--yes'))
    await part()
    await ok(store.run('roster', 'revoke', agents.a, did, '--at', one, '--yes'))
    const late = await forge(
      store,
      agents.a,
      envelopeOf({ workspace: 'w', revision: 'R9', author: agents.a }),
      { seq: 1 },
    )
    await part()
    await ok(store.run('roster', 'grant', agents.a, did, '--readmit', two))
    await ok(store.run('gc'))
    await part()
    const cids = [one, two, late.cid]
    expect(await standingsOf(store, cids)).toEqual(['valid', 'valid', 'rejected'])
    const orders = ordersOf(parts).filter((_, i) => isSoak || i % 5 === 0)
    for (const order of orders) {
      const other = await fresh()
      for (const file of order) await other.run('import', file)
      expect({ order, found: await standingsOf(other, cids) }).toEqual({
        order,
        found: ['valid', 'valid', 'absent'],
      })
    }
  })
})

describe('a root that signs on a machine of its own', () => {
  it('is counted when its signature arrives', async () => {
    const store = await fresh()
    const offline = await fresh()
    const { did } = await signerOf(store, agents.b)
    const version = async (one: TestStore): Promise<number> =>
      json<{ version: number }>(await one.run('roster', 'show', '--json')).version
    const carry = async (from: TestStore, to: TestStore): Promise<void> => {
      const file = path.join(from.root, `carried-${copies++}.car`)
      await ok(from.run('export', file, 'roster'))
      await ok(to.run('import', file))
    }
    const before = await version(store)
    const proposed = await store.run(
      'roster',
      'propose',
      '--root',
      `${did}:bee`,
      '--threshold',
      '2',
      '--json',
    )
    const { body } = json<{ candidate: { body: string } }>(proposed).candidate
    await carry(store, offline)
    expect(await version(offline)).toBe(before)
    await ok(offline.run('roster', 'sign', body, '--yes', '--as', agents.b))
    expect(await version(offline)).toBe(before + 1)
    expect(await version(store)).toBe(before)
    await carry(offline, store)
    expect(await version(store)).toBe(before + 1)
    const next = json<{ candidate: { body: string } }>(
      await offline.run('roster', 'alias', agents.a, 'alpha', '--as', agents.b, '--json'),
    ).candidate.body
    await carry(offline, store)
    await ok(store.run('roster', 'sign', next, '--yes'))
    await carry(store, offline)
    expect([await version(store), await version(offline)]).toEqual([before + 2, before + 2])
  })
})
