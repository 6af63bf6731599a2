import { chmod, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { bytesOf, writeEnvelope } from '../support/envelope.ts'
import { historyFiles, historyWorkspace } from '../support/history.ts'
import { entriesIn, payloadIn, readRaw } from '../support/raw-blocks.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  filesIn,
  json,
  makeSharedFolder,
  makeTestStore,
  ok,
  putHistory,
  withLevel,
} from '../support/store.ts'

interface Resumed {
  readonly verdict: string
  readonly history: string
  readonly notMade: readonly string[]
  readonly missing: readonly string[]
  readonly certificate: string | null
  readonly actions: readonly {
    readonly id: string
    readonly acceptance_criteria: readonly string[]
  }[]
  readonly conflicts: readonly { readonly id: string }[]
  readonly checks: readonly { readonly name: string; readonly result: string }[]
  readonly out: string | null
}

const stream = `csag:${historyWorkspace}`
const shared = await makeSharedFolder()
let empty: TestStore
let full: TestStore
let cids: readonly string[]
let copies = 0

beforeAll(async () => {
  empty = await makeTestStore(path.join(shared, 'empty'))
  full = await copyStore(empty, path.join(shared, 'full'))
  cids = await putHistory(full)
})

const copyOf = (store: TestStore): Promise<TestStore> =>
  copyStore(store, path.join(shared, `copy-${copies++}`))

async function resume(
  store: TestStore,
  ...argv: string[]
): Promise<Resumed & { readonly exit: number }> {
  const ran = await store.run('resume', '--json', ...argv)
  if (ran.out === '') throw new Error(ran.err)
  return { ...json<Resumed>(ran), exit: ran.exit }
}

describe('resume', () => {
  it('tells each agent what is left for it, and open conflicts', async () => {
    const store = await copyOf(full)
    const own = await resume(store, cids[3]!, '--as', agents.a)
    expect(own.exit).toBe(0)
    expect(own.actions).toHaveLength(1)
    expect(own.actions[0]!.acceptance_criteria.length).toBeGreaterThan(0)
    expect((await resume(store, cids[3]!, '--as', agents.b)).actions).toEqual([])
    expect((await resume(store, cids[2]!, '--as', agents.b)).conflicts).toHaveLength(1)
    const text = (await store.run('resume', cids[3]!, '--as', agents.a)).out
    expect(text).toContain(own.actions[0]!.acceptance_criteria[0]!)
  })

  it('says which checks it made and which not', async () => {
    const { checks, notMade } = await resume(await copyOf(full), stream)
    const made = checks.filter(({ result }) => result === 'ok').map(({ name }) => name)
    const wanted = 'blocks signatures trust equivocation history contract artifacts attribution'
    expect(made).toEqual(wanted.split(' '))
    const absent = checks.filter(({ result }) => result === 'not made').map(({ name }) => name)
    for (const name of absent) expect(notMade.join()).toContain(name)
  })

  it('needs a key, and none without a certificate', async () => {
    const store = await copyOf(full)
    await rm(path.join(store.keys, `${encodeURIComponent(agents.b)}.pem`))
    const without = await store.run('resume', stream, '--as', agents.b, '--json')
    expect(without.exit).toBe(4)
    expect(JSON.parse(without.err)).toMatchObject({ code: 'HSTORE_KEY_NOT_FOUND' })
    const before = await readRaw(store)
    const looked = await resume(store, stream, '--as', agents.b, '--no-certificate')
    expect(looked).toMatchObject({ exit: 0, verdict: 'complete', certificate: null })
    expect((await readRaw(store)).blocks.size).toBe(before.blocks.size)
  })

  it('refuses to certify for a key that the roster does not know', async () => {
    const store = await copyOf(full)
    await ok(store.run('key', 'new', 'bot:new', '--no-passphrase'))
    const ran = await store.run('resume', stream, '--as', 'bot:new', '--json')
    expect(ran.exit).toBe(4)
    const looked = await resume(store, stream, '--as', 'bot:new', '--no-certificate')
    expect(looked).toMatchObject({ exit: 0, verdict: 'complete' })
  })

  it('lays the bundle out only where the gate opens', async () => {
    const store = await copyOf(full)
    const open = await resume(store, stream, '--out', path.join(store.root, 'out'))
    expect(open.out).toBe(path.join(store.root, 'out'))
    expect((await filesIn(open.out!)).length).toBeGreaterThan(5)
    // a body: the opening may look for entries that were acknowledged by itself
    const { body } = payloadIn((await readRaw(store)).blocks.get(cids[0]!)!)!
    await withLevel(store.store, (level) => level.del(`!blocks!${body['/']}`))
    const shut = await resume(store, stream, '--full', '--out', path.join(store.root, 'shut'))
    expect(shut).toMatchObject({ verdict: 'unsafe', out: null, actions: [] })
    expect(await filesIn(path.join(store.root, 'shut'))).toEqual([])
  })

  it('sees in a large artifact what changed since', async () => {
    const store = await copyOf(empty)
    const folder = path.join(store.root, 'bundle')
    const files = { 'big.bin': bytesOf('big', 1_048_577), 'small.bin': bytesOf('small', 1_048_576) }
    const file = await writeEnvelope(folder, {
      workspace: 'w',
      revision: 'R',
      author: agents.merger,
      files,
    })
    const { cid, artifacts } = json<{ cid: string; artifacts: { cid: string; size: number }[] }>(
      await ok(store.run('put', file, '--json')),
    )
    expect(artifacts.map(({ size }) => size).sort((one, other) => one - other)).toEqual([
      1_048_576, 1_048_577,
    ])
    const beside = await filesIn(path.join(store.store, 'artifacts'))
    expect(beside).toHaveLength(1)
    expect((await resume(store, cid)).verdict).toBe('complete')
    await rm(beside[0]!)
    const lost = await resume(store, cid)
    expect(lost).toMatchObject({ verdict: 'unsafe', exit: 5, missing: [path.basename(beside[0]!)] })
  })
})

