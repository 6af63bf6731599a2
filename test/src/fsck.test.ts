import { execFileSync } from 'node:child_process'
import { mkdir, readFile, rm, symlink, truncate, unlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { openStore } from '../../src/open-store.ts'
import { bytesOf, writeEnvelope } from '../support/envelope.ts'
import { forge } from '../support/forge.ts'
import { historyWorkspace } from '../support/history.ts'
import { payloadIn, readRaw } from '../support/raw-blocks.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  json,
  makeSharedFolder,
  makeTestStore,
  ok,
  putHistory,
  withLevel,
} from '../support/store.ts'

const stream = `csag:${historyWorkspace}`
const isSoak = Boolean(process.env['HSTORE_SOAK'])
const shared = await makeSharedFolder()
let ground: TestStore
let cids: readonly string[]
let large: string
let envelope: string
let view: unknown
let copies = 0

interface Finding {
  readonly code: string
  readonly cid?: string
  readonly message: string
}

interface Report {
  readonly ok: boolean
  readonly findings: readonly Finding[]
  readonly mended: readonly Finding[]
  readonly kept: string | null
  readonly exit: number
}

/** A store with a fork, an entry with a large and a small artifact, a certificate and an entry that is held. */
beforeAll(async () => {
  ground = await makeTestStore(path.join(shared, 'ground'))
  cids = await putHistory(ground)
  await ok(ground.run('resume', cids[3]!, '--as', agents.merger))
  const files = { 'large.bin': bytesOf('large', 1_100_000), 'small.bin': bytesOf('small', 2000) }
  const small = { workspace: 'w', revision: 'R', author: agents.merger, files }
  envelope = await writeEnvelope(path.join(ground.root, 'bundle'), small)
  const put = json<{ cid: string }>(await ok(ground.run('put', envelope, '--json')))
  cids = [...cids, put.cid]
  large = [...(await readRaw(ground)).files.keys()][0]!
  view = await viewOf(ground)
})

const fresh = (): Promise<TestStore> => copyStore(ground, path.join(shared, `copy-${copies++}`))

async function fsck(store: TestStore, ...options: readonly string[]): Promise<Report> {
  const ran = await store.run('fsck', '--json', ...options)
  return { ...json<Report>(ran), exit: ran.exit }
}

const named = ({ findings }: Report): readonly string[] =>
  findings.map(({ code, cid, message }) => `${code} ${cid ?? message}`)

type Change = { type: 'del'; key: string } | { type: 'put'; key: string; value: Uint8Array }

async function viewOf(store: TestStore): Promise<unknown> {
  const lines = [['heads'], ['log', stream], ['log', 'csag:w'], ['verify', '--all']]
  const views = []
  for (const argv of lines) {
    const { exit, out } = await store.run(...argv)
    // a rebuild forgets which signatures were checked before
    views.push({ argv, exit, out: out.replace(/\d+ signatures/, 'signatures') })
  }
  return views
}

/** What fsck and a rebuild make of a damage that loses nothing. */
async function expectHealed(store: TestStore, code: string): Promise<void> {
  const found = await fsck(store)
  expect(found).toMatchObject({ ok: false, exit: 5, mended: [] })
  expect(found.findings.map((one) => one.code)).toContain(code)
  const rebuilt = await fsck(store, '--rebuild')
  expect(named(rebuilt)).toEqual([])
  expect(rebuilt).toMatchObject({ ok: true, exit: 0 })
  expect(rebuilt.mended.map((one) => one.code)).toContain(code)
  expect(await fsck(store)).toMatchObject({ ok: true, exit: 0, findings: [], mended: [] })
  expect(await viewOf(store)).toEqual(view)
}

