import { execFileSync } from 'node:child_process'
import { mkdir, open, readFile, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { envelopeOf, sha256, writeEnvelope } from '../support/envelope.ts'
import { historyFiles, historyWorkspace } from '../support/history.ts'
import type { Refusal } from '../support/refusal.ts'
import { expectRefused } from '../support/refusal.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  digestOf,
  json,
  makeSharedFolder,
  makeTestStore,
  ok,
} from '../support/store.ts'

const shared = await makeSharedFolder()
let empty: TestStore
let copies = 0

beforeAll(async () => {
  empty = await makeTestStore(path.join(shared, 'empty'))
})

const fresh = (): Promise<TestStore> => copyStore(empty, path.join(shared, `copy-${copies++}`))
const small = { workspace: 'w', revision: 'R', author: agents.merger }

/** Runs `put` on a file and expects it refused with nothing written. */
async function refusesPut(file: string, wanted: Refusal, ...more: string[]): Promise<void> {
  const before = await digestOf(empty.store)
  await expectRefused(empty, ['put', file, ...more], wanted)
  expect(await digestOf(empty.store)).toBe(before)
}

async function fileWith(name: string, content: string | Uint8Array): Promise<string> {
  const file = path.join(shared, name)
  await writeFile(file, content)
  return file
}

describe('put refuses a file', () => {
  const text = JSON.stringify(envelopeOf(small))
  const unreadable = { exit: 2, code: 'HSTORE_INPUT_UNREADABLE' }
  const byteOrderMark = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)])
  const badUtf8 = Buffer.from(text.replace('https', 'http\u00ff'), 'latin1')
  const cases: readonly (readonly [name: string, content: string | Uint8Array, wanted: Refusal])[] =
    [
      ['empty', '', { ...unreadable, names: ['empty'] }],
      ['white', ' \n', unreadable],
      ['words', 'not json at all', unreadable],
      ['cut', text.slice(0, -20), unreadable],
      ['two', `${text}${text}`, unreadable],
      ['mark', byteOrderMark, unreadable],
      ['utf8', badUtf8, unreadable],
      ['list', '[]', unreadable],
      ['text', '"envelope"', unreadable],
      ['number', '7', unreadable],
      ['map', '{}', { exit: 1, code: 'HSTORE_CONTRACT_BROKEN' }],
      ['version', text.replace('"1.0.0"', '"9.0.0"'), { exit: 1, names: ['envelope_version'] }],
      ['unknown', text.replace('{', '{"verdict":"complete",'), { exit: 1, names: ['verdict'] }],
      ['proto', text.replace('{', '{"__proto__":{"a":1},'), { exit: 1, names: ['__proto__'] }],
      ['slash', text.replace('{', '{"/":"bafy",'), { exit: 1 }],
      ['twice', text.replace('{', '{"created_by":"x",'), { exit: 2, names: ['created_by'] }],
      ['surrogate', text.replace('"w"', String.raw`"w\ud800"`), { exit: 2 }],
      ['control', text.replace('"w"', String.raw`"w\u0007"`), { exit: 2, names: ['id'] }],
      ['nothing', text.replace('"id":"w"', '"id":""'), { exit: 2, names: ['id'] }],
      ['long', text.replace('"id":"w"', `"id":"${'w'.repeat(1025)}"`), { exit: 2, names: ['id'] }],
      ['deep', text.replace('"w"', `${'['.repeat(100)}${']'.repeat(100)}`), { exit: 1 }],
      ['abyss', `${'['.repeat(200_000)}${']'.repeat(200_000)}`, { exit: 2 }],
    ]
  for (const [name, content, wanted] of cases) {
    it(`that is bad: ${name}`, async () => {
      await refusesPut(await fileWith(`${name}.json`, content), wanted)
    })
  }

  it('that is not there, is a folder or no file at all', async () => {
    await refusesPut(path.join(shared, 'none.json'), { ...unreadable, names: ['none.json'] })
    await refusesPut(shared, { ...unreadable, names: ['folder'] })
    await refusesPut('/dev/null', unreadable)
    const fifo = path.join(shared, 'fifo')
    execFileSync('mkfifo', [fifo])
    await refusesPut(fifo, unreadable)
  })

  it('that is over the limits', async () => {
    const note = (size: number): string =>
      JSON.stringify(envelopeOf({ ...small, note: 'n'.repeat(size) }))
    const names = ['2097152']
    await refusesPut(await fileWith('body.json', note(2_200_000)), { exit: 2, names })
    const spaced = `${text.slice(0, -1)}${' '.repeat(4_300_000)}}`
    await refusesPut(await fileWith('source.json', spaced), {
      exit: 2,
      code: 'HSTORE_INPUT_TOO_LARGE',
    })
    const huge = path.join(shared, 'huge.json')
    const handle = await open(huge, 'w')
    await handle.truncate(64 * 1024 * 1024 + 1)
    await handle.close()
    await refusesPut(huge, { ...unreadable, names: ['67108864'] })
    const names300 = Array.from({ length: 300 }, (_, i) => `P${i}`)
    const wide = JSON.stringify(envelopeOf({ ...small, parents: names300 }))
    await refusesPut(await fileWith('wide.json', wide), { exit: 2, names: ['256'] }, '--shallow')
  })

  it('with a warning only from 1 MiB on', async () => {
    const store = await fresh()
    const large = await fileWith(
      'large.json',
      JSON.stringify(envelopeOf({ ...small, note: 'n'.repeat(1_100_000) })),
    )
    const ran = await ok(store.run('put', large))
    expect(ran.err).toContain('warning')
    expect((await store.run('verify', '--all')).exit).toBe(0)
  })

  it('whose name would write on the terminal', async () => {
    const name = 'a\u001b[31mred\nhstore: verified'
    const ran = await empty.run('put', path.join(shared, name))
    expect(ran.exit).toBe(2)
    expect(ran.err.split('\n')).toHaveLength(2)
    expect(ran.err).not.toContain('\u001b')
  })
})