describe('a certificate', () => {
  it('is signed once for one judgement, and is a note in its own stream', async () => {
    const store = await copyOf(full)
    const first = await resume(store, stream, '--full')
    const before = await readRaw(store)
    const second = await resume(store, stream, '--full')
    expect(second.certificate).toBe(first.certificate)
    const after = await readRaw(store)
    expect(after.blocks.size).toBe(before.blocks.size)
    expect(entriesIn(after, ({ kind }) => kind === 'certificate')).toEqual([first.certificate])
    const payload = payloadIn(after.blocks.get(first.certificate!)!)
    expect(payload).toMatchObject({ stream: `log:${payload!.signer}`, parents: [] })
    const { heads } = json<{ heads: { stream: string }[] }>(await store.run('heads', '--json'))
    expect(heads.some((head) => head.stream.startsWith('log:'))).toBe(false)
    // what was not read again is another judgement
    const plain = await resume(store, stream)
    expect((await resume(store, stream)).certificate).toBe(plain.certificate)
    expect((await store.run('verify', '--all')).exit).toBe(0)
  })

  it('saves reading what it covers, and says so', async () => {
    const store = await copyOf(full)
    await resume(store, cids[1]!, '--as', agents.a)
    const plain = await resume(store, cids[3]!, '--as', agents.a)
    expect(plain.verdict).toBe('complete')
    expect(plain.notMade.join()).toContain('not read again')
    expect(plain.notMade.join()).toContain(cids[1]!)
    const all = await resume(store, cids[3]!, '--as', agents.a, '--full')
    expect(all.notMade.join()).not.toContain('not read again')
    const other = await resume(store, cids[3]!, '--as', agents.b)
    expect(other.notMade.join()).not.toContain('not read again')
    const keyless = await resume(store, cids[3]!, '--as', agents.a, '--no-certificate')
    expect(keyless.verdict).toBe('complete')
  })

  it('grants nothing: the gate runs again on all that is newer', async () => {
    const store = await copyOf(full)
    expect((await resume(store, stream)).verdict).toBe('complete')
    const raw = await readRaw(store)
    const { body } = payloadIn(raw.blocks.get(cids[3]!)!)!
    await withLevel(store.store, (level) => level.put(`!blocks!${body['/']}`, Buffer.from('{}')))
    const again = await resume(store, stream)
    expect(again).toMatchObject({ verdict: 'unsafe', exit: 5, certificate: null })
  })

  it('does not outlive a change of the roster', async () => {
    const store = await copyOf(full)
    await resume(store, cids[1]!, '--as', agents.a)
    const did = (await ok(store.run('key', 'new', 'bot:late', '--no-passphrase'))).out.trim()
    await ok(store.run('roster', 'add', 'bot:late', did))
    const plain = await resume(store, cids[3]!, '--as', agents.a)
    expect(plain.notMade.join()).not.toContain('not read again')
  })
})

describe('--accept-shallow', () => {
  it('has to name exactly the names at which history stops', async () => {
    const store = await copyOf(empty)
    const [, a, b, merge] = historyFiles
    await ok(store.run('put', a!.file, '--as', a!.agent, '--shallow'))
    await ok(store.run('put', b!.file, '--as', b!.agent, '--shallow'))
    const { out } = await ok(store.run('put', merge!.file, '--as', merge!.agent))
    const first = historyFiles[0]!.revision
    const cases: readonly (readonly [argv: readonly string[], verdict: string])[] = [
      [[], 'partial'],
      [['--accept-shallow', b!.revision], 'partial'],
      [['--accept-shallow', 'R0001'], 'partial'],
      [['--accept-shallow', first], 'complete'],
    ]
    for (const [argv, verdict] of cases) {
      const found = await resume(store, out.trim(), '--full', ...argv)
      expect({ argv, verdict: found.verdict }).toEqual({ argv, verdict })
      expect(found.exit).toBe(verdict === 'complete' ? 0 : 1)
      expect(found).toMatchObject({ history: 'shallow', missing: [first] })
    }
  })

  it('takes several names, and one alone is not enough', async () => {
    const store = await copyOf(empty)
    const file = await writeEnvelope(path.join(store.root, 'bundle'), {
      workspace: 'w',
      revision: 'R3',
      parents: ['R1', 'R2'],
      author: agents.merger,
    })
    await ok(store.run('put', file, '--shallow'))
    const names = ['w/revision/R1', 'w/revision/R2']
    expect((await resume(store, 'csag:w', '--accept-shallow', names[0]!)).verdict).toBe('partial')
    const all = await resume(store, 'csag:w', '--accept-shallow', ...names)
    expect(all).toMatchObject({ exit: 0, verdict: 'complete', history: 'shallow', missing: names })
    expect((await resume(store, 'csag:w')).verdict).toBe('partial')
  })
})

