import { cp, rm } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { signerOfSeed } from '../../../keys/signer.ts'
import { cutBlock } from '../../../src/roster/cut-plan.ts'
import { withClosed, withGrants, withKey, withRoots } from '../../../src/roster/change.ts'
import { everything } from '../../../src/roster/grants.ts'
import { successorOf } from '../../../src/roster/submit.ts'
import { bytesOf } from '../../support/envelope.ts'
import { amendRoster, bodyOf, forge, openBelow, signerOf, signRoster } from '../../support/forge.ts'
import { agents, json, makeSharedFolder, ok, withLevel } from '../../support/store.ts'
import path from 'node:path'
import { AttackStores, document, expectStandings, put, standing } from './attack-stores.ts'

const stores = new AttackStores(await makeSharedFolder())

describe('a stolen key after a cut', () => {
  it('can’t backdate, wherever it hangs its entry', async () => {
    const { store, did, one, two } = await stores.withWork()
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
    const { store, did, two } = await stores.withWork()
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
      const { store, did, one } = await stores.withWork()
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
    const { store, did, one, two } = await stores.withWork()
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
    const { store, did, one, two } = await stores.withWork()
    await ok(store.run('roster', 'revoke', agents.a, did, '--at', one, '--yes'))
    await expectStandings(store, { [one]: 'valid', [two]: 'rejected' })
    await ok(store.run('roster', 'grant', agents.a, did, '--readmit', two))
    const three = await forge(store, agents.a, document('R3', agents.a), { prev: [two], seq: 3 })
    await expectStandings(store, { [one]: 'valid', [two]: 'valid', [three.cid]: 'rejected' })
  })

  it('keeps what comes behind an entry that is left out', async () => {
    const { store, did, one, two } = await stores.withWork()
    const three = await put(store, 'R3', agents.a, ['R2'])
    await ok(store.run('roster', 'revoke', agents.a, did, '--as-of-head', '--except', two, '--yes'))
    await expectStandings(store, { [one]: 'valid', [two]: 'rejected', [three]: 'valid' })
  })
})

describe('a freeze', () => {
  it('holds, and no more: what the roots cover is out of its reach', async () => {
    const { store, did, one, two } = await stores.withWork()
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
    const { store, did, one, two } = await stores.withWork()
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
    const { store, one } = await stores.withWork()
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
    const { store, did, one, two } = await stores.withWork()
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
    const { store, did, one } = await stores.withWork()
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
    const { store, one, two } = await stores.withWork()
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

describe('an entry that names its own trust', () => {
  it('gets none from it', async () => {
    const store = await stores.fresh()
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
    const store = await stores.fresh()
    const foreign = bodyOf({ another: 'store' }).cid
    const { cid } = await forge(store, agents.a, document('R1', agents.a), { store: foreign })
    expect((await standing(store, cid)).standing).toBe('rejected')
  })
})
