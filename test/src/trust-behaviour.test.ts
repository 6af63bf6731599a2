import { chmod, cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { decodeBlock, encodeBlock } from '../../store/codec.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import { envelopeOf } from '../support/envelope.ts'
import { amendRoster, bodyOf, forge, forkRoster } from '../support/forge.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  digestOf,
  json,
  makeSharedFolder,
  makeTestStore,
  ok,
  withLevel,
} from '../support/store.ts'

const shared = await makeSharedFolder()
let empty: TestStore
let copies = 0

beforeAll(async () => {
  empty = await makeTestStore(path.join(shared, 'empty'))
})

const fresh = (): Promise<TestStore> => copyStore(empty, path.join(shared, `copy-${copies++}`))
const document = (revision: string, author: string = agents.a, more: object = {}) =>
  envelopeOf({ workspace: 'w', revision, author, ...more })

/** What this user has accepted, as the one file beside the keys. */
async function pinFileOf({ keys }: TestStore): Promise<string> {
  const names = (await readdir(path.join(keys, 'trust'))).filter((name) => name.endsWith('.json'))
  expect(names).toHaveLength(1)
  return path.join(keys, 'trust', names[0]!)
}

async function verdictOf(
  store: TestStore,
  ref: string,
): Promise<{ exit: number; verdict: string; out: string }> {
  const ran = await store.run('resume', ref, '--json')
  return { exit: ran.exit, verdict: json<{ verdict: string }>(ran).verdict, out: ran.out }
}

describe('an entry that only another store can have made', () => {
  it('stops resume and verify with 6 where its author said two things', async () => {
    const store = await fresh()
    const one = await forge(store, agents.a, document('R1'))
    const two = await forge(store, agents.a, document('R1', agents.a, { note: 'else' }), {
      prev: [one.cid],
      seq: 2,
    })
    for (const { cid } of [one, two]) {
      const found = await verdictOf(store, cid)
      expect(found).toMatchObject({ exit: 6, verdict: 'unsafe' })
      expect(found.out).toContain(one.cid)
      expect(found.out).toContain(two.cid)
    }
    const verified = await store.run('verify', '--all')
    expect(verified.exit).toBe(6)
    expect(verified.out).toContain(two.cid)
    const later = await forge(store, agents.a, document('R2', agents.a, { parents: ['R1'] }), {
      parents: [one.cid],
      prev: [two.cid],
      seq: 3,
    })
    expect((await verdictOf(store, later.cid)).exit).toBe(6)
  })

  it('is a collision, and no fault, where two authors used one name', async () => {
    const store = await fresh()
    const one = await forge(store, agents.a, document('R1', agents.a))
    const two = await forge(store, agents.b, document('R1', agents.b))
    expect((await verdictOf(store, one.cid)).verdict).toBe('complete')
    expect((await verdictOf(store, two.cid)).verdict).toBe('complete')
    const named = await store.run('resume', 'w/revision/R1', '--json')
    expect(named.exit).toBe(2)
    expect(JSON.parse(named.err)).toMatchObject({ code: 'HSTORE_REF_AMBIGUOUS' })
    expect(named.err).toContain(one.cid)
    expect(named.err).toContain(two.cid)
  })

  it('is pending while its roster is not here', async () => {
    const store = await fresh()
    const later = bodyOf({ note: 'a roster that is elsewhere' }).cid
    const { cid } = await forge(store, agents.a, document('R1'), { roster: later })
    expect(await verdictOf(store, cid)).toMatchObject({ exit: 3, verdict: 'pending' })
    const verified = await store.run('verify', cid, '--json')
    expect({ exit: verified.exit, ...json(verified) }).toMatchObject({ exit: 3, ok: false })
  })

  it('is carried, and lowers the verdict, where this version does not know its kind', async () => {
    const store = await fresh()
    const one = await forge(store, agents.a, document('R1'))
    const note = await forge(
      store,
      agents.a,
      { text: 'hello' },
      {
        kind: 'oracle',
        name: undefined,
        stream: 'csag:w',
        prev: [one.cid],
        seq: 2,
      },
    )
    expect(await verdictOf(store, one.cid)).toMatchObject({ verdict: 'complete' })
    const two = await forge(store, agents.a, document('R2', agents.a, { parents: ['R1'] }), {
      parents: [one.cid],
      prev: [note.cid],
      seq: 3,
    })
    expect(await verdictOf(store, one.cid)).toMatchObject({ verdict: 'complete' })
    expect(await verdictOf(store, two.cid)).toMatchObject({ exit: 1, verdict: 'partial' })
    expect((await store.run('verify', '--all')).exit).toBe(0)
    const { heads } = json<{ heads: { stream: string; cid: string }[] }>(
      await store.run('heads', '--json'),
    )
    expect(heads.filter(({ stream }) => stream === 'csag:w').map(({ cid }) => cid)).toEqual([
      two.cid,
    ])
  })

  it('splits its chain without blame, and says so', async () => {
    const store = await fresh()
    await forge(store, agents.a, document('R1'))
    const other = await forge(store, agents.a, document('R2'))
    const verified = await store.run('verify', '--all', '--json')
    expect(verified.exit).toBe(0)
    expect(verified.out).toContain('HS3011')
    expect((await verdictOf(store, other.cid)).verdict).toBe('complete')
    await ok(store.runWith({ stdin: JSON.stringify(document('R3')) }, 'put', '-', '--as', agents.a))
    expect((await store.run('verify', '--all')).exit).toBe(0)
  })

  it('may not jump in its chain, nor follow another signer or stream in it', async () => {
    const store = await fresh()
    const own = await forge(store, agents.a, document('R1'))
    const foreign = await forge(store, agents.b, document('R2', agents.b))
    const cases = [
      { prev: [own.cid], seq: 3 },
      { prev: [foreign.cid], seq: 2 },
      { seq: 2 },
    ] as const
    for (const [i, change] of cases.entries()) {
      const { cid } = await forge(store, agents.a, document(`S${i}`), change)
      expect(await verdictOf(store, cid)).toMatchObject({ exit: 5, verdict: 'unsafe' })
    }
    expect((await store.run('verify', '--all')).exit).toBe(5)
  })

  it('is refused where documents are each other’s ancestors, and every walk ends', async () => {
    const store = await fresh()
    const a = document('A', agents.a, { parents: ['B'] })
    const b = document('B', agents.a, { parents: ['A'] })
    const first = await forge(store, agents.a, a, { shallow: ['w/revision/B'] })
    const second = await forge(store, agents.a, b, {
      parents: [first.cid],
      prev: [first.cid],
      seq: 2,
    })
    const restated = await forge(store, agents.a, a, {
      parents: [second.cid],
      prev: [second.cid],
      seq: 3,
    })
    for (const { cid } of [first, second, restated]) {
      expect(await verdictOf(store, cid)).toMatchObject({ exit: 5, verdict: 'unsafe' })
    }
    expect((await store.run('verify', '--all')).exit).toBe(5)
    expect((await store.run('log', first.cid)).exit).toBe(0)
  })

  it('says nothing of its author as a witness', async () => {
    const store = await fresh()
    await forge(store, agents.a, document('R1'))
    const witness = await forge(store, agents.b, document('R1', agents.a, { note: 'seen' }), {
      witness: true,
    })
    const found = await verdictOf(store, witness.cid)
    expect(['complete', 'partial']).toContain(found.verdict)
    expect((await store.run('verify', '--all')).exit).toBe(0)
  })

  it('is never read on by this version when its version is newer', async () => {
    const store = await fresh()
    const { cid } = await forge(store, agents.a, document('R1'))
    const { outBytes } = await ok(store.run('get', cid, '--entry'))
    const block = decodeBlock(outBytes) as { payload: object; sig: Uint8Array }
    const newer = encodeBlock({ ...block, payload: { ...block.payload, v: 2, more: true } })
    const newCid = cidTextOf(newer, 'dag-json')
    await withLevel(store.store, (level) => level.put(`!blocks!${newCid}`, newer))
    const ran = await store.run('resume', newCid, '--json')
    expect(ran.exit).not.toBe(0)
    expect(`${ran.out}${ran.err}`).toContain('newer hstore')
    expect(`${ran.out}${ran.err}`).not.toContain('"verdict":"complete"')
    expect((await store.run('get', newCid)).exit).toBe(9)
  })
})

