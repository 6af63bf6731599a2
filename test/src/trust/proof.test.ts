import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { decodeBlock, encodeBlock } from '../../../store/codec.ts'
import type { CidText } from '../../../store/cid-text.ts'
import { checkProof } from '../../../src/proof/report.ts'
import { envelopeOf } from '../../support/envelope.ts'
import { bodyOf, forge, signerOf } from '../../support/forge.ts'
import type { TestStore } from '../../support/store.ts'
import {
  agents,
  copyStore,
  json,
  makeSharedFolder,
  makeTestStore,
  ok,
} from '../../support/store.ts'

const shared = await makeSharedFolder()
let empty: TestStore
let copies = 0

beforeAll(async () => {
  empty = await makeTestStore(path.join(shared, 'empty'))
})

const fresh = (): Promise<TestStore> => copyStore(empty, path.join(shared, `copy-${copies++}`))
const document = (author: string, more: object = {}) =>
  envelopeOf({ workspace: 'w', revision: 'R1', author, ...more })
const name = 'w/revision/R1'

interface Report {
  readonly proves: string | null
  readonly why: string
  readonly entries: { readonly cid: CidText; readonly standing: string | null }[]
}

async function twoDocuments(): Promise<{ store: TestStore; one: CidText; two: CidText }> {
  const store = await fresh()
  const one = await forge(store, agents.a, document(agents.a))
  const two = await forge(store, agents.a, document(agents.a, { note: 'else' }), {
    prev: [one.cid],
    seq: 2,
  })
  return { store, one: one.cid, two: two.cid }
}

async function exported(store: TestStore, ref: string): Promise<string> {
  const out = path.join(store.root, `proof-${copies++}.json`)
  await ok(store.run('proof', 'export', ref, '--out', out))
  return out
}

describe('a proof of equivocation', () => {
  it('says of the store beside it that it is another', async () => {
    const { store, one } = await twoDocuments()
    const other = await makeTestStore(path.join(shared, `other-${copies++}`))
    const ran = await other.run('proof', 'check', await exported(store, one), '--json')
    expect(ran.exit).toBe(3)
    expect(json<Report>(ran)).toMatchObject({
      why: 'the store here is another, so nothing says whose keys these are',
    })
  })

  it('is found by the name, and stands without the store', async () => {
    const { store, one, two } = await twoDocuments()
    const { proofs } = json<{ proofs: Report[] }>(
      await ok(store.run('proof', 'show', name, '--json')),
    )
    expect(proofs).toHaveLength(1)
    expect(proofs[0]).toMatchObject({ proves: 'equivocation' })
    const file = await exported(store, one)
    expect((await store.run('proof', 'check', file)).exit).toBe(0)
    const stranger = {
      store: path.join(store.root, 'nowhere'),
      keys: path.join(store.root, 'none'),
    }
    const alone = await store.runWith(
      { env: { HSTORE_STORE: '', HSTORE_KEYS: stranger.keys } },
      'proof',
      'check',
      file,
      '--json',
    )
    expect(alone.exit).toBe(3)
    expect(json<Report>(alone)).toMatchObject({
      proves: 'equivocation',
      entries: [one, two].sort().map((cid) => ({ cid, standing: null })),
    })
    const other = await fresh()
    const elsewhere = await other.run('proof', 'check', file)
    expect(elsewhere.exit).toBe(0) // a copy of the store has the same rosters
    expect((await store.run('proof', 'check', file, '--genesis', one)).exit).toBe(4)
  })

  it('is gone once a cut leaves one of the two out, and the rest goes on', async () => {
    const { store, one, two } = await twoDocuments()
    const file = await exported(store, one)
    expect((await store.run('resume', one)).exit).toBe(6)
    const did = (await ok(store.run('key', 'new', 'bot:spare', '--no-passphrase'))).out.trim()
    const old = (await signerOf(store, agents.a)).did
    await ok(
      store.run(
        'roster',
        'add',
        agents.a,
        did,
        '--replaces',
        old,
        '--as-of-head',
        '--except',
        two,
        '--yes',
      ),
    )
    expect((await store.run('resume', one, '--no-certificate')).exit).toBe(0)
    expect((await store.run('proof', 'check', file)).exit).toBe(1)
    expect((await store.run('proof', 'show', one)).exit).toBe(1)
    expect((await store.run('verify', one)).exit).toBe(0)
  })

  it('waits while the author has frozen its key but for one', async () => {
    const { store, one, two } = await twoDocuments()
    await ok(store.run('freeze', '--as', agents.a, '--except', two, '--yes'))
    expect((await store.run('resume', one, '--no-certificate')).exit).toBe(0)
    expect((await store.run('resume', two, '--no-certificate')).exit).toBe(3)
  })

  it('is small: at most 4 KiB with 8 links in each entry', async () => {
    const store = await fresh()
    const links = Array.from({ length: 8 }, (_, i) => bodyOf({ i }).cid).sort()
    const change = {
      parents: links.slice(0, 3),
      prev: links.slice(3, 6),
      refs: links.slice(6),
      seq: 2,
    }
    const one = await forge(store, agents.a, document(agents.a), change)
    await forge(store, agents.a, document(agents.a, { note: 'else' }), change)
    const size = (await readFile(await exported(store, one.cid))).length
    expect(size).toBeLessThanOrEqual(4096)
  })
})