describe('fsck on a sound store', () => {
  it('finds nothing, changes nothing, and a rebuild of it changes nothing either', async () => {
    const store = await fresh()
    const { rows, blocks } = await readRaw(store)
    for (const options of [[], ['--rebuild']]) {
      const report = await fsck(store, ...options)
      expect(report).toMatchObject({ ok: true, exit: 0, findings: [], mended: [], kept: null })
      const after = await readRaw(store)
      expect([...after.rows]).toEqual([...rows])
      expect([...after.blocks.keys()]).toEqual([...blocks.keys()])
    }
  })

  it('has nothing against forks, held entries and entries by an own key that were made elsewhere', async () => {
    const store = await fresh()
    const document = { id: 'elsewhere', revision: 'elsewhere/revision/R' }
    await forge(store, agents.a, document)
    const { exit, findings } = await fsck(store)
    expect({ exit, errors: findings.filter(({ code }) => code !== 'HS1007') }).toEqual({
      exit: 0,
      errors: [],
    })
    const status = json<{ elsewhere: unknown[] }>(await ok(store.run('status', '--json')))
    expect(status.elsewhere).toHaveLength(1)
    expect((await fsck(store, '--rebuild')).exit).toBe(0)
    expect(json(await ok(store.run('status', '--json')))).toEqual(status)
  })
})

describe('fsck of blocks', () => {
  it('names each one that is gone or is not what its name says; a rebuild leaves the rest whole', async () => {
    const { blocks } = await readRaw(ground)
    const kinds = new Map([...blocks].map(([cid, bytes]) => [kindOf(cid, bytes), cid]))
    expect([...kinds.keys()].sort()).toEqual(['document', 'entry', 'raw'])
    for (const [kind, cid] of kinds) {
      for (const how of isSoak ? ['gone', 'corrupt'] : [kind === 'raw' ? 'corrupt' : 'gone']) {
        const store = await fresh()
        await withLevel(store.store, (level) =>
          how === 'gone'
            ? level.del(`!blocks!${cid}`)
            : level.put(`!blocks!${cid}`, Buffer.from('{}')),
        )
        const found = await fsck(store)
        expect({
          cid,
          how,
          exit: found.exit,
          names: found.findings.some((one) => one.cid === cid),
        }).toEqual({ cid, how, exit: 5, names: true })
        const rebuilt = await fsck(store, '--rebuild')
        expect(rebuilt.findings.map((one) => one.cid)).toContain(cid)
        const { blocks: left } = await readRaw(store)
        expect([...blocks.keys()].filter((one) => !left.has(one))).toEqual([cid])
      }
    }
  })

  it('of an entry that is lost is told once where nothing points to it', async () => {
    const store = await fresh()
    const last = cids[4]!
    await withLevel(store.store, (level) => level.del(`!blocks!${last}`))
    expect(named(await fsck(store))).toContain(`HS1010 ${last}`)
    expect(named(await fsck(store, '--rebuild')).join()).toContain(last)
    expect((await fsck(store)).exit).toBe(0)
    await ok(store.run('heads'))
    // what nothing leads to is all that is left of it
    expect((await store.run('gc')).exit).toBe(5)
    await ok(store.run('fsck', '--forget-lost'))
    await ok(store.run('gc'))
    await ok(store.run('put', envelope))
  })

  it('names rows under the name of a block that no block can have, and a rebuild takes them away', async () => {
    const store = await fresh()
    await withLevel(store.store, (level) => level.put('!blocks!nonsense', Buffer.from('x')))
    const found = await fsck(store)
    expect(named(found).join()).toContain('HS1006 "nonsense"')
    const rebuilt = await fsck(store, '--rebuild')
    expect(rebuilt.kept).toBe(path.join(store.store, 'damaged-1'))
    expect((await fsck(store)).findings).toEqual([])
    expect(await viewOf(store)).toEqual(view)
  })
})

function kindOf(cid: string, bytes: Uint8Array): string {
  if (cid.startsWith('bafkrei')) return 'raw'
  return payloadIn(bytes)?.kind === 'envelope' ? 'entry' : 'document'
}

