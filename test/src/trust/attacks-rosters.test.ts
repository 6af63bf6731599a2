import { readFileSync } from 'node:fs'
import { cp, rm } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { signerOfSeed } from '../../../keys/signer.ts'
import { withKey, withRoots } from '../../../src/roster/change.ts'
import { everything } from '../../../src/roster/grants.ts'
import { successorOf } from '../../../src/roster/submit.ts'
import { readRoster } from '../../../src/trust/read-roster.ts'
import type { Roster } from '../../../src/trust/roster.ts'
import { rosterForm } from '../../../src/trust/roster.ts'
import { bytesOf } from '../../support/envelope.ts'
import {
  amendRoster,
  forge,
  forkRoster,
  openBelow,
  signerOf,
  signRoster,
} from '../../support/forge.ts'
import { agents, copyStore, json, makeSharedFolder, ok } from '../../support/store.ts'
import path from 'node:path'
import { AttackStores, document, standing, version } from './attack-stores.ts'

const vectors = JSON.parse(
  readFileSync(new URL('../../../fixtures/vectors/did-key.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, string | { readonly why?: string; readonly text?: string }[]>>
const weakKeys = Object.values(vectors)
  .flatMap((list) => (typeof list === 'string' ? [] : list))
  .flatMap(({ why, text }) => (why?.startsWith('small order') === true ? [text!] : []))

const stores = new AttackStores(await makeSharedFolder())

describe('rosters', () => {
  it('are not carried by one holder with two keys', async () => {
    const store = await stores.fresh()
    const merger = await signerOf(store, agents.merger)
    const second = signerOfSeed(bytesOf('second', 32))
    const other = signerOfSeed(bytesOf('other', 32))
    const roots = {
      add: [
        { did: second.did, holder: agents.merger },
        { did: other.did, holder: 'other' },
      ],
      drop: [],
      threshold: undefined,
    }
    await amendRoster(store, (roster) => withRoots(roster, roots))
    const before = await version(store)
    await using context = await openBelow(store)
    const next = { ...withRoots(successorOf(context.trust), { add: [], drop: [], threshold: 2 }) }
    for (const signer of [merger, second]) await signRoster(context, signer, () => next)
    await context.db.close()
    expect(await version(store)).toBe(before)
    await using again = await openBelow(store)
    await signRoster(again, other, () => next)
    await again.db.close()
    expect(await version(store)).toBe(before + 1)
  })

  it('are refused when an older copy comes back', async () => {
    const store = await stores.fresh()
    await cp(store.store, path.join(store.root, 'older'), { recursive: true })
    await ok(store.run('roster', 'alias', agents.a, 'alpha'))
    await rm(store.store, { recursive: true })
    await cp(path.join(store.root, 'older'), store.store, { recursive: true })
    expect((await store.run('heads')).exit).toBe(5)
  })

  it('make a reader wait that is kept from a newer one', async () => {
    const store = await stores.fresh()
    const older = await copyStore(store, stores.place())
    await ok(store.run('roster', 'alias', agents.a, 'alpha'))
    await using context = await openBelow(store)
    const { cid } = await forge(older, agents.a, document('R1', agents.a), {
      roster: context.trust.rosterBody,
    })
    expect((await standing(older, cid)).standing).toBe('held')
  })

  const faults: Readonly<Record<string, (roster: Roster) => Partial<Roster>>> = {
    'a version gap': ({ version: now }) => ({ version: now + 1 }),
    'a level that rises': (roster) => ({
      agents: roster.agents.map((agent) => ({
        ...agent,
        keys: agent.keys.map((key) => ({ ...key, level: 'agent' as const })),
      })),
    }),
    'a forgotten agent': (roster) => ({ agents: roster.agents.slice(1) }),
    'a forgotten grant': (roster) => ({
      agents: roster.agents.map((agent) => ({
        ...agent,
        keys: agent.keys.map((key) => ({ ...key, grants: [] })),
      })),
    }),
  }
  it.each(Object.entries(faults))('do not count with %s', async (_name, amend) => {
    const store = await stores.fresh()
    const before = await version(store)
    const merger = await signerOf(store, agents.merger)
    await using context = await openBelow(store)
    await signRoster(context, merger, amend)
    await context.db.close()
    expect(await version(store)).toBe(before)
  })

  it('do not open a grant again', async () => {
    const { store, did, one } = await stores.withWork()
    await ok(store.run('roster', 'remove', agents.a, '--at', one, '--yes'))
    const before = await version(store)
    const merger = await signerOf(store, agents.merger)
    await using context = await openBelow(store)
    await signRoster(context, merger, (roster) => ({
      agents: roster.agents.map((agent) => ({
        ...agent,
        keys: agent.keys.map((key) => (key.did === did ? { ...key, grants: [everything] } : key)),
      })),
    }))
    await context.db.close()
    expect(await version(store)).toBe(before)
  })

  it('stop everything where two stand against each other, until one is pinned or built on', async () => {
    const { store, one } = await stores.withWork()
    const [first] = await forkRoster(store)
    const { fork } = json<{ fork: string[] }>(await store.run('roster', 'show', '--json'))
    expect(fork).toHaveLength(2)
    expect((await standing(store, one)).standing).toBe('held')
    expect((await store.run('roster', 'alias', agents.a, 'x')).exit).toBe(6)
    expect((await store.run('roster', 'pin', first!)).exit).toBe(2)
    const bystander = await copyStore(store, stores.place())
    await ok(store.run('roster', 'pin', fork[1]!))
    await ok(store.run('roster', 'alias', agents.a, 'alpha'))
    expect((await standing(store, one)).standing).toBe('valid')
    await rm(bystander.store, { recursive: true })
    await cp(store.store, bystander.store, { recursive: true })
    expect((await standing(bystander, one)).standing).toBe('valid')
  })

  it('are neither forged nor vetoed by a root that is none any more', async () => {
    const { store, one } = await stores.withWork()
    const merger = await signerOf(store, agents.merger)
    const next = signerOfSeed(bytesOf('next root', 32))
    const roots = {
      add: [{ did: next.did, holder: 'next' }],
      drop: [merger.did],
      threshold: undefined,
    }
    await using context = await openBelow(store)
    const { trust } = context
    const change = withRoots(successorOf(trust), roots)
    for (const signer of [merger, next]) await signRoster(context, signer, () => change)
    await context.db.close()
    const now = await version(store)
    const before = await standing(store, one)
    await using later = await openBelow(store)
    const past = {
      ...successorOf(trust),
      agents: withKey(trust.roster, 'bot:evil', {
        did: signerOfSeed(bytesOf('evil', 32)).did,
        level: 'file',
        machine: 'm',
        grants: [everything],
      }).agents,
    }
    await signRoster(later, merger, () => past)
    await signRoster(later, merger, ({ agents: all }) => ({ agents: all }))
    await later.db.close()
    expect(await version(store)).toBe(now)
    expect(await standing(store, one)).toEqual(before)
    const entries = json<{ entries: { standing: string; signer: string }[] }>(
      await store.run('log', 'roster', '--json'),
    ).entries
    expect(
      entries
        .filter(({ signer }) => signer === merger.did)
        .some((entry) => entry.standing === 'valid'),
    ).toBe(true)
  })

  it('of a root that left can stop a newcomer, who pins, and nobody who has accepted a path', async () => {
    const { store, one } = await stores.withWork()
    const merger = await signerOf(store, agents.merger)
    const next = signerOfSeed(bytesOf('next root', 32))
    const roots = {
      add: [{ did: next.did, holder: 'next' }],
      drop: [merger.did],
      threshold: undefined,
    }
    await using context = await openBelow(store)
    const { trust } = context
    const good = withRoots(successorOf(trust), roots)
    for (const signer of [merger, next]) await signRoster(context, signer, () => good)
    await context.db.close()
    expect((await standing(store, one)).standing).toBe('valid')
    const { body } = json<{ body: string }>(await store.run('roster', 'show', '--json'))
    await using later = await openBelow(store)
    const evil = { ...successorOf(trust), threshold: 1 }
    await signRoster(later, merger, () => evil)
    await later.db.close()
    expect((await standing(store, one)).standing).toBe('valid')
    const stranger = { HSTORE_KEYS: path.join(store.root, 'strange') }
    const asked = (...argv: string[]) =>
      store.runWith({ env: stranger }, ...argv, '--genesis', store.genesis)
    expect((await asked('roster', 'check', one)).exit).toBe(3)
    expect((await asked('roster', 'pin', body)).exit).toBe(0)
    expect((await asked('roster', 'check', one)).exit).toBe(0)
  })

  it('hold no weak key, as an agent’s or a root’s', async () => {
    const store = await stores.fresh()
    const before = await openBelow(store)
    const roster = successorOf(before.trust)
    await before.db.close()
    expect(readRoster(rosterForm(roster))).toMatchObject({ version: roster.version })
    expect(weakKeys.length).toBeGreaterThan(5)
    for (const did of weakKeys) {
      const roots = { add: [{ did, holder: 'w' }], drop: [], threshold: undefined }
      const key = { did, level: 'file', machine: 'm', grants: [everything] } as never
      const odd = [withRoots(roster, roots), withKey(roster, 'bot:weak', key)]
      for (const one of odd)
        expect(() => readRoster(rosterForm(one))).toThrow(/no did:key|not a did:key/)
      expect((await store.run('roster', 'propose', '--root', `${did}:w`)).exit).toBe(2)
      expect((await store.run('roster', 'add', 'bot:weak', did)).exit).toBe(2)
    }
  })
})