describe('the rights of a key', () => {
  it('are those of its grants', async () => {
    const store = await fresh()
    const narrow = { kinds: ['envelope'], streams: ['csag:lab/*'], until: undefined }
    const did = (await ok(store.run('key', 'new', 'bot:narrow', '--no-passphrase'))).out.trim()
    await amendRoster(store, (roster) => ({
      agents: [
        {
          id: 'bot:narrow',
          aliases: [],
          read: ['*'],
          keys: [{ did: did as never, grants: [narrow], level: 'file' as const, machine: 'bench' }],
        },
        ...roster.agents,
      ].sort((one, other) => (one.id < other.id ? -1 : 1)),
    }))
    const inside = envelopeOf({ workspace: 'lab/one', revision: 'R', author: 'bot:narrow' })
    const outside = envelopeOf({ workspace: 'other', revision: 'R', author: 'bot:narrow' })
    const put = (value: object) =>
      store.runWith({ stdin: JSON.stringify(value) }, 'put', '-', '--as', 'bot:narrow', '--json')
    const { cid } = json<{ cid: string }>(await ok(put(inside)))
    expect((await verdictOf(store, cid)).verdict).toBe('complete')
    const before = await digestOf(store.store)
    expect((await put(outside)).exit).toBe(4)
    expect(await digestOf(store.store)).toBe(before)
    const { cid: forged } = await forge(store, 'bot:narrow', outside)
    expect(await verdictOf(store, forged)).toMatchObject({ exit: 5, verdict: 'unsafe' })
    const certified = await store.run('resume', cid, '--as', 'bot:narrow', '--json')
    expect(certified.exit).toBe(4)
  })

  it('are none for a key that the roster does not know, whatever it signs', async () => {
    const store = await fresh()
    await ok(store.run('key', 'new', 'bot:stranger', '--no-passphrase'))
    const value = envelopeOf({ workspace: 'w', revision: 'R1', author: 'bot:stranger' })
    const { cid } = await forge(store, 'bot:stranger', value)
    expect(await verdictOf(store, cid)).toMatchObject({ exit: 4, verdict: 'unsafe' })
    expect((await store.run('verify', cid)).exit).toBe(4)
    expect((await store.run('verify', '--all')).exit).toBe(4)
    const { heads } = json<{ heads: { cid: string }[] }>(await store.run('heads', '--json'))
    expect(heads.map((head) => head.cid)).not.toContain(cid)
    expect((await store.run('log', cid)).out).toContain('unknown')
  })
})