describe('fsck of indexes', () => {
  const odd = Buffer.from('["csag:agent/nobody"]')
  const unread = Buffer.from('no row')

  it.each<readonly [string, (key: string, value: Uint8Array) => Change]>([
    ['are gone', (key) => ({ type: 'del', key })],
    ['say something else', (key) => ({ type: 'put', key, value: odd })],
    ['are no rows', (key) => ({ type: 'put', key, value: unread })],
    ['are too many', (key, value) => ({ type: 'put', key: `${key}x`, value })],
  ])('heals all of them where rows %s', async (what, changeOf) => {
    const { rows } = await readRaw(ground)
    const derived = [...rows].filter(([key]) => !/^!(?:made|marks|meta)!/.test(key))
    const first = new Map(derived.map((row) => [row[0].split('!')[1]!, row]))
    expect(first.size).toBe(6)
    // one by one in the long form
    const some = isSoak ? [...first.values()].map((row) => [row]) : [[...first.values()]]
    for (const damaged of some) {
      const store = await fresh()
      const changes = damaged.map(([key, value]) => changeOf(key, value))
      await withLevel(store.store, (level) => level.batch(changes))
      expect((await fsck(store)).exit).toBe(5)
      const rebuilt = await fsck(store, '--rebuild')
      // an entry that an index names too many may have been one: it is named as lost
      const isNamed =
        what === 'are too many' && damaged.some(([key]) => key.startsWith('!entries!'))
      expect({ damaged, exit: rebuilt.exit }).toEqual({ damaged, exit: isNamed ? 5 : 0 })
      expect((await fsck(store)).exit).toBe(0)
      const after = [...(await readRaw(store)).rows]
      expect(after.filter(([key]) => !/^!(?:made|marks|meta)!/.test(key))).toEqual(derived)
    }
  })

  it.each(isSoak ? ['marks', 'made', 'collected'] : ['made'])(
    'gets past rows of %s that are none',
    async (index) => {
      const store = await fresh()
      await withLevel(store.store, (level) => level.put(`!${index}!${cids[0]!}`, Buffer.from('?')))
      await expectHealed(store, 'HS1009')
    },
  )

  it('makes doubles again, where one name stands for two documents', async () => {
    const store = await fresh()
    const document = { id: 'd', revision: 'd/revision/R' }
    await forge(store, agents.a, { ...document, note: 1 })
    await forge(store, agents.b, { ...document, note: 2 })
    const { rows } = await readRaw(store)
    const [key] = [...rows].find(([one]) => one.startsWith('!doubles!'))!
    await withLevel(store.store, (level) => level.del(key))
    expect((await fsck(store)).exit).toBe(5)
    expect((await fsck(store, '--rebuild')).exit).toBe(0)
    expect((await readRaw(store)).rows.has(key)).toBe(true)
  })
})