describe('a proof of two commits', () => {
  it('has their bodies with it, and is none without them, or of one proposal', async () => {
    const store = await fresh()
    const proposals = [bodyOf({ p: 1 }).cid, bodyOf({ p: 2 }).cid]
    const commit = (proposal: CidText, tick: number) => ({
      ack: { '/': proposal },
      lane_id: 'x',
      ownership_epoch: 1,
      proposal: { '/': proposal },
      signal: { '/': proposal },
      tick,
    })
    const change = { kind: 'lane-commit', name: '1', stream: 'lane:x' }
    const one = await forge(store, agents.a, commit(proposals[0]!, 1), change)
    const two = await forge(store, agents.a, commit(proposals[1]!, 1), change)
    const same = await forge(store, agents.a, commit(proposals[0]!, 2), change)
    const file = await exported(store, one.cid)
    const bytes = await readFile(file)
    expect(bytes.length).toBeLessThanOrEqual(4096)
    expect(checkProof(bytes)).toMatchObject({ proves: 'equivocation', exit: 3 })
    const { bodies, ...without } = decodeBlock(bytes) as { bodies: object[]; entries: object[] }
    expect(checkProof(encodeBlock(without))).toMatchObject({ proves: null })
    expect(checkProof(encodeBlock({ ...without, bodies: bodies.toReversed() }))).toMatchObject({
      proves: null,
    })
    const { proofs } = json<{ proofs: Report[] }>(
      await store.run('proof', 'show', one.cid, '--json'),
    )
    expect(proofs.flatMap(({ entries }) => entries.map(({ cid }) => cid))).not.toContain(same.cid)
    expect(proofs.flatMap(({ entries }) => entries.map(({ cid }) => cid))).toContain(two.cid)
  })
})

describe('a proof of a collision', () => {
  it('says that the name is ambiguous, and no more', async () => {
    const store = await fresh()
    const one = await forge(store, agents.a, document(agents.a))
    await forge(store, agents.b, document(agents.b))
    const { proofs } = json<{ proofs: Report[] }>(
      await ok(store.run('proof', 'show', name, '--json')),
    )
    expect(proofs[0]).toMatchObject({ proves: 'collision' })
    expect((await store.run('resume', one.cid)).exit).toBe(0)
  })
})

describe('what is no proof', () => {
  it('proves nothing, whatever was changed in it', async () => {
    const { store, one } = await twoDocuments()
    const file = await exported(store, one)
    const good = decodeBlock(await readFile(file)) as {
      entries: { payload: Record<string, unknown>; sig: Uint8Array }[]
    }
    const [first, second] = good.entries as [(typeof good.entries)[0], (typeof good.entries)[0]]
    const changed = (entry: typeof first, payload: object) => ({
      ...entry,
      payload: { ...entry.payload, ...payload },
    })
    const odd: readonly object[] = [
      { ...good, entries: [first, first] },
      { ...good, entries: [first] },
      { ...good, entries: [second, first] },
      { ...good, more: 1 },
      { ...good, format: 2 },
      { entries: good.entries },
      { ...good, entries: [changed(first, { name: 'R2' }), second] },
      { ...good, entries: [changed(first, { author: agents.b }), second] },
      { ...good, entries: [{ ...first, sig: second.sig }, second] },
      { ...good, bodies: [{}, {}] },
    ]
    for (const one of odd) {
      await writeFile(file, encodeBlock(one))
      const ran = await store.run('proof', 'check', file, '--json')
      expect({ one, isNone: ran.exit === 1 || ran.exit === 2 }).toEqual({ one, isNone: true })
    }
    for (const text of [
      '',
      '{}',
      '[]',
      'null',
      '{"entries":[{},{}],"format":1}',
      '{"entries":[1,2],"format":1}',
      ' {}',
    ]) {
      await writeFile(file, text)
      expect((await store.run('proof', 'check', file)).exit).toBe(2)
    }
  })

  it('finds nothing against restatements, witnesses and other names', async () => {
    const store = await fresh()
    const one = await forge(store, agents.a, document(agents.a))
    await forge(store, agents.a, document(agents.a), { prev: [one.cid], seq: 2, shallow: ['x'] })
    await forge(store, agents.b, document(agents.a, { note: 'seen' }), { witness: true })
    expect(json(await store.run('proof', 'show', one.cid, '--json'))).toMatchObject({ proofs: [] })
    expect((await store.run('proof', 'export', one.cid)).exit).toBe(2)
  })
})
