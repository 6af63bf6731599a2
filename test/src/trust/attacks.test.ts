import { readFileSync } from 'node:fs'
import { cp, rm } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { signerOfSeed } from '../../../keys/signer.ts'
import type { CidText } from '../../../store/cid-text.ts'
import { cutBlock } from '../../../src/roster/cut-plan.ts'
import { withClosed, withGrants, withKey, withRoots } from '../../../src/roster/change.ts'
import { everything } from '../../../src/roster/grants.ts'
import { successorOf } from '../../../src/roster/submit.ts'
import { readRoster } from '../../../src/trust/read-roster.ts'
import type { Roster } from '../../../src/trust/roster.ts'
import { rosterForm } from '../../../src/trust/roster.ts'
import { bytesOf, envelopeOf } from '../../support/envelope.ts'
import {
  amendRoster,
  bodyOf,
  forge,
  forkRoster,
  openBelow,
  signerOf,
  signRoster,
} from '../../support/forge.ts'
import type { TestStore } from '../../support/store.ts'
import {
  agents,
  copyStore,
  json,
  makeSharedFolder,
  makeTestStore,
  ok,
  withLevel,
} from '../../support/store.ts'

const vectors = JSON.parse(
  readFileSync(new URL('../../../fixtures/vectors/did-key.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, string | { readonly why?: string; readonly text?: string }[]>>
const weakKeys = Object.values(vectors)
  .flatMap((list) => (typeof list === 'string' ? [] : list))
  .flatMap(({ why, text }) => (why?.startsWith('small order') === true ? [text!] : []))

const shared = await makeSharedFolder()
let empty: TestStore
let copies = 0

beforeAll(async () => {
  empty = await makeTestStore(path.join(shared, 'empty'))
})

const fresh = (): Promise<TestStore> => copyStore(empty, path.join(shared, `copy-${copies++}`))
const document = (revision: string, author: string, parents: readonly string[] = []) =>
  envelopeOf({ workspace: 'w', revision, author, parents })

async function put(
  store: TestStore,
  revision: string,
  author: string,
  parents: readonly string[] = [],
): Promise<CidText> {
  const stdin = JSON.stringify(document(revision, author, parents))
  return (await ok(store.runWith({ stdin }, 'put', '-', '--as', author))).out.trim() as CidText
}

/** A store in which agent-a has put R1 and R2, and its did. */
async function withWork(): Promise<{ store: TestStore; did: string; one: CidText; two: CidText }> {
  const store = await fresh()
  const one = await put(store, 'R1', agents.a)
  const two = await put(store, 'R2', agents.a, ['R1'])
  return { store, did: (await signerOf(store, agents.a)).did, one, two }
}

async function standing(
  store: TestStore,
  cid: string,
): Promise<{ standing: string; lines: string[] }> {
  return json(await store.run('roster', 'check', cid, '--json'))
}

async function expectStandings(
  store: TestStore,
  wanted: Readonly<Record<string, string>>,
): Promise<void> {
  const found: Record<string, string> = {}
  for (const cid of Object.keys(wanted)) found[cid] = (await standing(store, cid)).standing
  expect(found).toEqual(wanted)
}

const version = async (store: TestStore): Promise<number> =>
  json<{ version: number }>(await store.run('roster', 'show', '--json')).version

describe('a stolen key after a cut', () => {
  it('can’t backdate, wherever it hangs its entry', async () => {
    const { store, did, one, two } = await withWork()
    await ok(store.run('roster', 'revoke', agents.a, did, '--as-of-head', '--yes'))
    const start = await forge(store, agents.a, document('R0', agents.a))
    const aside = await forge(store, agents.a, document('R1b', agents.a), { prev: [one], seq: 2 })
    const after = await forge(store, agents.a, document('R3', agents.a, ['R2']), {
      parents: [two],
      prev: [two],
      seq: 3,
    })
    const wanted = {
      [one]: 'valid',
      [two]: 'valid',
      [start.cid]: 'rejected',
      [aside.cid]: 'rejected',
      [after.cid]: 'rejected',
    }
    await expectStandings(store, wanted)
    expect((await store.run('resume', one)).exit).toBe(0)
    for (const { cid } of [start, aside, after]) {
      expect((await store.run('resume', cid)).exit).toBe(5)
      expect((await store.run('roster', 'check', cid)).out).toContain('no pin that goes back')
    }
    const stdin = JSON.stringify(document('R4', agents.a))
    expect((await store.runWith({ stdin }, 'put', '-', '--as', agents.a)).exit).toBe(4)
  })

  it('is not helped by an honest merge', async () => {
    const { store, did, two } = await withWork()
    await ok(store.run('roster', 'revoke', agents.a, did, '--at', two, '--yes'))
    const bad = await forge(store, agents.a, document('R3', agents.a, ['R2']), {
      parents: [two],
      prev: [two],
      seq: 3,
    })
    const merge = await forge(store, agents.b, document('R4', agents.b, ['R3']), {
      parents: [bad.cid],
    })
    await expectStandings(store, { [bad.cid]: 'rejected', [merge.cid]: 'valid' })
    expect((await store.run('resume', merge.cid)).exit).toBe(5)
    const stdin = JSON.stringify(document('R5', agents.b, ['R3']))
    expect((await store.runWith({ stdin }, 'put', '-', '--as', agents.b)).exit).not.toBe(0)
  })

  it('covers nothing with pins of another key, or with a cut of another key', async () => {
    for (const key of ['own', 'other'] as const) {
      const { store, did, one } = await withWork()
      const other = await signerOf(store, agents.b)
      const foreign = await forge(store, agents.b, document('B1', agents.b), {
        prev: [one],
        seq: 2,
      })
      const cut = cutBlock({
        key: key === 'own' ? did : other.did,
        pins: [foreign.cid],
        readmitted: [],
      })
      await amendRoster(store, (roster) => withClosed(roster, did, cut.cid, undefined), [cut])
      await expectStandings(store, { [one]: 'rejected', [foreign.cid]: 'valid' })
      const verified = await store.run('verify', '--all', '--json')
      expect(verified.exit).toBe(5)
      expect(verified.out).toContain('HS2010')
    }
  })

  it('holds what is undecided while a pin or the cut is not here', async () => {
    const { store, did, one, two } = await withWork()
    await ok(store.run('roster', 'revoke', agents.a, did, '--at', two, '--yes'))
    const [cut] = json<{ agents: { keys: { did: string; grants: { until?: string }[] }[] }[] }>(
      await store.run('roster', 'show', '--json'),
    ).agents.flatMap(({ keys }) =>
      keys.flatMap((key) => (key.did === did ? key.grants.map(({ until }) => until) : [])),
    )
    for (const lost of [two, cut!]) {
      const bytes = await withLevel(store.store, (level) => level.get(`!blocks!${lost}`))
      await withLevel(store.store, (level) => level.del(`!blocks!${lost}`))
      await expectStandings(store, { [one]: 'held' })
      await withLevel(store.store, (level) => level.put(`!blocks!${lost}`, bytes))
    }
    await expectStandings(store, { [one]: 'valid' })
  })

  it('counts again where the roots readmit it, and only there', async () => {
    const { store, did, one, two } = await withWork()
    await ok(store.run('roster', 'revoke', agents.a, did, '--at', one, '--yes'))
    await expectStandings(store, { [one]: 'valid', [two]: 'rejected' })
    await ok(store.run('roster', 'grant', agents.a, did, '--readmit', two))
    const three = await forge(store, agents.a, document('R3', agents.a), { prev: [two], seq: 3 })
    await expectStandings(store, { [one]: 'valid', [two]: 'valid', [three.cid]: 'rejected' })
  })

  it('keeps what comes behind an entry that is left out', async () => {
    const { store, did, one, two } = await withWork()
    const three = await put(store, 'R3', agents.a, ['R2'])
    await ok(store.run('roster', 'revoke', agents.a, did, '--as-of-head', '--except', two, '--yes'))
    await expectStandings(store, { [one]: 'valid', [two]: 'rejected', [three]: 'valid' })
  })
})

describe('a freeze', () => {
  it('holds, and no more: what the roots cover is out of its reach', async () => {
    const { store, did, one, two } = await withWork()
    await ok(store.run('freeze', '--as', agents.a, '--at', one, '--yes'))
    await expectStandings(store, { [one]: 'valid', [two]: 'held' })
    expect((await store.run('resume', two)).exit).toBe(3)
    const stdin = JSON.stringify(document('R3', agents.a, ['R2']))
    expect((await store.runWith({ stdin }, 'put', '-', '--as', agents.a)).exit).toBe(4)
    await ok(store.run('roster', 'add', 'bot:late', signerOfSeed(bytesOf('late', 32)).did))
    await expectStandings(store, { [two]: 'held' })
    await ok(store.run('roster', 'revoke', agents.a, did, '--at', two, '--yes'))
    await expectStandings(store, { [one]: 'valid', [two]: 'valid' })
    await ok(store.run('freeze', '--as', agents.a, '--except', one, two, '--yes'))
    await expectStandings(store, { [one]: 'valid', [two]: 'valid' })
  })

  it('stands while the roster that closes the key had not seen it, for what the key may still do', async () => {
    const { store, did, one, two } = await withWork()
    const cut = cutBlock({ key: did, pins: [two], readmitted: [] })
    await ok(store.run('freeze', '--as', agents.a, '--at', one, '--yes'))
    await amendRoster(
      store,
      (roster) => withGrants(withClosed(roster, did, cut.cid, undefined), did, [everything]),
      [cut],
    )
    const three = await forge(store, agents.a, document('R3', agents.a), { prev: [two], seq: 3 })
    await expectStandings(store, { [two]: 'valid', [three.cid]: 'held' })
  })

  it('does not vanish with its entry, nor with an older copy of the store', async () => {
    const { store, one } = await withWork()
    await cp(store.store, path.join(store.root, 'older'), { recursive: true })
    const { cid } = json<{ cid: string }>(
      await ok(store.run('freeze', '--as', agents.a, '--at', one, '--yes', '--json')),
    )
    const rows = await withLevel(store.store, async (level) => {
      const keys = await level.keys({ gt: '!entries!', lt: '!entries"' }).all()
      const row = keys.find((key) => key.endsWith(cid))!
      const value = await level.get(row)
      await level.del(row)
      return { row, value }
    })
    expect((await store.run('heads')).exit).toBe(5)
    await withLevel(store.store, (level) => level.put(rows.row, rows.value))
    expect((await store.run('heads')).exit).toBe(0)
    await rm(store.store, { recursive: true })
    await cp(path.join(store.root, 'older'), store.store, { recursive: true })
    const ran = await store.run('heads', '--json')
    expect(JSON.parse(ran.err)).toMatchObject({ code: 'HSTORE_ROSTER_ROLLBACK' })
  })

  it('is what a cut can be made at: what it keeps stays good, and it is settled', async () => {
    const { store, did, one, two } = await withWork()
    const { cid } = json<{ cid: string }>(
      await ok(store.run('freeze', '--as', agents.a, '--at', one, '--yes', '--json')),
    )
    const ran = await ok(store.run('roster', 'revoke', agents.a, did, '--at', cid, '--yes'))
    expect(ran.err).toContain(`settles the freeze ${cid}`)
    await expectStandings(store, { [one]: 'valid', [two]: 'rejected' })
    expect(json(await store.run('roster', 'show', '--json'))).toMatchObject({ freezes: [] })
    await ok(store.run('roster', 'grant', agents.a, did))
    await expectStandings(store, { [one]: 'valid', [two]: 'valid' })
  })

  it('can’t be made for another key', async () => {
    const { store, did, one } = await withWork()
    const { cid } = await forge(
      store,
      agents.b,
      { key: did, pins: [] },
      { kind: 'freeze', name: undefined, stream: 'roster' },
    )
    await expectStandings(store, { [one]: 'valid' })
    expect((await store.run('verify', cid)).exit).toBe(5)
  })

  it('stands in certificates, and an earlier one does not hide it', async () => {
    const { store, one, two } = await withWork()
    await ok(store.run('resume', two, '--as', agents.b))
    const { cid } = json<{ cid: string }>(
      await ok(store.run('freeze', '--as', agents.a, '--at', one, '--yes', '--json')),
    )
    expect((await store.run('resume', two, '--as', agents.b)).exit).toBe(3)
    const { certificate } = json<{ certificate: string }>(
      await ok(store.run('resume', one, '--as', agents.b, '--json')),
    )
    const { document: body } = json<{ document: { freezes: unknown } }>(
      await store.run('get', certificate, '--json'),
    )
    expect(JSON.stringify(body.freezes)).toContain(cid)
  })
})

describe('rosters', () => {
  it('are not carried by one holder with two keys', async () => {
    const store = await fresh()
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
    const store = await fresh()
    await cp(store.store, path.join(store.root, 'older'), { recursive: true })
    await ok(store.run('roster', 'alias', agents.a, 'alpha'))
    await rm(store.store, { recursive: true })
    await cp(path.join(store.root, 'older'), store.store, { recursive: true })
    expect((await store.run('heads')).exit).toBe(5)
  })

  it('make a reader wait that is kept from a newer one', async () => {
    const store = await fresh()
    const older = await copyStore(store, path.join(shared, `copy-${copies++}`))
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
    const store = await fresh()
    const before = await version(store)
    const merger = await signerOf(store, agents.merger)
    await using context = await openBelow(store)
    await signRoster(context, merger, amend)
    await context.db.close()
    expect(await version(store)).toBe(before)
  })

  it('do not open a grant again', async () => {
    const { store, did, one } = await withWork()
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
    const { store, one } = await withWork()
    const [first] = await forkRoster(store)
    const { fork } = json<{ fork: string[] }>(await store.run('roster', 'show', '--json'))
    expect(fork).toHaveLength(2)
    expect((await standing(store, one)).standing).toBe('held')
    expect((await store.run('roster', 'alias', agents.a, 'x')).exit).toBe(6)
    expect((await store.run('roster', 'pin', first!)).exit).toBe(2)
    const bystander = await copyStore(store, path.join(shared, `copy-${copies++}`))
    await ok(store.run('roster', 'pin', fork[1]!))
    await ok(store.run('roster', 'alias', agents.a, 'alpha'))
    expect((await standing(store, one)).standing).toBe('valid')
    await rm(bystander.store, { recursive: true })
    await cp(store.store, bystander.store, { recursive: true })
    expect((await standing(bystander, one)).standing).toBe('valid')
  })

  it('are neither forged nor vetoed by a root that is none any more', async () => {
    const { store, one } = await withWork()
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
    const { store, one } = await withWork()
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
    const store = await fresh()
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

describe('an entry that names its own trust', () => {
  it('gets none from it', async () => {
    const store = await fresh()
    await ok(store.run('key', 'new', 'bot:self', '--no-passphrase'))
    const self = await signerOf(store, 'bot:self')
    await using context = await openBelow(store)
    const own = withKey(
      withRoots(successorOf(context.trust), {
        add: [{ did: self.did, holder: 'me' }],
        drop: [],
        threshold: undefined,
      }),
      'bot:self',
      { did: self.did, level: 'file', machine: 'm', grants: [everything] },
    )
    const body = await signRoster(context, self, () => own)
    await context.db.close()
    const { cid } = await forge(store, 'bot:self', document('R1', 'bot:self'), { roster: body })
    expect((await store.run('resume', cid)).exit).toBe(4)
    expect((await standing(store, cid)).standing).toBe('unknown')
    expect((await store.run('put', '-', '--as', 'bot:self')).exit).not.toBe(0)
  })

  it('is another store’s, whatever else fits', async () => {
    const store = await fresh()
    const foreign = bodyOf({ another: 'store' }).cid
    const { cid } = await forge(store, agents.a, document('R1', agents.a), { store: foreign })
    expect((await standing(store, cid)).standing).toBe('rejected')
  })
})