describe('the accepted roster', () => {
  it('is not left again when an older copy of the store comes back', async () => {
    const store = await fresh()
    const older = path.join(store.root, 'older')
    await cp(store.store, older, { recursive: true })
    const did = (await ok(store.run('key', 'new', 'bot:late', '--no-passphrase'))).out.trim()
    await ok(store.run('roster', 'add', 'bot:late', did))
    await rm(store.store, { recursive: true })
    await cp(older, store.store, { recursive: true })
    const before = await digestOf(store.store)
    for (const argv of [['heads'], ['verify', '--all'], ['resume', 'csag:w'], ['roster', 'show']]) {
      const ran = await store.run(...argv, '--json')
      expect({ argv, exit: ran.exit }).toEqual({ argv, exit: 5 })
      expect(JSON.parse(ran.err)).toMatchObject({ code: 'HSTORE_ROSTER_ROLLBACK' })
    }
    expect(await digestOf(store.store)).toBe(before)
  })

  it('stays split, whatever the store forgets of the two that stand against each other', async () => {
    const store = await fresh()
    const { cid } = await forge(store, agents.a, document('R1'))
    const [, two] = await forkRoster(store)
    const put = (): ReturnType<TestStore['run']> =>
      store.runWith({ stdin: JSON.stringify(document('R2')) }, 'put', '-', '--as', agents.a)
    expect(await verdictOf(store, cid)).toMatchObject({ exit: 5, verdict: 'unsafe' })
    expect((await put()).exit).not.toBe(0)
    await withLevel(store.store, (level) => level.del('!heads!roster'))
    expect(await verdictOf(store, cid)).toMatchObject({ exit: 5, verdict: 'unsafe' })
    expect((await put()).exit).not.toBe(0)
    await withLevel(store.store, async (level) => {
      const keys = await level.keys({ gt: '!entries!', lt: '!entries"' }).all()
      for (const key of keys) if (key.endsWith(two!)) await level.del(key)
    })
    for (const ran of [await store.run('resume', cid, '--json'), await put()]) {
      expect(ran.exit).toBe(5)
      expect(ran.err).toContain('roster')
    }
    const refused = await store.run('heads', '--json')
    expect(JSON.parse(refused.err)).toMatchObject({ code: 'HSTORE_ROSTER_ROLLBACK' })
  })

  it('is taken up where only the head’s row was set back', async () => {
    const store = await fresh()
    const heads = await withLevel(store.store, (level) => level.get('!heads!roster'))
    const did = (await ok(store.run('key', 'new', 'bot:late', '--no-passphrase'))).out.trim()
    const pins = await pinFileOf(store)
    const before = await readFile(pins)
    const { version } = json<{ version: number }>(
      await ok(store.run('roster', 'add', 'bot:late', did, '--json')),
    )
    await writeFile(pins, before)
    await withLevel(store.store, (level) => level.put('!heads!roster', heads))
    expect(json(await store.run('roster', 'show', '--json'))).toMatchObject({ version })
  })

  it('is changed by its root alone, and once for one key', async () => {
    const store = await fresh()
    const did = (await ok(store.run('key', 'new', 'bot:late', '--no-passphrase'))).out.trim()
    const before = await digestOf(store.store)
    expect((await store.run('roster', 'add', 'bot:late', did, '--as', agents.a)).exit).toBe(4)
    expect(await digestOf(store.store)).toBe(before)
    const once = json<{ version: number }>(
      await ok(store.run('roster', 'add', 'bot:late', did, '--json')),
    )
    const twice = json<{ version: number }>(
      await ok(store.run('roster', 'add', 'bot:late', did, '--json')),
    )
    expect(twice.version).toBe(once.version)
    expect((await store.run('roster', 'add', agents.a, did)).exit).toBe(6)
  })
})

describe('a folder of keys or trust that others can write', () => {
  it.each(['', 'trust'])('stops every verb that asks for trust (%j)', async (name) => {
    const store = await fresh()
    const folder = path.join(store.keys, name)
    await chmod(folder, 0o777)
    const { exit, err } = await store.run('heads')
    expect({ exit, err }).toEqual({ exit: 4, err: expect.stringContaining(`chmod go-w ${folder}`) })
    await chmod(folder, 0o755)
    await ok(store.run('heads'))
  })
})