describe('fsck of files', () => {
  it('names artifacts that are gone or damaged; the same document put again heals them', async () => {
    const { files, blocks } = await readRaw(ground)
    const small = [...blocks].find(([, bytes]) =>
      Buffer.from(bytes).equals(bytesOf('small', 2000)),
    )!
    const file = path.relative(ground.root, files.get(large)!)
    const damages: readonly (readonly [string, (store: TestStore) => Promise<unknown>])[] = [
      [large, ({ root }) => unlink(path.join(root, file))],
      [large, ({ root }) => truncate(path.join(root, file), 1000)],
      [small[0], ({ store }) => withLevel(store, (level) => level.del(`!blocks!${small[0]}`))],
      [
        small[0],
        ({ store }) =>
          withLevel(store, (level) => level.put(`!blocks!${small[0]}`, Buffer.from('x'))),
      ],
    ]
    for (const [cid, damage] of damages) {
      const store = await fresh()
      await damage(store)
      expect(named(await fsck(store)).join()).toContain(cid)
      const again = await ok(store.run('put', envelope))
      expect(again.out.trim()).toBe(cids[4])
      expect(await fsck(store)).toMatchObject({ exit: 0, findings: [] })
      expect(await viewOf(store)).toEqual(view)
    }
  })

  it('heals the body, the list of artifacts and the file as given by the same document', async () => {
    const { blocks } = await readRaw(ground)
    const { body, artifacts, source } = payloadIn(blocks.get(cids[4]!)!)!
    for (const link of [body, artifacts, source]) {
      const cid = link!['/']
      const store = await fresh()
      await withLevel(store.store, (level) => level.del(`!blocks!${cid}`))
      expect(named(await fsck(store)).join()).toContain(cid)
      expect((await ok(store.run('put', envelope))).out.trim()).toBe(cids[4])
      expect(await fsck(store)).toMatchObject({ exit: 0, findings: [] })
    }
  })

  it('tells of files that nobody names and that have no name of ours, and changes neither', async () => {
    const store = await fresh()
    const odd = path.join(store.store, 'artifacts', 'no', 'name')
    await mkdir(path.dirname(odd))
    await writeFile(odd, 'x')
    await writeFile(path.join(store.store, 'tmp', 'leftover'), 'x')
    const found = await fsck(store)
    expect(named(found).join()).toContain(`HS1006 ${odd}`)
    await fsck(store, '--rebuild')
    expect(await readFile(odd, 'utf8')).toBe('x')
  })

  it.each([
    ['emptied', ''],
    ['zeroed', '\0'.repeat(120)],
    ['gone', undefined],
  ])('makes config.json anew when it is %s', async (_, text) => {
    const store = await fresh()
    const file = path.join(store.store, 'config.json')
    await (text === undefined ? rm(file) : writeFile(file, text))
    expect((await store.run('heads')).exit).toBe(5)
    await expectHealed(store, 'HS1011')
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ format: 1, genesis: store.genesis })
  })

  it('names a genesis in config.json that the blocks do not have, and puts theirs in its place', async () => {
    const store = await fresh()
    const file = path.join(store.store, 'config.json')
    const config = await readFile(file, 'utf8')
    await writeFile(file, config.replace(store.genesis, `baguqeera${'a'.repeat(52)}`))
    expect((await store.run('heads')).exit).toBe(4)
    await expectHealed(store, 'HS1011')
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(JSON.parse(config))
  })
})

describe('what a rebuild went on without', () => {
  async function lose(): Promise<{ store: TestStore; lost: string }> {
    const store = await fresh()
    const lost = cids.at(-1)!
    await withLevel(store.store, (level) => level.del(`!blocks!${lost}`))
    const rebuilt = await store.run('fsck', '--rebuild', '--json')
    expect(rebuilt.exit).toBe(5)
    expect(json<Report>(rebuilt).findings.map(({ cid }) => cid)).toContain(lost)
    return { store, lost }
  }

  it('is named until it is back, and no resume is complete meanwhile', async () => {
    const { store, lost } = await lose()
    for (const verb of [['fsck'], ['verify', '--all']]) {
      const told = await store.run(...verb, '--json')
      expect(told.exit).toBe(0)
      expect(json<Report>(told).findings).toContainEqual(
        expect.objectContaining({ code: 'HS1012', cid: lost, severity: 'warning' }),
      )
    }
    expect(json(await ok(store.run('status', '--json')))).toMatchObject({ lost: [lost] })
    const resumed = await store.run('resume', cids[1]!, '--json')
    expect({ exit: resumed.exit, ...json(resumed) }).toMatchObject({ exit: 1, verdict: 'partial' })
  })

  it('is let go of when that is asked for', async () => {
    const { store } = await lose()
    await ok(store.run('fsck', '--forget-lost'))
    expect(json(await ok(store.run('status', '--json')))).toMatchObject({ lost: [] })
    await ok(store.run('resume', cids[1]!))
  })
})

describe('a store whose database is gone', () => {
  it.each(['a folder', 'a file'])(
    'is told so, and a rebuild names all it had (%s)',
    async (what) => {
      const store = await fresh()
      await rm(path.join(store.store, 'db'), { recursive: true })
      if (what === 'a file') await writeFile(path.join(store.store, 'db'), 'x')
      for (const verb of [['heads'], ['status'], ['put', envelope]]) {
        const { exit, err } = await store.run(...verb)
        expect({ exit, err }).toEqual({ exit: 5, err: expect.stringContaining('run hstore fsck') })
      }
      if (what === 'a file') await rm(path.join(store.store, 'db'))
      const rebuilt = await store.run('fsck', '--rebuild', '--json')
      expect(rebuilt.exit).toBe(5)
      const named = json<Report>(rebuilt).findings.map(({ cid }) => cid)
      expect(named).toEqual(expect.arrayContaining([...cids, store.genesis]))
      expect((await store.run('fsck')).exit).toBe(5)
    },
  )
})