describe('get', () => {
  it('gives each file back byte for byte', async () => {
    for (const [i, { file }] of historyFiles.entries()) {
      const { outBytes } = await ok(full.run('get', cids[i]!, '--original'))
      expect(Buffer.compare(outBytes, await readFile(file))).toBe(0)
    }
  })

  it('lays out a bundle that validates as the first one did', async () => {
    for (const [i, { file, revision }] of historyFiles.entries()) {
      const out = path.join(shared, `out-${i}`)
      const laid = (await ok(full.run('get', revision, '--out', out))).out.trim()
      expect(laid).toBe(path.join(out, 'handoff.json'))
      expect(Buffer.compare(await readFile(laid), await readFile(file))).toBe(0)
      const [before, after, inside] = [
        await full.run('validate', file, '--json'),
        await full.run('validate', laid, '--json'),
        await full.run('validate', cids[i]!, '--json'),
      ]
      expect([before.exit, after.exit, inside.exit]).toEqual([0, 0, 0])
      const verdict = (ran: typeof before): unknown => {
        const { ok: isOk, findings } = json<{ ok: boolean; findings: unknown[] }>(ran)
        return { isOk, findings }
      }
      expect(verdict(after)).toEqual(verdict(before))
      expect(verdict(inside)).toEqual(verdict(before))
    }
  })

  it('gives the exact bytes of body, entry and artifact', async () => {
    const { blocks } = await readRaw(full)
    const { body } = payloadIn(blocks.get(cids[3]!)!)!
    const same = async (bytes: Uint8Array, ...argv: string[]): Promise<void> => {
      const { outBytes } = await ok(full.run('get', ...argv))
      expect(Buffer.compare(outBytes, bytes)).toBe(0)
    }
    await same(blocks.get(cids[3]!)!, cids[3]!, '--entry')
    await same(blocks.get(body['/'])!, cids[3]!)
    await same(blocks.get(body['/'])!, body['/'])
    for (const [cid, bytes] of blocks) if (cid.startsWith('bafkrei')) await same(bytes, cid)
  })

  it('leaves nothing behind whose bytes were not right', async () => {
    const store = await copyOf(empty)
    const files = { 'in/big.bin': bytesOf('big', 3_000_000), 'in/small.txt': 'small' }
    const file = await writeEnvelope(path.join(store.root, 'bundle'), {
      workspace: 'w',
      revision: 'R',
      author: agents.merger,
      files,
    })
    const cid = (await ok(store.run('put', file))).out.trim()
    const [big = ''] = await filesIn(path.join(store.store, 'artifacts'))
    await chmod(big, 0o600)
    await writeFile(big, bytesOf('other', 3_000_000))
    const out = path.join(store.root, 'out')
    const refused = await store.run('get', cid, '--out', out)
    expect(refused.exit).toBe(5)
    expect(refused.err).toContain(path.basename(big))
    expect((await filesIn(out)).filter((name) => name.endsWith('big.bin'))).toEqual([])
    const resumed = await store.run('resume', cid, '--out', path.join(store.root, 'out2'))
    expect(resumed.exit).toBe(5)
    expect(await filesIn(path.join(store.root, 'out2'))).toEqual([])
  })

  it('puts the file as given beside artifacts that have its name', async () => {
    const store = await copyOf(empty)
    const files = { 'handoff.json': 'mine', 'HANDOFF-1.JSON/x': 'mine' }
    const file = await writeEnvelope(path.join(store.root, 'bundle'), {
      workspace: 'w',
      revision: 'R',
      author: agents.merger,
      files,
    })
    const cid = (await ok(store.run('put', file))).out.trim()
    const out = path.join(store.root, 'out')
    const laid = (await ok(store.run('get', cid, '--out', out))).out.trim()
    expect(laid).toBe(path.join(out, 'handoff-2.json'))
    expect(await readFile(path.join(out, 'handoff.json'), 'utf8')).toBe('mine')
    expect((await store.run('validate', laid)).exit).toBe(0)
  })

  it('writes nothing over what is there', async () => {
    const out = path.join(shared, 'taken')
    await ok(full.run('get', cids[0]!, '--out', out))
    const before = await filesIn(out)
    const again = await full.run('get', cids[1]!, '--out', out, '--json')
    expect(again.exit).toBe(2)
    expect(JSON.parse(again.err)).toMatchObject({ code: 'HSTORE_OUTPUT_EXISTS' })
    expect(await filesIn(out)).toEqual(before)
  })
})