describe('put refuses an artifact', () => {
  const broken = (code: string, ...names: string[]): Refusal => ({
    exit: 1,
    code: 'HSTORE_CONTRACT_BROKEN',
    names: [code, ...names],
  })

  /** Writes an envelope that names one file, after that file was made or not. */
  async function naming(folder: string, file: string, content: string): Promise<string> {
    await mkdir(folder, { recursive: true })
    const envelope = envelopeOf({ ...small, files: { [file]: content } })
    return fileWith(
      path.relative(shared, path.join(folder, 'handoff.json')),
      JSON.stringify(envelope),
    )
  }

  it('that is missing, or other than promised', async () => {
    const folder = path.join(shared, 'artifacts')
    const file = await naming(folder, 'in/data.txt', 'promised')
    await refusesPut(file, broken('CSAG-H-011', 'source_artifacts[1]'))
    await mkdir(path.join(folder, 'in'))
    await writeFile(path.join(folder, 'in/data.txt'), 'obtained')
    await refusesPut(file, broken('CSAG-H-012', sha256('promised'), sha256('obtained')))
    await refusesPut(file, broken('CSAG-H-011'), '--bundle', path.dirname(shared))
    const elsewhere = path.join(shared, 'elsewhere')
    await refusesPut(file, { exit: 2, names: [elsewhere] }, '--bundle', elsewhere)
  })

  it('that is a folder or a pipe', async () => {
    const folder = path.join(shared, 'odd')
    const file = await naming(folder, 'data', 'x')
    await mkdir(path.join(folder, 'data'))
    await refusesPut(file, broken('CSAG-H-011'))
    const other = await naming(path.join(shared, 'odd2'), 'data', 'x')
    execFileSync('mkfifo', [path.join(shared, 'odd2', 'data')])
    await refusesPut(other, broken('CSAG-H-011'))
  })

  it('that lies outside of the bundle, by path or by link', async () => {
    const folder = path.join(shared, 'inside')
    const secret = await fileWith('secret.txt', 'secret')
    const paths: readonly (readonly [string, string])[] = [
      ['../secret.txt', 'CSAG-H-009'],
      ['a/../../secret.txt', 'CSAG-H-009'],
      ['%2e%2e/secret.txt', 'CSAG-H-009'],
      [secret, 'CSAG-H-008'],
      [`file://${secret}`, 'CSAG-H-007'],
      ['link.txt', 'CSAG-H-009'],
      ['links/secret.txt', 'CSAG-H-009'],
    ]
    await mkdir(folder, { recursive: true })
    await symlink(secret, path.join(folder, 'link.txt'))
    await symlink(shared, path.join(folder, 'links'))
    for (const [name, code] of paths) {
      await refusesPut(await naming(folder, name, 'secret'), broken(code))
    }
  })

  it('and takes a link that stays inside', async () => {
    const store = await fresh()
    const folder = path.join(store.root, 'linked')
    const file = await writeEnvelope(folder, { ...small, files: { 'real.txt': 'real' } })
    await symlink('real.txt', path.join(folder, 'name.txt'))
    const envelope = (await readFile(file, 'utf8')).replace('real.txt', 'name.txt')
    await writeFile(file, envelope)
    const { artifacts } = json<{ artifacts: unknown[] }>(await ok(store.run('put', file, '--json')))
    expect(artifacts).toHaveLength(1)
  })
})