describe('fsck --forget-lost', () => {
  const cid = `baguqeera${'a'.repeat(52)}`

  it('touches no folder that is no store, and nothing while it is refused', async () => {
    const store = await fresh()
    const plain = path.join(store.root, 'plain')
    await mkdir(plain)
    const list = path.join(store.store, 'lost')
    for (const file of [path.join(plain, 'lost'), list]) await writeFile(file, `${cid}\n`)
    expect((await store.run('fsck', '--forget-lost', '--store', plain)).exit).toBe(2)
    expect(await readFile(path.join(plain, 'lost'), 'utf8')).toBe(`${cid}\n`)
    await using holder = await openStore({ store: store.store, keys: store.keys })
    await holder.heads()
    expect((await store.run('fsck', '--forget-lost', '--wait', '0')).exit).toBe(8)
    expect(await readFile(list, 'utf8')).toBe(`${cid}\n`)
  })
})

describe('what somebody has planted in a store', () => {
  const planted: readonly (readonly [string, (at: string, to: string) => Promise<unknown>])[] = [
    ['lost/x', (at) => writeFile(at, 'x')],
    ['acknowledged.d/x', (at) => writeFile(at, 'x')],
    ['damaged-9007199254740992/x', (at) => writeFile(at, 'x')],
    ['damaged-999999/x', (at) => writeFile(at, 'x')],
    ['kept-999999999-x/000001.log/x', (at) => writeFile(at, 'x')],
    ['kept-999999998-x/000001.log', async (at) => execFileSync('mkfifo', [at])],
    ['salvage/1/000001.log', async (at) => execFileSync('mkfifo', [at])],
    ['salvage/2', (at, to) => symlink(path.join(to, 'db'), at)],
  ]

  it.each(planted)('as %s keeps no rebuild from its work', async (name, plant) => {
    const store = await fresh()
    const other = await copyStore(ground, path.join(shared, `other-${copies++}`))
    await putElsewhere(other)
    const at = path.join(store.store, name)
    await mkdir(path.dirname(at), { recursive: true })
    await plant(at, other.store)
    await truncate(path.join(store.store, 'db', 'CURRENT'), 0)
    const rebuilt = await store.run('fsck', '--rebuild')
    expect({ exit: rebuilt.exit, out: rebuilt.out }).toMatchObject({ exit: 0 })
    expect(await viewOf(store)).toEqual(view)
    await ok(store.run('heads'))
  })

  it('in the place of the second lock file, or copied without its empty folders, opens', async () => {
    const store = await fresh()
    await ok(store.run('heads'))
    await rm(path.join(store.store, 'lock'))
    await mkdir(path.join(store.store, 'lock', 'x'), { recursive: true })
    await ok(store.run('heads'))
    const copy = await copyStore(store, path.join(shared, `copy-${copies++}`))
    await rm(path.join(copy.store, 'tmp'), { recursive: true })
    await ok(copy.run('heads', '--wait', '0'))
  })

  it('as a log that no memory can hold is damage', async () => {
    const store = await fresh()
    const log = path.join(store.store, 'db', '999999.log')
    await writeFile(log, 'x')
    await truncate(log, 3 * 1024 ** 3)
    const { exit, err } = await store.run('heads')
    expect({ exit, err }).toEqual({ exit: 5, err: expect.stringContaining('run hstore fsck') })
  })
})

async function putElsewhere(store: TestStore): Promise<void> {
  const document = { workspace: 'elsewhere', revision: 'R', author: agents.merger }
  const file = await writeEnvelope(path.join(store.root, 'elsewhere'), document)
  await ok(store.run('put', file))
}