describe('put refuses a place in the graph', () => {
  const [r1, r2a, r2b] = historyFiles.map(({ file }) => file) as [string, string, string]

  it('whose parents are unknown or not its own', async () => {
    const store = await fresh()
    const before = await digestOf(store.store)
    const asA = ['--as', agents.a]
    await expectRefused(store, ['put', r2a, ...asA], {
      exit: 2,
      code: 'HSTORE_PARENT_UNKNOWN',
      names: [`${historyWorkspace}/revision/R0001`, '--shallow'],
    })
    const nobody = `baguqeera${'a'.repeat(52)}`
    for (const cid of [nobody, 'nonsense', nobody.toUpperCase()]) {
      await expectRefused(store, ['put', r2a, ...asA, '--parent', cid], { exit: 2, names: [cid] })
    }
    expect(await digestOf(store.store)).toBe(before)
    await ok(store.run('put', r1, ...asA))
    const other = await writeEnvelope(path.join(store.root, 'o'), { ...small, revision: 'O' })
    const foreign = (await ok(store.run('put', other))).out.trim()
    const held = await digestOf(store.store)
    await expectRefused(store, ['put', r2a, ...asA, '--parent', foreign], {
      exit: 2,
      code: 'HSTORE_PARENT_UNKNOWN',
      names: [foreign],
    })
    expect(await digestOf(store.store)).toBe(held)
  })

  it('that was taken meanwhile, and names the heads', async () => {
    const store = await fresh()
    await ok(store.run('put', r1, '--as', agents.a))
    const head = (await ok(store.run('put', r2a, '--as', agents.a))).out.trim()
    const before = await digestOf(store.store)
    const told = await expectRefused(store, ['put', r2b, '--as', agents.b], {
      exit: 6,
      code: 'HSTORE_HEADS_MOVED',
      names: [head, '--parent'],
    })
    expect(told['heads']).toEqual([head])
    expect(await digestOf(store.store)).toBe(before)
  })

  it('that says another thing under a name that is given, and names both', async () => {
    const store = await fresh()
    const one = await writeEnvelope(path.join(store.root, 'one'), { ...small, note: 'one' })
    const two = await writeEnvelope(path.join(store.root, 'two'), { ...small, note: 'two' })
    const stands = (await ok(store.run('put', one))).out.trim()
    const before = await digestOf(store.store)
    const told = await expectRefused(store, ['put', two], {
      exit: 6,
      code: 'HSTORE_EQUIVOCATION',
      names: [stands, 'baguqeera'],
    })
    expect(told).toMatchObject({ cid: stands })
    expect(told['body']).toMatch(/^baguqeera/)
    expect(await digestOf(store.store)).toBe(before)
    await ok(store.run('put', one))
  })

  it('but keeps what it acknowledged before a later file was refused', async () => {
    const store = await fresh()
    const one = await writeEnvelope(path.join(store.root, 'one'), { ...small, revision: 'R1' })
    const ran = await store.run('put', one, path.join(store.root, 'none.json'))
    expect(ran.exit).toBe(2)
    expect((await ok(store.run('get', ran.out.trim()))).out).toContain('R1')
  })

  it('that would be its own ancestor', async () => {
    const store = await fresh()
    const base = { workspace: 'w', author: agents.merger }
    const folder = path.join(store.root, 'cycle')
    const a = await writeEnvelope(folder, { ...base, revision: 'A', parents: ['B'] })
    const b = await writeEnvelope(folder, { ...base, revision: 'B', parents: ['A'] })
    await ok(store.run('put', a, '--shallow'))
    await ok(store.run('put', b))
    const before = await digestOf(store.store)
    await expectRefused(store, ['put', a], { exit: 2, code: 'HSTORE_PARENT_CYCLE' })
    expect(await digestOf(store.store)).toBe(before)
  })
})
